"""An agent whose tools fail, dawdle and hang, and whose turns are cancelled and killed.

Run by `test_loop.py` as `python -m tests.promises.looping FOLDER ROUNDS`: this process forks the
agents that die, looks at what each left behind, and prints one JSON object.
"""

import asyncio
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from headgate import Context, Gate, Policy, Registry, tokens
from headgate.agent import Agent, Conversation, Turn
from headgate.agent.turn import Listener
from headgate.check import check
from headgate.testing import Call, ScriptedClient, lines, result
from tests.agent.talking import answers, called, model_of

DIALECTS = ("anthropic", "openai-chat", "openai-responses")
POLICY = Policy(result=tokens(300), batch=tokens(2_000))
TURNS = 12
"""Of one conversation, before another begins."""

MOST_CALLS = 20
DAWDLE_S = 0.02
STUBBORN_S = 0.08
"""How long the tool goes on that does not listen, its time being a quarter of that."""


def tools() -> Registry:
    """Everything a tool can do to who calls it."""
    registry = Registry(timeout_s=5.0, grace_s=0.01)

    @registry.tool
    def quick(text: str) -> str:
        """Answer at once."""
        return text

    @registry.tool
    def big(count: int) -> str:
        """Answer with a lot."""
        return lines(count)

    @registry.tool
    def fail(text: str) -> str:
        """Raise."""
        raise ValueError(f"no {text}")

    @registry.tool
    def dawdle(seconds: float, context: Context) -> str:
        """Answer after a while, or when nobody waits."""
        context.progress("on it")
        return "stopped" if context.wait(seconds) else "waited"

    @registry.tool(timeout_s=STUBBORN_S / 4)
    def stubborn() -> str:
        """Outlive its time."""
        time.sleep(STUBBORN_S)
        return "late"

    @registry.tool
    async def dawdle_async(seconds: float) -> str:
        """Answer after a while."""
        await asyncio.sleep(seconds)
        return "waited"

    @registry.tool(timeout_s=DAWDLE_S)
    async def hang_async() -> str:
        """Never answer."""
        await asyncio.Event().wait()
        return "never"

    @registry.tool
    async def fail_async() -> str:
        """Raise."""
        raise OSError("broken pipe")

    return registry


def call_of(draw: random.Random) -> Call:
    """Any call, of tools that do not exist and with arguments that do not fit too."""
    return draw.choice(
        [
            Call("quick", {"text": f"{draw.random()}"}),
            Call("quick", {"text": f"{draw.random()}"}),
            Call("big", {"count": draw.randrange(200)}),
            Call("fail", {"text": f"{draw.random()}"}),
            Call("dawdle", {"seconds": draw.uniform(0, DAWDLE_S)}),
            Call("dawdle_async", {"seconds": draw.uniform(0, DAWDLE_S)}),
            Call("stubborn"),
            Call("hang_async"),
            Call("fail_async"),
            Call("nobody", {"x": 1}),
            Call("quick", {"wrong": draw.random()}),
        ]
    )


def batch_of(draw: random.Random) -> list[Call]:
    return [call_of(draw) for _ in range(draw.randint(1, MOST_CALLS))]


def wrong_with(conversation: Conversation, dialect: str) -> list[str]:
    """What is not as it was promised: a rule that is broken, a call without its one answer."""
    messages = conversation.messages
    if not messages:
        return []
    wrong = [str(violation) for violation in check(json.dumps(messages).encode(), dialect)]
    asked, answered = (
        Counter(called(messages, dialect)),
        Counter(call_id for call_id, _ in answers(messages, dialect)),
    )
    if asked != answered:
        wrong.append(f"asked but not answered once: {asked - answered} {answered - asked}")
    return wrong


def turn_of(
    agent: Agent, draw: random.Random, *, is_cancelled: bool, listen: Listener | None = None
) -> Turn:
    """One turn, perhaps cancelled somewhere in it."""
    if not is_cancelled:
        return agent.run("Go.", listen=listen)
    timer = threading.Timer(draw.uniform(0, 2 * DAWDLE_S), agent.cancel)
    timer.daemon = True
    timer.start()
    try:
        return agent.run("Go.", listen=listen)
    finally:
        timer.cancel()
        timer.join()


def mortal(state: Path, number: int, said: int) -> None:
    """One turn of a kept conversation, in a process that may be killed at any moment."""
    draw = random.Random(f"turn {number}")
    dialect = DIALECTS[number // TURNS % 3]
    gate = Gate(POLICY, state=state, session=f"s{number // TURNS}")
    client = ScriptedClient(batch_of(draw), batch_of(draw), "Done.", seed=f"{number}")
    conversation = Conversation.kept(gate)
    with Agent(model_of(dialect, client), tools(), gate, conversation=conversation) as agent:
        turn_of(
            agent, draw, is_cancelled=draw.random() < 0.3, listen=lambda e: os.write(said, b".")
        )


def warm(state: Path) -> None:
    """Load here what every agent would load again: vocabularies, shapers, dialects."""
    gate = Gate(POLICY, state=state, session="warm")
    gate.admit([result("bash", lines(200))])
    gate.admit([result("api", [{"a": n} for n in range(500)])])
    for dialect in DIALECTS:
        model = model_of(dialect, ScriptedClient())
        body = model.body([model.user("Go.")], tools().definitions(dialect))
        gate.prepare(json.dumps(body).encode(), dialect=dialect, model=model.name)
        ScriptedClient().messages.create(
            model="claude-opus-5-5", max_tokens=9, stream=True, messages=[model.user("Go.")]
        )


def storm(state: Path, rounds: int) -> dict[str, object]:
    """Kill most of the agents somewhere in their turn, and look at what each one left."""
    killed, wrong = 0, []
    draw = random.Random("kills")
    warm(state)
    for number in range(rounds):
        heard, said = os.pipe()
        child = os.fork()
        if not child:
            code = 1
            try:
                mortal(state, number, said)
                code = 0
            finally:
                os._exit(code)
        os.close(said)
        if draw.random() < 0.9:
            # After so many events, none too, so that a slow machine gets as far.
            for _ in range(draw.randrange(9)):
                os.read(heard, 1)
            time.sleep(draw.uniform(0, DAWDLE_S))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(heard)
        killed += os.WIFSIGNALED(status)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            wrong.append(f"round {number} ended with {os.WEXITSTATUS(status)}")
        dialect = DIALECTS[number // TURNS % 3]
        gate = Gate(POLICY, state=state, session=f"s{number // TURNS}")
        conversation = Conversation.kept(gate)
        conversation.mend(gate, dialect)
        wrong += [f"round {number}: {what}" for what in wrong_with(conversation, dialect)]
    return {"rounds": rounds, "killed": killed, "wrong": wrong[:9]}


if __name__ == "__main__":
    print(json.dumps(storm(Path(sys.argv[1]), int(sys.argv[2]))))
