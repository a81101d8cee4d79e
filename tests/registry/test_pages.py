import json

import pytest

from headgate import Call, Gate, Policy, Registry, tokens
from headgate.events import CallEnded
from headgate.registry.pages import HELD_RESULTS
from headgate.testing import BadStore, lines

ITEMS = [{"id": number, "name": f"record {number}"} for number in range(1_000)]


class Counted:
    """A registry with one tool that says how often it ran."""

    def __init__(self):
        self.ran = 0
        self.tools = Registry()
        self.tools.tool(self.list_records)

    def list_records(self, kind: str = "all", most: int = 1_000) -> list[dict[str, object]]:
        self.ran += 1
        return ITEMS[:most]

    def call(self, run, gate, call_id="call_1", **arguments):
        [result] = run(self.tools, [Call(call_id, "list_records", arguments)], gate=gate)
        return result


def shown(result):
    page = json.loads(result.text)
    return page["page"], page["page_size"], [item["id"] for item in page["items"]]


@pytest.mark.proves("S7")
def test_a_page_comes_from_the_stored_result_and_not_from_running_again(run, state):
    records, gate = Counted(), Gate(state=state)

    records.call(run, gate, "call_1")
    third = records.call(run, gate, "call_2", page=3, pageSize=20)

    assert records.ran == 1
    assert shown(third) == (3, 20, list(range(40, 60)))
    assert json.loads(third.text)["total_pages"] == 50
    assert third.verdict.fate == "whole"


@pytest.mark.proves("S7")
def test_a_page_that_is_asked_for_first_runs_the_tool_once(run, state):
    records, gate = Counted(), Gate(state=state)

    second = records.call(run, gate, "call_1", page=2, pageSize=10)
    third = records.call(run, gate, "call_2", page=3, pageSize=10)

    assert records.ran == 1
    assert shown(second) == (2, 10, list(range(10, 20)))
    assert shown(third) == (3, 10, list(range(20, 30)))


@pytest.mark.proves("S7")
def test_several_pages_in_one_batch_run_the_tool_once(run, state):
    records, events = Counted(), []
    gate = Gate(state=state, hooks=[events.append])
    asked = [{}, {"page": 2, "pageSize": 10}, {"kind": "new"}, {"page": 3, "pageSize": 10}]

    results = run(
        records.tools,
        [Call(f"call_{n}", "list_records", arguments) for n, arguments in enumerate(asked)],
        gate=gate,
    )

    assert records.ran == 2
    assert shown(results[1]) == (2, 10, list(range(10, 20)))
    assert shown(results[3]) == (3, 10, list(range(20, 30)))
    ended = sorted(event.call_id for event in events if isinstance(event, CallEnded))
    assert ended == ["call_0", "call_1", "call_2", "call_3"]


@pytest.mark.proves("S7")
def test_a_page_beside_the_same_call_is_of_what_that_brings(run, state):
    tools, sizes = Registry(), [1_000, 2_000]

    @tools.tool
    def count() -> list[int]:
        return list(range(sizes.pop(0)))

    gate = Gate(state=state)
    run(tools, [Call("call_1", "count", {"page": 1})], gate=gate)
    calls = [Call("call_2", "count"), Call("call_3", "count", {"page": 1, "pageSize": 5})]
    results = run(tools, calls, gate=gate)

    assert json.loads(results[1].text)["total_items"] == 2_000


@pytest.mark.proves("S7")
def test_a_page_of_a_call_alone_keeps_to_the_limit_of_its_tool(run, state):
    tools = Registry()
    tools.tool(name="count", limit=tokens(300))(lambda: list(range(2_000)))
    gate = Gate(state=state)

    for number in (1, 2):
        asked = {"page": number, "pageSize": 1_000}
        [result] = run(tools, [Call(f"call_{number}", "count", asked)], gate=gate)

        assert result.verdict.after.tokens <= 296


@pytest.mark.proves("S7", "G2")
def test_several_pages_of_a_tool_that_fails_all_say_so(run):
    tools = Registry()

    @tools.tool
    def broken() -> str:
        raise ValueError("no")

    results = run(tools, [Call(f"call_{n}", "broken", {"page": n}) for n in (1, 2)])

    assert [(result.call_id, result.text, result.is_error) for result in results] == [
        ("call_1", "broken failed: ValueError: no", True),
        ("call_2", "broken failed: ValueError: no", True),
    ]


@pytest.mark.proves("S7")
def test_pages_are_found_after_a_restart(run, state):
    before, after = Counted(), Counted()
    before.call(run, Gate(state=state), "call_1")

    second = after.call(run, Gate(state=state), "call_2", page=2, pageSize=10)

    assert (before.ran, after.ran) == (1, 0)
    assert shown(second) == (2, 10, list(range(10, 20)))


@pytest.mark.proves("S7")
def test_a_result_that_went_in_whole_can_be_paged_too(run, state):
    records, gate = Counted(), Gate(state=state)

    whole = records.call(run, gate, "call_1", most=10)
    page = records.call(run, gate, "call_2", most=10, page=2, pageSize=4)

    assert whole.verdict.ref is None
    assert records.ran == 1
    assert shown(page) == (2, 4, [4, 5, 6, 7])


@pytest.mark.proves("S7")
def test_pages_are_of_the_last_result_of_the_same_call(run, state):
    records, gate = Counted(), Gate(state=state)
    records.call(run, gate, "call_1", kind="all")

    records.call(run, gate, "call_2", kind="new", page=2, pageSize=10)
    assert records.ran == 2

    records.call(run, gate, "call_3", kind="new", page=3, pageSize=10, max_tokens=2_000)
    assert records.ran == 2

    ITEMS.append({"id": 1_000, "name": "record 1000"})
    try:
        records.call(run, gate, "call_4", kind="new", most=2_000)
        last = records.call(run, gate, "call_5", kind="new", most=2_000, page=101, pageSize=10)
    finally:
        ITEMS.pop()
    assert shown(last) == (101, 10, [1_000])


@pytest.mark.proves("S7")
@pytest.mark.parametrize("sizes", [(10, 2_000), (2_000, 10), (2_000, 3_000)])
def test_the_last_result_is_paged_whether_it_was_kept_or_not(run, state, sizes):
    tools, left = Registry(), list(sizes)

    @tools.tool
    def count() -> list[str]:
        size = left.pop(0)
        return [f"number {number} of {size}" for number in range(size)]

    gate = Gate(state=state)
    run(tools, [Call("call_1", "count")], gate=gate)
    run(tools, [Call("call_2", "count")], gate=gate)
    [result] = run(tools, [Call("call_3", "count", {"page": 2, "pageSize": 5})], gate=gate)

    page = json.loads(result.text)
    assert (page["total_items"], page["items"][0]) == (sizes[1], f"number 5 of {sizes[1]}")


@pytest.mark.proves("S7")
def test_a_tool_that_pages_by_itself_gets_its_arguments(run, state):
    tools, seen = Registry(), []

    @tools.tool
    def search(query: str, page: int = 1) -> list[int]:
        seen.append(page)
        return list(range(5_000))

    gate = Gate(state=state)
    run(tools, [Call("call_1", "search", {"query": "x"})], gate=gate)
    run(tools, [Call("call_2", "search", {"query": "x", "page": 2})], gate=gate)

    assert seen == [1, 2]


@pytest.mark.proves("S7")
def test_a_tool_that_names_only_one_of_them_pages_by_itself(run):
    tools = Registry()

    @tools.tool
    def search(pageSize: int = 5) -> str:  # noqa: N803  # as the model writes it
        return f"{pageSize} of them"

    [result] = run(tools, [Call("call_1", "search", {"pageSize": 7})])

    assert result.text == "7 of them"


@pytest.mark.proves("S7")
@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ({"page": 0, "pageSize": 10}, (1, 10, list(range(10)))),
        ({"page": -3, "pageSize": 10}, (1, 10, list(range(10)))),
        ({"page": 1_000_000, "pageSize": 300}, (4, 300, list(range(900, 1_000)))),
        ({"page": "2", "pageSize": "10"}, (2, 10, list(range(10, 20)))),
        ({"page": 2.0, "pageSize": 10}, (2, 10, list(range(10, 20)))),
        ({"page": "second", "pageSize": 10}, (1, 10, list(range(10)))),
        ({"page": 2, "pageSize": 0}, (2, 50, list(range(50, 100)))),
        ({"page": 2, "pageSize": -1}, (2, 50, list(range(50, 100)))),
        ({"page": 2}, (2, 50, list(range(50, 100)))),
        ({"page": 2, "pageSize": True}, (2, 50, list(range(50, 100)))),
    ],
)
def test_bad_values_are_ignored_and_what_is_out_of_range_is_clamped(state, asked, page):
    records = Counted()
    wide = Gate(Policy(result=tokens(20_000)), state=state)

    [result] = records.tools.run_batch(wide, [Call("call_1", "list_records", asked)])

    assert shown(result) == page


@pytest.mark.proves("S7")
def test_the_last_page_promises_no_other(state):
    records, gate = Counted(), Gate(state=state)

    [last] = records.tools.run_batch(
        gate, [Call("call_1", "list_records", {"page": 50, "pageSize": 20})]
    )

    assert json.loads(last.text)["has_more"] is False
    assert "page=51" not in last.text


@pytest.mark.proves("S7")
def test_neither_page_nor_size_that_makes_sense_is_no_page(run, state):
    records, gate = Counted(), Gate(state=state)

    records.call(run, gate, "call_1")
    records.call(run, gate, "call_2", page="x", pageSize=None)

    assert records.ran == 2


@pytest.mark.proves("S7")
def test_the_names_of_the_arguments_are_the_policys(run, state):
    records = Counted()
    gate = Gate(Policy(page_arguments=("offset_page", "limit")), state=state)

    result = records.call(run, gate, "call_1", offset_page=2, limit=5)
    refused = records.call(run, gate, "call_2", page=2)

    assert shown(result) == (2, 5, [5, 6, 7, 8, 9])
    assert refused.text.startswith(
        "list_records was not run: Object contains unknown field `page`."
    )


@pytest.mark.proves("S7")
def test_a_page_fits_its_share_of_the_batch(run, state):
    records = Counted()
    gate = Gate(Policy(batch=tokens(1_000)), state=state)
    calls = [
        Call(f"call_{number}", "list_records", {"page": number, "pageSize": 500})
        for number in (1, 2)
    ]

    results = run(records.tools, calls, gate=gate)

    assert all(result.verdict.after.tokens <= 496 for result in results)


@pytest.mark.proves("S7")
def test_a_text_is_paged_by_its_lines(run, state):
    tools = Registry()

    @tools.tool
    def log() -> str:
        return lines(1_000)

    gate = Gate(state=state)
    [result] = run(tools, [Call("call_1", "log", {"page": 2, "pageSize": 3})], gate=gate)

    assert result.text.splitlines()[:3] == lines(1_000).splitlines()[3:6]
    assert "page 2 of 334" in result.text


@pytest.mark.proves("S7")
def test_a_failure_is_shown_as_it_is(run):
    tools = Registry()

    @tools.tool
    def broken() -> str:
        raise ValueError("no")

    [result] = run(tools, [Call("call_1", "broken", {"page": 2})])

    assert (result.text, result.is_error) == ("broken failed: ValueError: no", True)


@pytest.mark.proves("S7")
def test_an_argument_that_the_tool_names_makes_another_call_of_it(run, state):
    tools, seen = Registry(), []

    @tools.tool
    def ask(prompt: str, max_tokens: int) -> str:
        seen.append(max_tokens)
        return lines(max_tokens)

    gate = Gate(state=state)
    for number, most in enumerate((400, 500)):
        arguments = {"prompt": "x", "max_tokens": most, "page": 2}
        run(tools, [Call(f"call_{number}", "ask", arguments)], gate=gate)

    assert seen == [400, 500]


@pytest.mark.proves("S7")
def test_there_are_no_pages_of_a_failure(run, state):
    tools, outcomes = Registry(), [ValueError("no"), ITEMS]

    @tools.tool
    def flaky() -> list[dict[str, object]]:
        outcome = outcomes.pop(0)
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    gate = Gate(state=state)
    run(tools, [Call("call_1", "flaky")], gate=gate)
    [result] = run(tools, [Call("call_2", "flaky", {"page": 2, "pageSize": 3})], gate=gate)

    assert shown(result) == (2, 3, [3, 4, 5])


@pytest.mark.proves("S7")
def test_without_a_store_the_tool_runs_and_its_result_is_shown_as_any_other(run, state):
    records = Counted()
    gate = Gate(Policy(spill=False), state=state)

    usual = records.call(run, gate, "call_1")
    paged = records.call(run, gate, "call_2", page=2, pageSize=5)

    assert records.ran == 2
    assert paged.text == usual.text


@pytest.mark.proves("S7")
def test_where_the_store_fails_pages_come_from_memory(run, state):
    records = Counted()
    gate = Gate(store=BadStore(), state=state)

    second = records.call(run, gate, "call_1", page=2, pageSize=5)
    third = records.call(run, gate, "call_2", page=3, pageSize=5)

    assert (records.ran, shown(second)[2], shown(third)[2]) == (
        1,
        [5, 6, 7, 8, 9],
        [10, 11, 12, 13, 14],
    )


@pytest.mark.proves("S7")
def test_what_is_gone_from_the_store_is_fetched_again(run, state):
    before, after = Counted(), Counted()
    gone = Gate(store=BadStore(1 << 30), state=state)
    before.call(run, gone, "call_1", page=2, pageSize=5)

    second = after.call(run, Gate(state=state), "call_2", page=2, pageSize=5)

    assert after.ran == 1
    assert shown(second) == (2, 5, [5, 6, 7, 8, 9])


def test_results_that_went_in_whole_are_held_within_bounds(state):
    records, gate = Counted(), Gate(state=state)
    for most in range(1, HELD_RESULTS + 2):
        records.tools.run_batch(gate, [Call(f"call_{most}", "list_records", {"most": most % 9})])

    pages = records.tools._pages_of(gate)

    assert len(pages._last) == HELD_RESULTS


@pytest.mark.proves("S7")
def test_pages_can_be_asked_for_from_code(state):
    records, gate = Counted(), Gate(state=state)
    [result] = records.tools.run_batch(gate, [Call("call_1", "list_records")])

    page = json.loads(records.tools.page(gate, result.verdict.ref, 4, 5))

    assert (page["page"], [item["id"] for item in page["items"]]) == (4, [15, 16, 17, 18, 19])
