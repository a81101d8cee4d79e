import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.shape.hints import Hints, hints_of
from headgate.shape.showing import Cut, Showing, larger, omitted_key
from headgate.shape.values import Value
from headgate.types import Query

SHOWING = Showing(Marker(tag="k7q2", ref="r_abcdefghijkl"))
NO_HINTS = Hints()


def shown(value: object, room: int, *words: str) -> object:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    found = SHOWING.show(Value(raw), room, hints_of(Query(words)), ())
    return None if found is None else json.loads(found.text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=20), inner, max_size=20)
    ),
    max_leaves=60,
)


@pytest.mark.proves("S6", "R10")
@given(values, st.integers(0, 4_000))
def test_whatever_is_shown_is_json_and_fits(value, room):
    raw = json.dumps(value).encode()

    found = SHOWING.show(Value(raw), room, NO_HINTS, ())

    if found is None:
        assert room < 40
    else:
        assert len(found.text) <= room
        json.loads(found.text)
        assert (found.cut is None) is (json.loads(found.text) == value)


def test_what_fits_is_shown_whole():
    assert shown({"a": [1, 2]}, 13) == {"a": [1, 2]}


def test_a_string_is_cut_at_its_end():
    assert (
        shown("hello world " * 20, 60) == "hello world hello world hell … [212 chars omitted #k7q2]"
    )


def test_a_list_shows_its_first_items_and_what_is_missing():
    assert shown(list(range(1_000, 2_000)), 80) == [
        1000,
        1001,
        1002,
        1003,
        1004,
        1005,
        {"_omitted": "[items 6-999 omitted #k7q2]"},
    ]


@pytest.mark.proves("S4")
def test_a_list_shows_an_odd_item_where_it_stands():
    values = [{"id": number, "ok": True} for number in range(100)]
    values[70]["ok"] = False

    assert shown(values, 400) == [
        *values[:14],
        {"_omitted": "[items 14-69 omitted #k7q2]"},
        values[70],
        {"_omitted": "[items 71-99 omitted #k7q2]"},
    ]


def test_an_object_keeps_every_key_and_cuts_large_values_least_those_in_sentences():
    value = {"id": 7, "text": "word " * 200, "rows": list(range(500)), "end": True}

    assert shown(value, 220) == {
        "id": 7,
        "text": "word " * 16 + "word … [916 chars omitted #k7q2]",
        "rows": [*range(10), {"_omitted": "[items 10-499 omitted #k7q2]"}],
        "end": True,
    }


def test_a_short_value_is_shown_whole_before_long_ones_are_begun():
    title = "what this is about, in some sixty characters, as titles are"
    value = {"id": 7, "title": title, "made_at": "2026-11-15T10:00:00Z", "text": "word " * 200}

    assert shown(value, 190) == {
        "id": 7,
        "title": title,
        "made_at": "2026-11-15T10:00:00Z",
        "text": "word " * 7 + "w … [964 chars omitted #k7q2]",
    }


@pytest.mark.proves("S6")
def test_an_object_with_too_many_keys_says_how_many_are_left_out():
    value = {f"key {number}": "some value" for number in range(100)}

    assert shown(value, 100) == {
        "_omitted": "[98 keys omitted #k7q2]",
        "key 0": "some value",
        "key 1": "some value",
    }


@pytest.mark.proves("S4")
def test_a_key_that_the_query_names_is_shown_before_others():
    value = {f"key {number}": "some value" for number in range(100)}

    assert shown(value, 100, "KEY 77") == {
        "_omitted": "[98 keys omitted #k7q2]",
        "key 0": "some value",
        "key 77": "some value",
    }


def test_what_a_path_names_is_shown_at_any_depth():
    value = {"rows": [{"id": n, "cells": {f"c{c}": c * n for c in range(30)}} for n in range(300)]}

    found = shown(value, 600, "rows[250].cells.c29")

    assert found["rows"][-2]["cells"]["c29"] == 29 * 250


def test_a_value_without_room_is_a_word_on_it():
    value = {"list": list(range(400)), "object": dict.fromkeys("abcdefghijklmnop", 1)}

    assert shown(value, 90) == {
        "_omitted": "[1 key omitted #k7q2]",
        "list": "[400 items omitted #k7q2]",
    }
    assert shown(value, 80) == "[2 keys omitted #k7q2]"
    assert shown(value, 20) is None


def test_a_key_of_a_megabyte_is_left_out():
    assert shown({"k" * 1_000_000: 1, "b": 2}, 200) == {
        "_omitted": "[1 key omitted #k7q2]",
        "b": 2,
    }


def test_a_long_number_is_cut_as_text():
    assert shown([b"1" * 500][0], 60) == "1111111111111111111111111111 … [472 chars omitted #k7q2]"


def test_base64_takes_room_only_where_others_leave_it():
    value = {"blob": "QUJD" * 2_000, "text": "plain words " * 100}

    found = shown(value, 1_500)

    assert found["text"] == "plain words " * 100
    assert found["blob"].startswith("QUJDQUJD")


def test_text_of_many_lines_keeps_its_end():
    log = "\n".join(f"line {number}" for number in range(1, 400))

    assert shown({"stdout": log, "code": 1}, 160) == {
        "stdout": "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\n"
        "[lines 8-394 omitted #k7q2]\nline 395\nline 396\nline 397\nline 398\nline 399",
        "code": 1,
    }


@pytest.mark.proves("P24")
def test_what_lies_too_deep_is_shown_as_text():
    found = shown(b'{"a":' * 60 + b'"%b"' % (b"deep " * 500) + b"}" * 60, 600)

    for _ in range(24):
        found = found["a"]
    assert found.startswith('{"a":{"a":{"a":')
    assert found.endswith(" chars omitted #k7q2]")


@pytest.mark.proves("R15", "S6")
def test_the_key_of_the_marker_is_never_one_of_the_data():
    value = {"_omitted": 1, "_omitted_": 2, **{f"key {number}": "x" * 20 for number in range(50)}}

    assert shown(value, 100) == {
        "_omitted__": "[49 keys omitted #k7q2]",
        "_omitted": 1,
        "_omitted_": 2,
        "key 0": "x" * 20,
    }


@pytest.mark.parametrize(
    ("names", "key"),
    [([], "_omitted"), (["_omitted"], "_omitted_"), (["_omitted_", "_omitted"], "_omitted__")],
)
def test_the_key_of_the_marker_gets_another_name_if_taken(names, key):
    assert omitted_key(names) == key


def test_numbers_and_escapes_are_shown_as_they_were_written():
    raw = b'{"a":1.50e+3,"b":1234567890123456789012345678901234567890,"c":"\\u0041\\/","d":NaN}'

    found = SHOWING.show(Value(raw[:-1] + b',"e":"%b"}' % (b"x" * 900)), 200, NO_HINTS, ())

    assert found.text.startswith(raw[:-1])


def test_the_largest_cut_is_the_one_to_ask_for():
    value = {"small": ["x" * 50] * 10, "large": ["y" * 50] * 100}

    found = SHOWING.show(Value(json.dumps(value).encode()), 700, NO_HINTS, ())

    assert (found.cut.steps, found.cut.gap) == (("large",), (6, 99))


def test_of_two_cuts_the_larger_counts_and_of_equals_the_first():
    one, two = Cut(5, ("a",)), Cut(9, ("b",))

    assert [larger(one, two), larger(two, one), larger(None, one), larger(one, Cut(5, ("c",)))] == [
        two,
        two,
        one,
        one,
    ]
