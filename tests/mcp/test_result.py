import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.mcp.form import form_of
from headgate.mcp.result import McpCall, admit_result, result_of
from headgate.testing import lines

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}
ROWS = {"rows": [{"id": i, "name": f"name {i}"} for i in range(500)]}
SCHEMA = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
    "required": ["rows"],
}
CALL = McpCall("call_1", "query", form=form_of(SCHEMA))


def admitted(gate, raw, call=CALL):
    return admit_result(gate, call, result_of(raw))


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content":[{"type":"text","text":"fine"}]}',
        b'{ "content" : [ {"type":"text","text":"fi\\u006ee"} ], "isError" : false }',
        b'{"content":[{"type":"text","text":"1"}],"structuredContent":{"n":1.0},"_meta":{"a":1e2}}',
        b'{"content":[],"structuredContent":{"rows":[]}}',
        b'{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}',
        b'{"content":[{"type":"text","text":"no"}],"isError":true,"unknown":[NaN]}',
    ],
)
def test_what_needs_no_change_comes_back_as_the_very_bytes(gate, raw):
    assert admitted(gate, raw) is raw


@pytest.mark.parametrize(
    "raw",
    [
        b'{"task":{"taskId":"t","status":"working"}}',
        b'{"resultType":"input_required","inputRequests":{}}',
        b'{"content":"not a list"}',
        b"[]",
        b"nothing",
    ],
)
def test_what_is_no_result_for_the_model_is_not_looked_at(raw):
    assert result_of(raw) is None


@pytest.mark.proves("R1", "R10")
def test_a_large_text_is_shortened_and_kept_whole(gate, wire):
    text = lines(2_000, n1500="ERROR the disk is full")
    shown = json.loads(admitted(gate, wire(text)))

    [block] = shown["content"]
    assert gate.meter.count(block["text"]) <= 300
    assert "ERROR the disk is full" in block["text"]
    ref = shown["_meta"]["headgate/verdict"]["ref"]
    assert f'read_result(ref="{ref}"' in block["text"]
    assert gate.original(ref) == text.encode()


def test_the_text_of_all_blocks_is_judged_as_one(gate, wire):
    shown = json.loads(admitted(gate, wire(*[f"finding {i}\n{lines(50)}" for i in range(20)])))

    [block] = shown["content"]
    assert gate.meter.count(block["text"]) <= 300
    assert "finding 0" in block["text"]
    original = gate.original(shown["_meta"]["headgate/verdict"]["ref"]).decode()
    assert all(f"finding {i}\n" in original for i in range(20))


@pytest.mark.proves("R2")
def test_images_and_links_stay_where_they_are(gate, wire):
    shown = json.loads(admitted(gate, wire(IMAGE, lines(2_000), LINK, "more")))

    first, text, last = shown["content"]
    assert first == IMAGE
    assert text["type"] == "text"
    assert last == LINK


def test_an_embedded_text_is_judged_and_keeps_its_address(gate, wire):
    def resource(name):
        return {"type": "resource", "resource": {"uri": f"file:///{name}", "text": lines(900)}}

    one, other = json.loads(admitted(gate, wire(resource("a"), resource("b"))))["content"]

    assert one["resource"]["uri"] == "file:///a"
    assert gate.meter.count(one["resource"]["text"]) <= 300
    assert other["resource"] == {
        "uri": "file:///b",
        "text": "(shown in the first text of this result)",
    }


def test_annotations_and_meta_survive(gate, wire):
    block = {"type": "text", "text": lines(2_000), "annotations": {"audience": ["user"]}}
    shown = json.loads(admitted(gate, wire(block, _meta={"trace": "7"})))

    assert shown["content"][0]["annotations"] == {"audience": ["user"]}
    assert shown["_meta"]["trace"] == "7"


@pytest.mark.proves("R11")
def test_an_error_stays_an_error(gate, wire):
    shown = json.loads(admitted(gate, wire(lines(2_000), isError=True)))
    assert shown["isError"] is True


@pytest.mark.proves("R3")
def test_an_empty_result_says_that_it_is_empty(gate, wire):
    shown = json.loads(admitted(gate, wire()))
    assert shown["content"] == [{"type": "text", "text": "(query finished without output)"}]


def test_a_structured_result_that_repeats_the_text_carries_the_same_marker(gate, wire):
    raw = wire(json.dumps(ROWS), structuredContent=ROWS)
    shown = json.loads(admitted(gate, raw))

    structured = shown["structuredContent"]
    ref = shown["_meta"]["headgate/verdict"]["ref"]
    assert ref in structured["_omitted"]
    assert ref in shown["content"][0]["text"]
    assert structured["rows"] == ROWS["rows"][: len(structured["rows"])]
    assert gate.meter.count(json.dumps(structured, separators=(",", ":"))) <= 300
    assert len(gate.ledger) == 1


def test_a_wrapped_text_is_the_text_that_is_shown(gate, wire):
    text = lines(2_000)
    shown = json.loads(admitted(gate, wire(text, structuredContent={"result": text})))
    assert shown["structuredContent"] == {"result": shown["content"][0]["text"]}


def test_a_large_structured_result_beside_a_small_text_is_shortened_alone(gate, wire):
    shown = json.loads(admitted(gate, wire("500 rows", structuredContent=ROWS)))

    assert shown["content"] == [{"type": "text", "text": "500 rows"}]
    assert 0 < len(shown["structuredContent"]["rows"]) < 500
    ref = shown["_meta"]["headgate/verdict"]["ref"]
    assert json.loads(gate.original(ref)) == ROWS


def test_a_structured_result_without_any_text_gets_no_text(gate, wire):
    shown = json.loads(admitted(gate, wire(structuredContent=ROWS)))

    assert shown["content"] == []
    assert "_omitted" in shown["structuredContent"]


def test_the_path_in_a_structured_marker_leads_to_what_is_missing(gate, wire):
    shown = json.loads(admitted(gate, wire("500 rows", structuredContent=ROWS)))

    kept = len(shown["structuredContent"]["rows"])
    ref = shown["_meta"]["headgate/verdict"]["ref"]
    assert f'path="$.rows[{kept}:500]"' in shown["structuredContent"]["_omitted"]
    assert f'"name {kept}"' in gate.read(ref, {"path": f"$.rows[{kept}:500]"})


def test_lone_surrogates_do_not_stop_a_result(gate):
    raw = b'{"content":[{"type":"text","text":"' + b"\\ud800 x" * 3_000 + b'"}]}'
    shown = admitted(gate, raw)
    assert b"omitted" in shown


@pytest.mark.proves("P1", "P2")
@settings(
    max_examples=settings.default.max_examples // 8,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    texts=st.lists(st.text(max_size=60).map(lambda t: (t + "\n") * 60), max_size=4),
    number=st.integers(0, 1 << 40),
)
def test_every_byte_of_a_shortened_text_comes_back(gate, wire, texts, number):
    raw = wire(*texts)
    result = result_of(raw)
    shown = json.loads(admit_result(gate, McpCall(f"call_{number}", "query"), result))

    text = "".join(b["text"] for b in shown["content"])
    verdict = shown.get("_meta", {}).get("headgate/verdict")
    if verdict is not None:
        assert gate.original(verdict["ref"]) == result.text.encode("utf-8", "surrogatepass")
        assert gate.meter.count(text) <= 300
