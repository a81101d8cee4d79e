import json

import pytest

from headgate import Gate
from headgate.mcp.form import form_of
from headgate.mcp.listing import KnownTool
from headgate.mcp.result import McpCall
from headgate.mcp.toolgate import ToolGate, Turn, reading_with, text_result
from headgate.shape.pages import Page
from headgate.testing import lines

TOOL = KnownTool("list_records", b"", frozenset({"table"}))
ROWS = [{"id": i} for i in range(1_000)]


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
    ("arguments", "turn"),
    [
        ({"table": "a", "page": 2, "pageSize": 20}, Turn(Page(2, 20), {"table": "a"})),
        ({"pageSize": 5}, Turn(Page(1, 5), {})),
        ({"page": "3"}, Turn(Page(3, None), {})),
        ({"page": -7}, Turn(Page(1, None), {})),
        ({"page": "many"}, None),
        ({"table": "a"}, None),
    ],
)
def test_a_page_comes_from_the_arguments_of_the_call(tool_gate, arguments, turn):
    assert tool_gate.turn(TOOL, arguments) == turn


@pytest.mark.proves("S7")
@pytest.mark.parametrize("own", ["page", "pageSize"])
def test_a_tool_that_pages_by_itself_is_left_to_it(tool_gate, own):
    assert tool_gate.turn(KnownTool("t", b"", frozenset({own})), {"page": 2, "pageSize": 3}) is None


@pytest.mark.proves("S7")
def test_pages_come_from_the_stored_result_not_from_running_the_tool_again(tool_gate, wire):
    call = McpCall("c", "list_records", {"table": "a"})
    assert tool_gate.page(call, Turn(Page(2, 20), {"table": "a"})) is None

    tool_gate.admit(call, wire(json.dumps(ROWS)))

    page = json.loads(text_of(tool_gate.page(call, Turn(Page(2, 20), {"table": "a"}))))
    assert page["items"] == ROWS[20:40]
    assert (page["page"], page["total_pages"], page["has_more"]) == (2, 50, True)
    last = json.loads(text_of(tool_gate.page(call, Turn(Page(99, 20), {"table": "a"}))))
    assert (last["page"], last["items"][-1], last["has_more"]) == (50, {"id": 999}, False)
    assert tool_gate.page(call, Turn(Page(2, 20), {"table": "b"})) is None


@pytest.mark.proves("S7")
def test_a_first_call_may_ask_for_a_page_at_once(tool_gate, wire):
    call = McpCall("c", "list_records", {})
    shown = tool_gate.admit(call, wire(json.dumps(ROWS[:30])), Turn(Page(3, 10), {}))
    assert json.loads(text_of(shown))["items"] == ROWS[20:30]


@pytest.mark.proves("S7")
def test_a_result_that_went_in_whole_can_be_paged_too(tool_gate, wire):
    call = McpCall("c", "list_records", {})
    raw = wire(json.dumps(ROWS[:9]))
    assert tool_gate.admit(call, raw) is raw

    assert json.loads(text_of(tool_gate.page(call, Turn(Page(2, 4), {}))))["items"] == ROWS[4:8]


def test_what_is_held_in_memory_is_bounded(tool_gate, wire, monkeypatch):
    monkeypatch.setattr("headgate.mcp.toolgate.HELD_BYTES", 1_000)
    for number in range(20):
        tool_gate.admit(McpCall(f"c{number}", "t", {"n": number}), wire("x" * 200))

    assert tool_gate.page(McpCall("d", "t"), Turn(Page(1, 1), {"n": 0})) is None
    assert tool_gate.page(McpCall("d", "t"), Turn(Page(1, 1), {"n": 19})) is not None


def test_a_page_of_a_structured_result_satisfies_its_schema(tool_gate, wire):
    schema = {
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"type": "object"}}},
        "required": ["result"],
    }
    call = McpCall("c", "list_records", {}, form_of(schema))
    tool_gate.admit(call, wire(json.dumps(ROWS), structuredContent={"result": ROWS}))

    shown = json.loads(tool_gate.page(call, Turn(Page(2, 3), {})))["structuredContent"]

    assert shown["result"] == ROWS[3:6]
    assert "the same call with page=3, pageSize=3 shows the next" in shown["_omitted"]


def test_an_error_has_no_pages(tool_gate, wire):
    call = McpCall("c", "list_records", {})
    raw = wire("no such table", isError=True)
    assert tool_gate.admit(call, raw, Turn(Page(2, 20), {})) is raw


def test_only_so_many_calls_are_remembered(tool_gate, wire):
    for number in range(257):
        call = McpCall(f"c{number}", "list_records", {"n": number})
        tool_gate.admit(call, wire(f"{number}"), Turn(Page(1, 1), {}))

    assert tool_gate.page(call, Turn(Page(1, 1), {"n": 0})) is None
    assert tool_gate.page(call, Turn(Page(1, 1), {"n": 256})) is not None


def test_a_result_of_our_own_is_one_text():
    assert (
        text_result("x", is_error=True)
        == b'{"content":[{"type":"text","text":"x"}],"isError":true}'
    )
