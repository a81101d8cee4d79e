import json

from headgate.mcp.listing import known_tools, next_cursor, offered, reader_tool
from headgate.tool import definition

PLAIN = {"name": "grep", "inputSchema": {"type": "object", "properties": {"page": {}}}}
CLOSED = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


def listing(*tools, **more):
    return json.dumps({"tools": list(tools), **more}).encode()


def test_one_tool_is_added_at_the_end_of_the_list():
    shown = json.loads(offered(listing(PLAIN, ttlMs=5)))
    assert shown == {"tools": [PLAIN, definition("mcp")], "ttlMs": 5}


def test_a_list_that_goes_on_gets_it_on_its_last_page():
    shown = json.loads(offered(listing(PLAIN, nextCursor="2")))
    assert shown == {"tools": [PLAIN], "nextCursor": "2"}


def test_a_tool_keeps_its_bytes():
    raw = b'{"tools":[ {"name" : "gr\\u0065p", "x" : 1.0} ]}'
    assert offered(raw).startswith(b'{"tools":[{"name" : "gr\\u0065p", "x" : 1.0},')


def test_a_schema_that_a_shortened_result_may_break_gets_a_way_out():
    [tool, _] = json.loads(offered(listing({**PLAIN, "outputSchema": CLOSED})))["tools"]

    assert tool["outputSchema"]["type"] == "object"
    assert tool["outputSchema"]["anyOf"][0] == CLOSED
    assert tool["outputSchema"]["anyOf"][1]["required"] == ["_omitted"]


def test_the_tool_that_reads_back_has_the_name_that_was_chosen():
    assert json.loads(reader_tool("fetch_rest"))["name"] == "fetch_rest"
    assert reader_tool() == reader_tool()


def test_what_is_no_list_passes():
    assert offered(b'{"tools":7}') == b'{"tools":7}'
    assert offered(b"[]") == b"[]"


def test_tools_are_known_by_their_arguments_and_the_form_of_their_results():
    schema = {"type": "object", "properties": {"n": {}}, "required": ["n"]}
    [plain, formed] = known_tools(listing(PLAIN, {"name": "count", "outputSchema": schema}))

    assert (plain.name, plain.signature.names) == ("grep", {"page"})
    assert (plain.has_output, formed.has_output) == (False, True)
    assert formed.form.required == {"n"}


def test_a_cursor_is_kept_as_it_is_written():
    assert next_cursor(listing(nextCursor='a"b')) == b'"a\\"b"'
    assert next_cursor(listing(nextCursor=None)) == b""
    assert next_cursor(listing()) == b""
