import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects.spans import (
    Misfit,
    fields_of,
    found_in,
    items_of,
    json_text,
    rebuilt_list,
    replaced_fields,
    text_in,
    text_of,
)


@pytest.mark.proves("P5")
def test_a_rebuilt_list_keeps_the_space_between_neighbours_that_stay():
    raw = b"[ 1,2 ,\t3,  4 ]"

    assert rebuilt_list(raw, [(0, b"1"), (1, b"2"), (2, b"3"), (3, b"4")]) == raw
    assert rebuilt_list(raw, [(1, b"2"), (2, b"3")]) == b"[ 2 ,\t3 ]"
    assert rebuilt_list(raw, [(0, b"1"), (None, b"new"), (3, b"4")]) == b"[ 1,new,4 ]"


@pytest.mark.parametrize(
    ("raw", "pieces", "rebuilt"),
    [
        (b"[]", [(None, b"1"), (None, b"2")], b"[1,2]"),
        (b"[ ]", [], b"[ ]"),
        (b"[1]", [(0, b"1"), (None, b"2")], b"[1,2]"),
        (b"[\n  1\n]\n", [(0, b"1"), (None, b"2")], b"[\n  1,\n  2\n]\n"),
        (b"[1, 2]", [], b"[]"),
        (b"[1, 2]", [(1, b"2"), (0, b"1")], b"[2, 1]"),
    ],
)
def test_a_list_is_rebuilt_in_the_style_it_was_written_in(raw, pieces, rebuilt):
    assert rebuilt_list(raw, pieces) == rebuilt


@pytest.mark.proves("P5", "P7")
@pytest.mark.parametrize(
    ("raw", "changes", "replaced"),
    [
        (b'{"a": 1 , "b":2}', {"a": b"9"}, b'{"a": 9 , "b":2}'),
        (b'{"a": 1, "b": 2}', {"b": None}, b'{"a": 1}'),
        (b'{"a": 1, "b": 2}', {"a": None}, b'{"b": 2}'),
        (b'{"a": 1}', {"c": b"3"}, b'{"a": 1,"c": 3}'),
        (b"{}", {"c": b"3"}, b'{"c":3}'),
        (b'{"a":1}', {"a": None}, b"{}"),
        (b'{"\\u0061":1,"b":[2]}', {"a": b"9"}, b'{"\\u0061":9,"b":[2]}'),
        (b'{"x": {"a": 1}, "a": {"a": 1}}', {"a": b"9"}, b'{"x": {"a": 1}, "a": 9}'),
    ],
)
def test_fields_are_replaced_and_nothing_else_moves(raw, changes, replaced):
    assert replaced_fields(raw, changes) == replaced


def test_of_equal_keys_the_last_is_replaced_and_all_are_taken_out():
    raw = b'{"a": 1, "b": 2, "a": 3}'

    assert replaced_fields(raw, {"a": b"9"}) == b'{"a": 1, "b": 2, "a": 9}'
    assert replaced_fields(raw, {"a": None}) == b'{"b": 2}'
    assert fields_of(raw) == {"a": b"3", "b": b"2"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
INDENTS = st.sampled_from([None, 0, 1, "\t"])


@pytest.mark.proves("P5", "P7")
@given(st.dictionaries(st.text(), JSON, min_size=1), INDENTS, st.booleans(), st.data())
def test_an_object_is_itself_when_a_field_is_replaced_by_itself(value, indent, ascii_, data):
    raw = json.dumps(value, indent=indent, ensure_ascii=ascii_).encode("utf-8", "surrogatepass")
    key = data.draw(st.sampled_from(sorted(value)))
    fields = fields_of(raw)

    assert replaced_fields(raw, {key: fields[key]}) == raw
    changed = json.loads(replaced_fields(raw, {key: b'"new"'}).decode("utf-8", "surrogatepass"))
    assert changed == {**value, key: "new"}


@pytest.mark.proves("P5", "P7")
@given(st.lists(JSON), INDENTS, st.data())
def test_a_list_is_itself_when_its_items_are_put_back(value, indent, data):
    raw = json.dumps(value, indent=indent).encode()
    pieces = [(place, bytes(item)) for place, item in enumerate(items_of(raw))]
    kept = data.draw(st.lists(st.sampled_from(pieces), unique=True)) if pieces else []

    assert rebuilt_list(raw, pieces) == raw
    assert json.loads(rebuilt_list(raw, kept)) == [value[place] for place, _ in kept]


DEEP = b"[" * 6_000 + b"]" * 6_000


@pytest.mark.parametrize("odd", [DEEP, b"NaN", b'"\\ud800"', b'"\xed\xa0\x80"', b"-Infinity"])
def test_what_strict_json_refuses_is_cut_out_whole_and_put_back_whole(odd):
    raw = b'{"a": ' + odd + b', "b": [1, ' + odd + b" ]}"

    assert fields_of(raw) == {"a": odd, "b": b"[1, " + odd + b" ]"}
    assert replaced_fields(raw, {"c": b"1"}) == raw[:-1] + b', "c": 1}'
    assert [bytes(item) for item in items_of(fields_of(raw)["b"])] == [b"1", odd]


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"{}", "an object"),
        (b" [1]", "a list"),
        (b'"x"', "a string"),
        (b"true", "true or false"),
        (b"null", "null"),
        (b"-1", "a number"),
        (b" ", "nothing"),
    ],
)
def test_what_was_found_is_said_in_words(raw, found):
    assert found_in(raw) == found


def test_a_misfit_names_its_place_level_by_level():
    with pytest.raises(Misfit) as raised:
        fields_of(b"7", ".content[2]")

    assert str(raised.value.under("messages[7]")) == (
        "messages[7].content[2]: expected an object, found a number"
    )


@given(st.text())
def test_a_text_written_reads_as_itself_but_for_halves_of_pairs(text):
    expected = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)

    assert text_of(json_text(text)) == expected


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'"a\\nb"', "a\nb"),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\xff"', "\udcff"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b"null", ""),
        (b"", ""),
    ],
)
def test_a_string_is_read_whatever_it_holds(raw, text):
    assert text_in(raw) == text
