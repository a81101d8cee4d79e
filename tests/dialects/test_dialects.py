"""One suite of scenarios for all dialects: the same story must survive in each of them."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.check import check
from headgate.dialects import DIALECTS, dialect_named
from headgate.errors import HistoryError
from headgate.types import Media, Text
from tests.dialects.scripts import KEYS, render, scripts, written
from tests.histories import body, calls, results, round_of, said, user

NAMES = [dialect.name for dialect in DIALECTS]
every_dialect = pytest.mark.parametrize("name", NAMES)

DEEP = b"[" * 6_000 + b"]" * 6_000
ODD = [b'"\\ud83d"', b'"\xed\xa0\xbd"', b"NaN", DEEP, b'"\xff"', b"1e999"]


def story(name: str) -> list[dict]:
    return user(name, "go") + round_of(name, 1, "one", "two") + said(name, "done") + user(name, "?")


def parts_of(history, kind):
    return [part for message in history.messages for part in message.of_kind(kind)]


@every_dialect
def test_a_dialect_is_found_by_its_name(name):
    assert dialect_named(name).name == name


def test_a_name_that_is_none_is_said_with_those_there_are():
    with pytest.raises(HistoryError) as raised:
        dialect_named("bedrock")

    assert str(raised.value) == (
        "no dialect 'bedrock'; there are anthropic, openai-chat, openai-responses, gemini"
    )


@pytest.mark.proves("P5", "P7", "H3")
@every_dialect
@given(data=st.data())
def test_what_is_not_changed_is_the_very_same_bytes(name, data):
    raw = data.draw(written(render(data.draw(scripts()), name), name))
    history = dialect_named(name).read(raw)

    assert dialect_named(name).write(history) is raw
    assert dialect_named(name).write(history.with_messages(tuple(history.messages))) is raw


@pytest.mark.proves("P5", "P7")
@every_dialect
@given(data=st.data())
def test_messages_and_parts_put_together_again_are_the_bytes_they_came_as(name, data):
    dialect = dialect_named(name)
    raw = data.draw(written(render(data.draw(scripts()), name), name))
    history = dialect.read(raw)

    again = tuple(
        dialect.with_parts(message, message.parts)
        if all(part.wire for part in message.parts)
        else dialect.message(message.raw, message.at)
        for message in history.messages
    )

    assert dialect.write(history.with_messages(again)) == raw


@pytest.mark.proves("H6")
@every_dialect
def test_calls_and_results_are_read_with_id_tool_and_content(name):
    history = dialect_named(name).read(body(name, story(name)))
    asked, given_ = parts_of(history, "call"), parts_of(history, "result")

    assert [(call.call_id, call.name) for call in asked] == [
        ("call_1_0", "grep"),
        ("call_1_1", "grep"),
    ]
    assert [result.call_id for result in given_] == ["call_1_0", "call_1_1"]
    read = [dialect_named(name).tool_result(*pair) for pair in zip(given_, asked, strict=True)]
    assert [(result.tool, result.text, dict(result.arguments)) for result in read] == [
        ("grep", "one", {"pattern": "p1-0"}),
        ("grep", "two", {"pattern": "p1-1"}),
    ]


@every_dialect
def test_roles_are_the_same_words_in_every_dialect(name):
    history = dialect_named(name).read(body(name, story(name)))

    roles = [message.role for message in history.messages]
    assert roles[0] == roles[-1] == "user"
    assert roles[1] == roles[-2] == "assistant"
    assert [message.at for message in history.messages] == list(range(len(roles)))


@pytest.mark.proves("P7", "H4")
@every_dialect
@pytest.mark.parametrize("style", [{"separators": (",", ":")}, {"indent": 3}, {}])
def test_another_text_of_a_result_changes_that_text_alone(name, style):
    dialect = dialect_named(name)
    value = {"x": 1.0, KEYS[name]: story(name), "y": "\u00e9"}
    raw = json.dumps(value, **style).encode()
    history = dialect.read(raw)
    [result, _] = parts_of(history, "result")

    messages = tuple(
        dialect.with_parts(
            message,
            [dialect.with_text(p, 'a "new"\n') if p is result else p for p in message.parts],
        )
        if result in message.parts
        else message
        for message in history.messages
    )

    written_ = dialect.write(history.with_messages(messages))
    assert written_ == raw.replace(b'"one"', b'"a \\"new\\"\\n"')


@pytest.mark.proves("P7")
@every_dialect
def test_a_message_taken_out_leaves_every_other_byte(name):
    dialect = dialect_named(name)
    raw = json.dumps(story(name), indent=2).encode() + b"\n"
    history = dialect.read(raw)

    kept = history.messages[:-1]

    assert dialect.write(history.with_messages(kept)) == (
        json.dumps(story(name)[:-1], indent=2).encode() + b"\n"
    )


@every_dialect
def test_a_new_result_answers_its_call_and_says_if_it_is_an_error(name):
    dialect = dialect_named(name)
    [call, _] = parts_of(dialect.read(body(name, story(name))), "call")

    fine = dialect.result(call, "fine", is_error=False)
    wrong = dialect.result(call, "wrong", is_error=True)

    assert (fine.kind, fine.call_id) == ("result", "call_1_0")
    assert dialect.tool_result(fine, call).text == "fine"
    shown = dialect.tool_result(wrong, call)
    assert shown.is_error or shown.text == "Error: wrong"
    assert dialect.answering(fine, call) is fine


@every_dialect
def test_a_call_and_its_result_under_another_id_still_match(name):
    dialect = dialect_named(name)
    items = calls(name, ("a", "grep", {})) + results(name, ("a", "grep", "x"))
    history = dialect.read(body(name, user(name, "go") + items))
    [call], [result] = parts_of(history, "call"), parts_of(history, "result")

    renamed = dialect.with_id(call, "b")
    answer = dialect.answering(result, renamed)

    assert (renamed.call_id, answer.call_id) == ("b", "b")
    assert renamed.raw == call.raw.replace(b'"a"', b'"b"')
    assert answer.raw == result.raw.replace(b'"a"', b'"b"')


@every_dialect
def test_new_messages_hold_results_or_what_the_user_says(name):
    dialect = dialect_named(name)
    [call, _] = parts_of(dialect.read(body(name, story(name))), "call")
    result = dialect.result(call, "x", is_error=False)

    [carrier] = dialect.carrying([result])
    [spoken] = dialect.carrying([dialect.user_text("hi")])

    assert [part.call_id for part in carrier.of_kind("result")] == ["call_1_0"]
    assert spoken.role == "user"
    assert check(dialect.write(dialect.read(b"[" + spoken.raw + b"]")), name) == []


@pytest.mark.proves("P7", "P24")
@every_dialect
@pytest.mark.parametrize("odd", ODD, ids=["escape", "raw half", "NaN", "deep", "no utf-8", "huge"])
def test_what_strict_json_refuses_passes_untouched_inside_of_a_history(name, odd):
    dialect = dialect_named(name)
    marker = b'"the place"'
    items = json.loads(json.dumps(story(name)))
    items[1]["x_unknown"] = "the place"
    raw = body(name, items).replace(marker, odd)
    history = dialect.read(raw)

    shorter = dialect.write(history.with_messages(history.messages[:-1]))

    assert dialect.write(history) is raw
    assert shorter == body(name, items[:-1]).replace(marker, odd)
    assert [part.call_id for part in parts_of(history, "call")] == ["call_1_0", "call_1_1"]


@every_dialect
@pytest.mark.parametrize(
    ("raw", "said_"),
    [
        (b"", "the body: expected a list, or an object with {key!r}, found nothing"),
        (b"  ", "the body: expected a list, or an object with {key!r}, found nothing"),
        (b"7", "the body: expected a list, or an object with {key!r}, found a number"),
        (b'"x"', "the body: expected a list, or an object with {key!r}, found a string"),
        (b"nope", "not JSON: invalid character (byte 1)"),
        (b"[1, 2", "not JSON: it ends too early"),
        (b'[{"role": "user"}] x', "not JSON: trailing characters (byte 20)"),
        (b"[" * 100_000, "not JSON: brackets that do not match"),
        (
            b'{"other": []}',
            "the body: expected {key!r}, where {name} keeps its history, found other",
        ),
        (b"[7]", "{key}[0]: expected an object, found a number"),
        (b"[{}, [1]]", None),
    ],
)
def test_what_is_no_history_is_said_in_one_line_with_its_place(name, raw, said_):
    with pytest.raises(HistoryError) as raised:
        dialect_named(name).read(raw)

    if said_ is not None:
        assert str(raised.value) == said_.format(key=KEYS[name], name=name)
    assert "\n" not in str(raised.value)


@every_dialect
@pytest.mark.parametrize("odd", [b"7", b"{}", b"null", b"true"])
def test_an_array_that_is_none_is_said_with_its_name(name, odd):
    key = KEYS[name]

    with pytest.raises(HistoryError, match=rf"^{key}: expected a list, found "):
        dialect_named(name).read(b'{"%b": %b}' % (key.encode(), odd))


def test_a_request_that_is_one_string_has_no_messages_and_stays_as_it_is():
    raw = b'{"model": "m", "input": "hello"}'
    history = dialect_named("openai-responses").read(raw)

    assert history.messages == ()
    assert history.model == "m"
    assert history.settings["input"] == b'"hello"'
    assert dialect_named("openai-responses").write(history) is raw


VALUES = st.sampled_from([None, 0, 1.5, True, "", "x", [], {}, [None], [[]], {"a": 1}, [{}]])


@pytest.mark.proves("P24")
@every_dialect
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_a_wrong_type_anywhere_is_named_or_passes_as_it_came(name, data):
    items = json.loads(json.dumps(render(data.draw(scripts()), name)))
    holder, key = data.draw(st.sampled_from(list(_places(items))))
    holder[key] = data.draw(VALUES)
    raw = json.dumps(items).encode()

    assert re.fullmatch(rf"passes|{KEYS[name]}\[\d+\][^\n]*", _fate(name, raw))


def _fate(name, raw):
    """What is said of a history, or that it passes as it came."""
    try:
        history = dialect_named(name).read(raw)
    except HistoryError as error:
        return str(error)
    return "passes" if dialect_named(name).write(history) is raw else "changed"


def _places(value):
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


@pytest.mark.parametrize(
    ("name", "text_block", "image"),
    [
        ("anthropic", {"type": "text", "text": "t", "x": 1}, {"type": "image", "source": {}}),
        ("openai-chat", {"type": "text", "text": "t", "x": 1}, {"type": "image_url"}),
        ("openai-responses", {"type": "input_text", "text": "t", "x": 1}, {"type": "input_image"}),
    ],
)
def test_images_of_a_result_are_media_and_stay_when_its_text_changes(name, text_block, image):
    dialect = dialect_named(name)
    blocks = [image, text_block, {"type": "novel", "a": 1}, {**text_block, "text": "more"}]
    items = json.loads(json.dumps(round_of(name, 1, "THERE")))
    text = json.dumps(items).replace('"THERE"', json.dumps(blocks))
    [call], [result] = (parts_of(dialect.read(text.encode()), kind) for kind in ("call", "result"))

    shown = dialect.tool_result(result, call)
    changed = dialect.tool_result(dialect.with_text(result, "new"), call)

    raw_image, raw_novel = json.dumps(image).encode(), b'{"type": "novel", "a": 1}'
    assert shown.blocks == (
        Media("image", raw_image),
        Text("t"),
        Media("opaque", raw_novel),
        Text("more"),
    )
    assert changed.blocks == (Media("image", raw_image), Text("new"), Media("opaque", raw_novel))
    assert (
        json.dumps({**text_block, "text": "new"}).encode() in dialect.with_text(result, "new").raw
    )
