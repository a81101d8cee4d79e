import json

import pytest

from headgate import Gate
from headgate.mcp.listing import KnownTool, Taken, known_tool
from headgate.mcp.result import McpCall
from headgate.mcp.toolgate import ToolGate, reading_with, text_result
from headgate.shape.pages import Page
from headgate.testing import lines

TOOL = KnownTool("list_records", b"", Taken(frozenset({"table"})))
ROWS = [{"id": i} for i in range(1_000)]


def asking(tool_gate, tool=TOOL, **arguments):
    return tool_gate.asked(tool, arguments)


def calling(number=0, **arguments):
    return McpCall(f"c{number}", "list_records", arguments)


def text_of(raw):
    return json.loads(raw)["content"][0]["text"]


def test_a_marker_names_the_tool_as_it_is_offered(gate, wire):
    renamed = Gate(reading_with(gate.policy, "fetch_rest"), state=gate.store.state, session="other")
    shown = ToolGate(renamed).admit(McpCall("c", "grep"), wire(lines(2_000)))
    assert "; fetch_rest(ref=" in text_of(shown)


@pytest.mark.proves("K6")
def test_what_was_left_out_is_read_back(tool_gate, wire):
    tool_gate.admit(McpCall("c", "grep"), wire(lines(2_000)))

    read = text_of(tool_gate.read("d", {"tool": "grep", "lines": "1500-1501"}))

    assert read.startswith("10:00:00 INFO worker 1500 is fine\n10:00:01 INFO worker 1501 is fine\n")


def test_a_ref_that_is_not_there_is_told_as_an_error(tool_gate):
    answered = json.loads(tool_gate.read("d", {"ref": "r_aaaaaaaaaaaa"}))

    assert answered["isError"] is True
    assert "no result 'r_aaaaaaaaaaaa'" in answered["content"][0]["text"]


def test_where_several_clients_ask_nobody_gets_the_last_result_of_another(gate, wire):
    shared = ToolGate(gate, knows_caller=False)
    shown = json.loads(shared.admit(McpCall("c", "grep"), wire(lines(2_000))))

    assert "several clients ask" in text_of(shared.read("d", {"tool": "grep"}))
    ref = shown["_meta"]["headgate/verdict"]["ref"]
    assert "worker 1 is fine" in text_of(shared.read("e", {"ref": ref}))


@pytest.mark.proves("S7")
@pytest.mark.parametrize(
    ("arguments", "own", "page"),
    [
        ({"table": "a", "page": 2, "pageSize": 20}, {"table": "a"}, Page(2, 20)),
        ({"pageSize": 5}, {}, Page(1, 5)),
        ({"page": "3"}, {}, Page(3, None)),
        ({"page": -7}, {}, Page(1, None)),
        ({"page": "many"}, {}, None),
        ({"table": "a", "other": 1}, {"table": "a", "other": 1}, None),
        ({"table": "a", "max_tokens": 500}, {"table": "a"}, None),
    ],
)
def test_what_speaks_to_the_gate_is_told_from_what_is_the_tools(tool_gate, arguments, own, page):
    asked = asking(tool_gate, **arguments)
    assert (asked.own, asked.page) == (own, page)


@pytest.mark.proves("S7")
@pytest.mark.parametrize("own", ["page", "pageSize"])
def test_a_tool_that_pages_by_itself_is_left_to_it(tool_gate, own):
    tool = KnownTool("t", b"", Taken(frozenset({own})))
    asked = asking(tool_gate, tool, **{own: 2})
    assert (asked.own, asked.page) == ({own: 2}, None)


def test_a_tool_that_takes_any_argument_gets_them(tool_gate):
    tool = KnownTool("t", b"", Taken(frozenset(), is_open=True))
    assert asking(tool_gate, tool, max_tokens=5, q=1).own == {"max_tokens": 5, "q": 1}


@pytest.mark.proves("R5")
def test_a_call_may_ask_for_its_own_limit(tool_gate, gate, wire):
    shown = tool_gate.admit(
        calling(max_tokens=150), wire(lines(2_000)), asking(tool_gate, max_tokens=150)
    )
    assert gate.meter.count(text_of(shown)) <= 150


@pytest.mark.proves("S7")
def test_pages_come_from_the_stored_result_not_from_running_the_tool_again(tool_gate, wire):
    second = asking(tool_gate, table="a", page=2, pageSize=20)
    assert tool_gate.page(calling(table="a", page=2, pageSize=20), second) is None

    tool_gate.admit(calling(table="a"), wire(json.dumps(ROWS)), asking(tool_gate, table="a"))

    page = json.loads(text_of(tool_gate.page(calling(table="a", page=2, pageSize=20), second)))
    assert page["items"] == ROWS[20:40]
    assert (page["page"], page["total_pages"], page["has_more"]) == (2, 50, True)
    beyond = asking(tool_gate, table="a", page=99, pageSize=20)
    last = json.loads(text_of(tool_gate.page(calling(table="a", page=99, pageSize=20), beyond)))
    assert (last["page"], last["items"][-1], last["has_more"]) == (50, {"id": 999}, False)
    other = asking(tool_gate, table="b", page=2)
    assert tool_gate.page(calling(table="b", page=2), other) is None


@pytest.mark.proves("S7")
def test_pages_outlive_the_process(tool_gate, gate, wire):
    tool_gate.admit(calling(), wire(json.dumps(ROWS)), asking(tool_gate))

    again = ToolGate(Gate(gate.policy, state=gate.store.state, session="mcp"))

    page = again.page(calling(page=2, pageSize=3), asking(again, page=2, pageSize=3))
    assert json.loads(text_of(page))["items"] == ROWS[3:6]


@pytest.mark.proves("S7")
def test_a_first_call_may_ask_for_a_page_at_once(tool_gate, wire):
    asked = asking(tool_gate, page=3, pageSize=10)
    shown = tool_gate.admit(calling(page=3, pageSize=10), wire(json.dumps(ROWS[:30])), asked)
    assert json.loads(text_of(shown))["items"] == ROWS[20:30]


@pytest.mark.proves("S7")
def test_a_result_that_went_in_whole_can_be_paged_too(tool_gate, wire):
    raw = wire(json.dumps(ROWS[:9]))
    assert tool_gate.admit(calling(), raw, asking(tool_gate)) is raw

    page = tool_gate.page(calling(page=2, pageSize=4), asking(tool_gate, page=2, pageSize=4))
    assert json.loads(text_of(page))["items"] == ROWS[4:8]


LISTED = {
    "type": "object",
    "properties": {"result": {"type": "array", "items": {"type": "object"}}},
    "required": ["result"],
}


@pytest.mark.parametrize("count", [5, 1_000])
def test_a_page_of_a_structured_result_satisfies_its_schema(tool_gate, wire, count):
    tool = known_tool("list_records", b"", {}, LISTED)
    rows = ROWS[:count]
    raw = wire(json.dumps(rows), structuredContent={"result": rows})
    tool_gate.admit(McpCall("c", "list_records", {}, tool.form), raw, asking(tool_gate, tool))

    call = McpCall("d", "list_records", {"page": 2, "pageSize": 2}, tool.form)
    page = tool_gate.page(call, asking(tool_gate, tool, page=2, pageSize=2))

    shown = json.loads(page)["structuredContent"]
    assert shown["result"] == rows[2:4]
    assert "the same call with page=3, pageSize=2 shows the next" in shown["_omitted"]


def test_without_its_structured_result_a_tool_that_declares_one_runs_again(gate, wire):
    tool = known_tool("list_records", b"", {}, LISTED)
    first, restarted = ToolGate(gate), ToolGate(gate)
    raw = wire(json.dumps(ROWS), structuredContent={"result": ROWS})
    first.admit(McpCall("c", "list_records", {}, tool.form), raw, asking(first, tool))

    call = McpCall("d", "list_records", {"page": 2}, tool.form)
    assert first.page(call, asking(first, tool, page=2)) is not None
    assert restarted.page(call, asking(restarted, tool, page=2)) is None


def test_what_is_held_in_memory_is_bounded(tool_gate, wire, monkeypatch):
    monkeypatch.setattr("headgate.mcp.toolgate.HELD_BYTES", 1_000)
    tool = known_tool("list_records", b"", {}, LISTED)
    for n in range(9):
        raw = wire("x", structuredContent={"result": [{"n": "y" * 200}]})
        call = McpCall(f"c{n}", "list_records", {"n": n}, tool.form)
        tool_gate.admit(call, raw, asking(tool_gate, tool, n=n))

    def page(n):
        call = McpCall("d", "list_records", {"n": n, "page": 1}, tool.form)
        return tool_gate.page(call, asking(tool_gate, tool, n=n, page=1))

    assert (page(0), page(8) is None) == (None, False)


def test_an_error_has_no_pages(tool_gate, wire):
    raw = wire("no such table", isError=True)
    assert tool_gate.admit(calling(page=2), raw, asking(tool_gate, page=2)) is raw


def test_a_result_of_our_own_is_one_text():
    assert (
        text_result("x", is_error=True)
        == b'{"content":[{"type":"text","text":"x"}],"isError":true}'
    )
