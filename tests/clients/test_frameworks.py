"""The recipes of `docs/frameworks.md`, run with the frameworks they are for."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headgate import Gate
from headgate.measure.meters import meter_for
from headgate.testing import Call, Provider, Think, lines
from tests.clients.programs import LONGEST_S, clean
from tests.clients.task import asked, results_in, unstable

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "frameworks"
CLIENTS = Path(os.environ.get("HEADGATE_CLIENTS", ""))
METER = meter_for("o200k", "tokens")

LOGS = {host: lines(3_000, n1500=f"ERROR: disk 7 of {host} is full") for host in ("a", "b")}

ASYNC = """
import asyncio, os
from with_langchain import QUESTION, agent_at
asked = {"messages": [{"role": "user", "content": QUESTION}]}
asyncio.run(agent_at(os.environ["OPENAI_BASE_URL"]).ainvoke(asked))
"""

HELD = """
import asyncio, os
from with_openai_agents import ask
asyncio.run(ask(os.environ["OPENAI_BASE_URL"], held=True))
"""


@dataclass(frozen=True)
class Recipe:
    """One recipe: where its framework is installed, and how it is run there."""

    environment: str
    words: tuple[str, ...]
    server: str = ""
    """What stands before the name of its own tool."""
    reader: str = "read_result"
    sees_batches: bool = True
    variable: str = "OPENAI_BASE_URL"


RECIPES = {
    "pydantic_ai": Recipe("pydantic_ai", ("with_pydantic_ai.py",)),
    "langchain": Recipe("langchain", ("with_langchain.py",)),
    "langchain-async": Recipe("langchain", ("-c", ASYNC)),
    "langgraph": Recipe("langchain", ("with_langgraph.py",)),
    "openai_agents": Recipe("openai_agents", ("with_openai_agents.py",)),
    "claude_agent_sdk": Recipe(
        "claude_agent_sdk",
        ("with_claude_agent_sdk.py",),
        server="mcp__hosts__",
        reader="mcp__headgate__read_result",
        sees_batches=False,
        variable="ANTHROPIC_BASE_URL",
    ),
}


@dataclass(frozen=True)
class Ran:
    """What came of one run."""

    recipe: Recipe
    requests: list
    state: Path
    refs: dict[str, str] = field(default_factory=dict)
    """By host: the ref that the marker of its log names."""


def start(recipe, home, **environ):
    """Run a recipe to its end, with a state folder whose key made the refs on the page."""
    state = home / "state"
    state.mkdir(mode=0o700)
    (state / "key").touch(mode=0o600)
    (state / "key").write_bytes(bytes(32))
    python = str(CLIENTS / recipe.environment / "bin" / "python")
    ran = subprocess.run(
        [python, *recipe.words],
        cwd=EXAMPLES,
        env={**clean(home), "HEADGATE_STATE_DIR": str(state), "PYTHONPATH": ".", **environ},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    return ran.stdout, state


def refs_in(texts):
    return {
        host: re.search(r"r_[a-z2-7]{12}", text)[0]
        for host in LOGS
        for text in texts
        if f"disk 7 of {host} is full" in text
    }


@pytest.fixture(scope="module", params=sorted(RECIPES))
def ran(request, tmp_path_factory):
    """One run of a recipe: two logs at once, then lines of each that were not shown."""
    recipe = RECIPES[request.param]

    def answer(request):
        shown = results_in(request)
        if not request.json.get("tools"):
            return "A title."
        if not shown:
            logs = [Call(f"{recipe.server}host_log", {"host": host}) for host in LOGS]
            return [Think("Let me see."), *logs]
        if len(shown) == 2:
            refs = refs_in(shown)
            return [
                Think("Let me see more."),
                Call(recipe.reader, {"ref": refs["a"], "lines": "701-703"}),
                Call(recipe.reader, {"ref": refs["b"], "lines": "2001-2003"}),
            ]
        return "Done."

    with Provider(answer=answer) as provider:
        is_openai = recipe.variable.startswith("OPENAI")
        url = provider.openai_url if is_openai else provider.url
        _, state = start(recipe, tmp_path_factory.mktemp("home"), **{recipe.variable: url})
    requests = asked(provider)
    return Ran(recipe, requests, state, refs_in(results_in(requests[1])))


def test_every_request_is_accepted_and_offers_the_reader(ran):
    assert [(request.status, request.error) for request in ran.requests] == [(200, "")] * 3
    for request in ran.requests:
        assert f'"{ran.recipe.reader}"' in request.body.decode()


def test_the_model_gets_both_logs_within_their_limits(ran):
    shown = results_in(ran.requests[1])
    sizes = [METER.count(text) for text in shown]
    assert max(sizes) <= 220
    if ran.recipe.sees_batches:
        assert sum(sizes) <= 400


def test_each_log_has_its_marker_and_keeps_the_line_that_matters(ran):
    shown = results_in(ran.requests[1])
    assert sorted(ran.refs) == ["a", "b"]
    assert all(f'{ran.recipe.reader}(ref="' in text for text in shown)


def test_what_was_left_out_is_read_back_byte_for_byte(ran):
    parts = [text.rsplit("\n", 1) for text in results_in(ran.requests[2])[2:]]
    told = {host: log.splitlines() for host, log in LOGS.items()}
    wanted = ["\n".join(told["a"][700:703]), "\n".join(told["b"][2000:2003])]
    assert sorted(part for part, _ in parts) == sorted(wanted)
    assert all(end.startswith("[lines ") and end.endswith("]") for _, end in parts)

    gate = Gate(session="frameworks", state=ran.state)
    originals = {host: gate.original(ref) for host, ref in ran.refs.items()}
    assert originals == {host: log.encode() for host, log in LOGS.items()}


def test_what_was_sent_once_is_sent_again_to_the_byte(ran):
    assert unstable(ran.requests) == []


def test_where_the_provider_holds_the_history_new_results_are_bounded_and_none_is_lost(tmp_path):
    def answer(request):
        shown = results_in(request)
        return "Done." if shown else [Call("host_log", {"host": host}) for host in LOGS]

    with Provider(answer=answer) as provider:
        start(Recipe("openai_agents", ("-c", HELD)), tmp_path, OPENAI_BASE_URL=provider.openai_url)

    first, second = asked(provider)
    assert (first.status, second.status) == (200, 200)
    assert second.json["previous_response_id"]
    shown = results_in(second)
    assert sorted(refs_in(shown)) == ["a", "b"]
    assert sum(METER.count(text) for text in shown) <= 400


@pytest.mark.parametrize("name", sorted(set(RECIPES) - {"langchain-async"}))
def test_by_itself_a_recipe_prints_what_the_page_shows(name, tmp_path):
    page = (ROOT / "docs" / "frameworks.md").read_text()
    printed, _ = start(RECIPES[name], tmp_path)

    blocks = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    # Claude Code sends parallel results in the order in which they were done.
    shown = [sorted(block.strip("\n").split("\n\n")) for block in blocks]
    assert sorted(printed.strip("\n").split("\n\n")) in shown
