import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import RequestError
from headgate.install import jsonc

keys = st.text('abc"\\é', min_size=1, max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(keys, values, max_size=4)
indents = st.sampled_from([None, 1, 2, 4, "\t"])


@given(objects, indents, keys, values)
def test_what_was_put_is_there_and_all_else_is_as_it_was(found, indent, key, value):
    edited = jsonc.put(json.dumps(found, indent=indent), (key,), value)

    assert json.loads(edited) == {**found, key: value}


@given(objects, indents, st.lists(values, max_size=3), values)
def test_what_was_appended_is_the_last(found, indent, items, item):
    text = json.dumps({**found, "list": items}, indent=indent)

    assert json.loads(jsonc.append(text, ("list",), item)) == {**found, "list": [*items, item]}


@given(st.text('{}[]",:/*\\ab1 \n', max_size=30))
def test_any_text_is_read_or_refused(text):
    with suppress(RequestError):
        jsonc.load(text)


def test_comments_order_and_spaces_stay():
    text = """{
    // which one
    "model": "opus",   /* the big one */
    "list": [1,2 , 3],
}
"""

    assert (
        jsonc.put(text, ("env", "URL"), "http://h")
        == """{
    // which one
    "model": "opus",   /* the big one */
    "list": [1,2 , 3],
    "env": {
        "URL": "http://h"
    }
}
"""
    )


def test_a_value_in_its_place_is_exchanged():
    text = '{\n  "a": {"b": [1, {"c": 2}]},\n  "d": 3\n}\n'

    assert jsonc.put(text, ("a", "b", 1, "c"), 9) == (
        '{\n  "a": {"b": [1, {"c": 9}]},\n  "d": 3\n}\n'
    )


def test_a_list_on_one_line_stays_on_one_line():
    assert jsonc.append('{"allow": ["Bash"]}', ("allow",), "Read") == '{"allow": ["Bash", "Read"]}'


def test_an_empty_file_becomes_an_object():
    assert jsonc.load(" \n") == {}
    assert jsonc.append("", ("a", "b"), 1) == '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'


def test_a_path_through_something_else_is_refused():
    with pytest.raises(RequestError, match="hooks is no object"):
        jsonc.put('{"hooks": []}', ("hooks", "PostToolUse"), 1)
    with pytest.raises(RequestError, match="allow is no list"):
        jsonc.append('{"allow": {}}', ("allow",), 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1 has its end"),
        ('{\n"a" 1}', "line 2 has '\"a\" 1}'"),
        ("{} x", "line 1 has 'x'"),
        ("nope", "line 1 has 'nope'"),
        ("[" * 100, "nested deeper than 64"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text, message):
    with pytest.raises(RequestError, match=message):
        jsonc.load(text)


@given(objects, indents, keys, values, st.data())
def test_what_is_taken_out_leaves_all_else_as_it_was(found, indent, key, value, data):
    whole = {**found, key: value}
    order = data.draw(st.permutations(list(whole)))
    text = json.dumps({name: whole[name] for name in order}, indent=indent)

    left = json.loads(jsonc.take(text, (key,)))

    assert left == {name: item for name, item in found.items() if name != key}


@given(st.lists(values, min_size=1, max_size=4), indents, st.data())
def test_an_item_is_taken_out_by_its_place(items, indent, data):
    at = data.draw(st.integers(0, len(items) - 1))

    left = json.loads(
        jsonc.take(json.dumps({"a": {"list": items}}, indent=indent), ("a", "list", at))
    )

    assert left == {"a": {"list": items[:at] + items[at + 1 :]}}


@given(objects, indents, keys, values)
def test_what_was_put_in_is_taken_out_to_the_byte(found, indent, key, value):
    others = {name: item for name, item in found.items() if name != key}
    text = json.dumps({**others, "last": 1}, indent=indent)

    assert jsonc.take(jsonc.put(text, (key,), value), (key,)) == text


def test_comments_beside_what_is_taken_out_stay():
    text = """{
  "model": "opus", // mine
  // ours
  "hooks": {},
  "b": 1
}
"""

    assert (
        jsonc.take(text, ("hooks",))
        == """{
  "model": "opus", // mine
  // ours
  "b": 1
}
"""
    )
    assert (
        jsonc.take(text, ("b",))
        == """{
  "model": "opus", // mine
  // ours
  "hooks": {}
}
"""
    )
    assert jsonc.take('{"a": 1, "b": 2}', ("a",)) == '{"b": 2}'
    assert jsonc.take('{\n  "a": 1\n}\n', ("a",)) == "{}\n"
