"""What the examples share: a model from the environment, and a turn shown on the terminal.

    ANTHROPIC_API_KEY=...                     asks Anthropic
    OPENAI_API_KEY=...                        asks OpenAI, through Responses
    OPENAI_API_KEY=... OPENAI_BASE_URL=...    asks any server that speaks Chat Completions

MODEL names the model.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.agent import (
    Agent,
    Answered,
    AnthropicModel,
    Called,
    Model,
    OpenAIChatModel,
    OpenAIResponsesModel,
    Overflowed,
    Said,
    Turn,
)
from headgate.events import GuardTripped, Progress


@contextmanager
def model(system: str) -> Iterator[Model]:
    """The model that the environment has a key for."""
    name = os.environ.get("MODEL")
    if os.environ.get("ANTHROPIC_API_KEY"):
        import anthropic

        with anthropic.Anthropic() as client:
            yield AnthropicModel(client, name or "claude-opus-5-5", system=system)
    elif os.environ.get("OPENAI_API_KEY"):
        import openai

        speaks_chat = bool(os.environ.get("OPENAI_BASE_URL"))
        made = OpenAIChatModel if speaks_chat else OpenAIResponsesModel
        with openai.OpenAI() as client:
            yield made(client, name or "gpt-5.5", system=system)
    else:
        raise SystemExit("set ANTHROPIC_API_KEY or OPENAI_API_KEY")


def show(agent: Agent, question: str) -> Turn:
    """Run one turn: what the model says goes to stdout, what it does to stderr."""
    turn = Turn()
    for event in agent.stream(question):
        if isinstance(event, Said):
            print(printable(event.text), end="", flush=True)
        elif isinstance(event, Called):
            for call in event.calls:
                note(f"{call.tool} {call.arguments}")
        elif isinstance(event, Progress):
            note(f"  {event.tool}: {event.message}")
        elif isinstance(event, Answered):
            for verdict in (result.verdict for result in event.results if result.verdict):
                note(f"  {verdict.before.tokens:,} tokens, {verdict.after.tokens:,} shown")
        elif isinstance(event, GuardTripped | Overflowed):
            note(str(event))
        elif isinstance(event, Turn):
            turn = event
    print()
    used = turn.usage
    note(f"{turn.requests} requests, {turn.calls} calls, {used.prompt:,} tokens sent")
    note(f"{used.cache_read_tokens:,} of them cached; the turn ended with: {turn.reason}")
    return turn


def note(text: str) -> None:
    """A line for the person who watches."""
    print(printable(text)[:200], file=sys.stderr)


def printable(text: str) -> str:
    """A text without anything that a terminal obeys."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
