"""P25: whatever was decided, `headgate explain` says the rule, the numbers, and the bytes."""

import json

import pytest

from headgate import Gate, Policy, ToolResult, ToolRule, tokens
from headgate.ageing import Ageing
from headgate.cli import main
from headgate.history.mending import INTERRUPTED
from headgate.retention import Retention
from headgate.spill.compress import compress
from headgate.spill.house import House
from headgate.testing import BadStore, lines
from tests.histories import DIALECTS, body, calls, user

LOG = lines(3_000, n1500="ERROR: disk 7 is full")
SMALL = Policy(result=tokens(300), batch=tokens(900), error=tokens(250))


@pytest.fixture
def explained(state, capfdbinary):
    """What the program says of a call or a ref, as objects and as a page."""

    def told(name: str) -> tuple[list[dict], str]:
        capfdbinary.readouterr()
        assert main(["explain", name, "--json"]) == 0
        records = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
        assert main(["explain", name]) == 0
        return records, capfdbinary.readouterr().out.decode()

    return told


def admitted(state, policy: Policy, *results: ToolResult, **options) -> list[ToolResult]:
    return Gate(policy, state=state, **options).admit(list(results))


def of(content: object, *, call_id: str = "c1", tool: str = "bash", **more) -> ToolResult:
    return ToolResult.of(tool, content, call_id=call_id, **more)


@pytest.mark.proves("P25", "C-explain", "R6")
@pytest.mark.parametrize(
    ("policy", "result", "rule", "reason"),
    [
        (SMALL, of("fine"), "at most 300 tokens: the policy's default", "fits"),
        (SMALL, of(""), "at most 300 tokens: the policy's default", "empty"),
        (
            SMALL,
            of("a\x1b[31mb"),
            "at most 300 tokens: the policy's default",
            "fits; made readable",
        ),
        (SMALL, of(LOG), "at most 300 tokens: the policy's default", " tokens, 300 allowed; "),
        (SMALL, of(LOG, is_error=True), "at most 250 tokens: ", " tokens, 250 allowed; "),
        (
            SMALL,
            of(LOG, arguments={"max_tokens": 200}),
            "at most 200 tokens: ",
            " tokens, 200 allowed; ",
        ),
        (SMALL, of(LOG, declared=tokens(150)), "at most 150 tokens: ", " tokens, 150 allowed; "),
        (
            SMALL.replace(tools={"cat": ToolRule(exempt=True)}),
            of("much text " * 500, tool="cat"),
            "no limit: ",
            "fits",
        ),
    ],
    ids=["fits", "empty", "readable", "default", "error", "asked", "declared", "exempt"],
)
def test_every_rule_of_the_chain_is_told(state, explained, policy, result, rule, reason):
    [shown] = admitted(state, policy, result)

    [record], page = explained("c1")

    assert f"\nrule     {rule}" in page
    assert reason in record["reason"]
    assert record["limit_by"] == shown.verdict.limit_by
    assert record["before"]["tokens"] == shown.verdict.before.tokens
    assert record["text"] in (None, shown.text)


@pytest.mark.proves("P25", "C-explain")
def test_an_override_and_a_share_of_the_batch_are_told(state, explained):
    overrides = {"tools": {"grep": 200}}
    batch = [of(LOG, call_id=f"c{i}") for i in range(5)] + [of(LOG, call_id="g", tool="grep")]
    admitted(state, SMALL, *batch, overrides=lambda: overrides)

    assert "at most 200 tokens: the operator's override" in explained("g")[1] or (
        "its share of the batch; the operator's override" in explained("g")[1]
    )
    assert "its share of the batch" in explained("c1")[1]


@pytest.mark.proves("P25", "C-explain", "K5")
def test_what_the_store_could_not_keep_is_told(state, explained):
    admitted(state, SMALL, of(LOG), store=BadStore(0))

    [record], page = explained("c1")

    assert record["fate"] == "shaped"
    assert record["original"] == {
        "kept": False,
        "why_not": "the store could not keep it; it was in memory while that process ran",
    }
    assert "\noriginal the store could not keep it" in page


@pytest.mark.proves("P25", "C-explain", "K4")
def test_what_was_kept_in_part_is_told_with_both_numbers(state, explained):
    retention = Retention(result_bytes=5_000, free_bytes=None)
    [shown] = admitted(state, SMALL.replace(retention=retention), of(LOG))

    [record], page = explained(shown.verdict.ref)

    assert record["original"]["bytes"] == 5_000
    assert record["original"]["full_bytes"] == len(LOG)
    assert f", the first 5,000 bytes of {len(LOG):,}, " in page
    assert "kept up to byte 5,000, nothing after it" in record["text"]


@pytest.mark.proves("P25", "C-explain", "K4")
def test_what_was_removed_is_told_with_when_and_why(state, explained):
    retention = Retention(session_count=1, free_bytes=None)
    first, _ = admitted(
        state, SMALL.replace(retention=retention), of(LOG), of(LOG.upper(), call_id="c2")
    )

    [record], page = explained("c1")

    assert record["original"]["kept"] is False
    assert "removed 20" in record["original"]["why_not"]
    assert "because its session had more than is kept of one session" in page
    assert record["text"] == first.text


@pytest.mark.proves("P25", "C-explain", "K10")
def test_what_was_compressed_is_there_without_a_plain_file(state, explained):
    [shown] = admitted(state, SMALL, of(LOG * 2))
    never = Retention(live_s=0, free_bytes=None)
    assert len(list(compress(House(state), never))) == 1

    [record], page = explained(shown.verdict.ref)

    assert record["original"] == {
        "kept": True,
        "bytes": 2 * len(LOG),
        "full_bytes": 2 * len(LOG),
        "file": None,
    }
    assert ", no plain file\n" in page


@pytest.mark.proves("P25", "C-explain")
def test_reading_back_is_told(state, explained):
    gate = Gate(SMALL, state=state)
    [shown] = gate.admit([of(LOG)])
    gate.read(shown.verdict.ref, {"lines": "1-3"})

    [record], page = explained("c1")

    assert (record["reads"], record["read_tokens"] > 0) == (1, True)
    assert "\nread     back once, " in page


def history(*contents: str) -> bytes:
    """A history of calls with these results."""
    messages: list[dict] = [{"role": "user", "content": "go"}]
    for i, content in enumerate(contents):
        use = {"type": "tool_use", "id": f"t{i}", "name": "bash", "input": {"n": i}}
        messages.append({"role": "assistant", "content": [use]})
        answer = {"type": "tool_result", "tool_use_id": f"t{i}", "content": content}
        messages.append({"role": "user", "content": [answer]})
    return json.dumps({"messages": [*messages, {"role": "user", "content": "go on"}]}).encode()


@pytest.mark.proves("P25", "C-explain", "H13")
def test_a_result_that_stands_for_an_earlier_one_is_told(state, explained):
    text = "".join(f"{i} the very same line of text\n" for i in range(40))
    Gate(Policy(), state=state).prepare(history(text, text), dialect="anthropic")

    [record], page = explained("t1")

    assert record["base"] == "t0"
    assert "\nstands   for the result of 't0'\n" in page


@pytest.mark.proves("P25", "C-explain", "H1")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_that_repair_made_up_is_told(state, dialect, explained):
    broken = user(dialect, "x") + calls(dialect, ("t1", "grep", {})) + user(dialect, "and?")
    Gate(Policy(), state=state).prepare(body(dialect, broken), dialect=dialect)

    [record], page = explained("t1")

    assert record["made"] is True
    assert "\nmade     by repair: the call had no result in the history" in page
    assert INTERRUPTED in record["text"]
    assert " characters, 1 line (tokens in o200k)\n" in page
    assert page.rstrip("\n").endswith(f"\nshown\n{record['text']}")


@pytest.mark.proves("P25", "C-explain", "H9")
def test_a_result_that_moved_down_is_told_with_why(state, explained):
    ageing = Ageing(turns=(1, 2), keep_last=0, weigh=False, spared=())
    gate = Gate(Policy(ageing=ageing), state=state)
    body = history(*(LOG[i:] for i in range(4)))
    said = json.loads(body)
    for _ in range(3):
        said["messages"] += [
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": "go on"},
        ]
    gate.prepare(json.dumps(said).encode(), dialect="anthropic", window_tokens=200_000)

    records, page = explained("t0")

    assert [record["epoch"] is not None for record in records] == [False, True]
    assert records[1]["fate"] == "cleared"
    assert "\nmoved    down, because " in page


@pytest.mark.proves("P25", "C-explain")
def test_an_original_that_was_kept_without_a_decision_is_told(state, explained):
    gate = Gate(SMALL, state=state)
    ref = gate.keep(of(LOG, call_id="late"))

    [record], page = explained(ref)

    assert (record["call_id"], record["ref"]) == ("late", ref)
    assert record["reason"].startswith("kept without a decision: ")
    assert f"\noriginal {ref}, {len(LOG):,} bytes, " in page


@pytest.mark.proves("R16", "C-explain")
def test_what_people_see_of_it_is_shown_on_demand(state, capfdbinary):
    [shown] = admitted(state, Policy(), of(LOG))
    file = Gate(state=state).store.about(shown.verdict.ref).file
    capfdbinary.readouterr()

    assert main(["explain", "c1", "--view"]) == 0
    told = capfdbinary.readouterr().out.decode().partition("\nshown\n")[2].splitlines()

    assert len(shown.text.splitlines()) > 100
    assert len(told) == 32
    assert told[-1] == f"(3,000 lines; the whole is in {file})"
    assert main(["explain", "c1", "--view", "--json"]) == 2
