import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.slices import (
    NotJson,
    compact,
    count_items,
    depth_of,
    end_of,
    is_json,
    items,
    key_text,
    kind_of,
    members,
    offsets,
)

DEEP = b"[" * 100_000 + b"]" * 100_000
"""Beyond every parser that recurses; beside it, all that stands there is read by our scanner."""

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=12)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5)
    ),
    max_leaves=12,
)
styles = st.sampled_from(
    [{}, {"separators": (",", ":")}, {"indent": 3}, {"indent": "\t"}, {"separators": (" , ", " :")}]
)
texts = st.builds(
    lambda value, style, escaped: json.dumps(value, ensure_ascii=escaped, **style).encode(
        "utf-8", "replace"
    ),
    values,
    styles,
    st.booleans(),
)


def parts(slices) -> list[bytes]:
    return [bytes(each) for each in slices]


def read(raw: bytes) -> object:
    return json.loads(raw, parse_constant=str, object_pairs_hook=list)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b' {"a":1}', "object"),
        (b"[]", "array"),
        (b'"a"', "string"),
        (b"-1", "number"),
        (b"\n7", "number"),
        (b"true", "literal"),
        (b"null", "literal"),
        (b"NaN", "literal"),
        (b"Infinity", "literal"),
    ],
)
def test_the_first_byte_says_what_a_value_is(raw, kind):
    assert kind_of(raw) == kind


@pytest.mark.parametrize("raw", [b"", b"  ", b"hello", b"<a>", b"'a'"])
def test_what_begins_otherwise_is_no_json(raw):
    with pytest.raises(NotJson, match="no JSON value begins with"):
        kind_of(raw)


def test_items_are_slices_of_the_original():
    raw = (
        b' [ 1, 1.50e+3 ,"a\\u0041", {"b": [2]}, 1234567890123456789012345678901234567890, 1e400 ] '
    )

    assert parts(items(raw)) == [
        b"1",
        b"1.50e+3",
        b'"a\\u0041"',
        b'{"b": [2]}',
        b"1234567890123456789012345678901234567890",
        b"1e400",
    ]


def test_items_that_parsers_refuse_are_slices_too():
    raw = b'[NaN, -Infinity,Infinity , "\\ud800", "NaN \\\\ud800", "\\ud83d\\ude00", {"a":NaN}]'

    assert parts(items(raw)) == [
        b"NaN",
        b"-Infinity",
        b"Infinity",
        b'"\\ud800"',
        b'"NaN \\\\ud800"',
        b'"\\ud83d\\ude00"',
        b'{"a":NaN}',
    ]


def test_members_keep_keys_as_written_and_equal_keys_in_order():
    raw = b'{ "a" : 12, "b":{"c": 3}, "a": 1, "\\u0061":"x" ,"":null}'

    assert [(key, bytes(value)) for key, value in members(raw)] == [
        (b'"a"', b"12"),
        (b'"b"', b'{"c": 3}'),
        (b'"a"', b"1"),
        (b'"\\u0061"', b'"x"'),
        (b'""', b"null"),
    ]


def test_a_repeated_key_with_a_longer_number_is_not_taken_for_the_shorter_one():
    assert [(key, bytes(value)) for key, value in members(b'{"a":12,"b":3,"a":1}')] == [
        (b'"a"', b"12"),
        (b'"b"', b"3"),
        (b'"a"', b"1"),
    ]


def test_members_that_parsers_refuse_are_kept():
    raw = b'{"a": NaN, "\\ud800" : "\\udc00", "a":-Infinity}'

    assert [(key, bytes(value)) for key, value in members(raw)] == [
        (b'"a"', b"NaN"),
        (b'"\\ud800"', b'"\\udc00"'),
        (b'"a"', b"-Infinity"),
    ]


def test_empty_containers_have_no_parts():
    assert (items(b"[ ]"), members(b"{\n}")) == ([], [])


@pytest.mark.parametrize("raw", [b"{}", b"[1,]", b"[1", b"hello", b"[1NaN]", b"[NaN1]"])
def test_what_is_no_array_has_no_items(raw):
    with pytest.raises(NotJson):
        items(raw)


@pytest.mark.parametrize("raw", [b"[]", b'{"a":1,}', b'{"a"}', b'{"a":x}', b'{"a":-NaN}'])
def test_what_is_no_object_has_no_members(raw):
    with pytest.raises(NotJson):
        members(raw)


@pytest.mark.proves("P24")
def test_any_depth_is_read_without_recursion():
    nested = b'{"a":' * 100_000 + b"1" + b"}" * 100_000

    assert depth_of(DEEP) == "deep"
    assert parts(items(DEEP)) == [DEEP[1:-1]]
    assert [(key, bytes(value)) for key, value in members(nested)] == [(b'"a"', nested[5:-1])]
    assert compact(b" [ " + DEEP + b" ] ") == b"[" + DEEP + b"]"


@pytest.mark.proves("P24")
@pytest.mark.parametrize(
    "broken",
    [
        DEEP[:-1],
        DEEP + b"]",
        DEEP[:-1] + b"}",
        b"[" + DEEP + b",]",
        b"[" + DEEP + b" 1]",
        b'{"a":' + DEEP + b',"b"}',
        b'{"a":' + DEEP + b",1:2}",
        b"[01," + DEEP + b"]",
        b'["\\x",' + DEEP + b"]",
        b'["\n",' + DEEP + b"]",
    ],
    ids=range(10),
)
def test_a_deep_text_with_a_mistake_is_no_json(broken):
    assert not is_json(broken)


@pytest.mark.parametrize(
    "whole",
    [
        b' {"a" : %b , "b":[1 ,-2.5e3,"x\\n",true,NaN, -Infinity] } ',
        b"[ %b , [ ] , { } , null ]",
        b'[{"a":%b},{"b":%b,"c":%b}]',
    ],
)
def test_a_deep_text_without_a_mistake_is_json(whole):
    assert is_json(whole.replace(b"%b", DEEP))


@given(texts)
def test_whatever_a_program_wrote_is_taken_apart_as_parsers_do(raw):
    value = read(raw)

    assert is_json(raw)
    assert json.loads(compact(raw), parse_constant=str, object_pairs_hook=list) == value
    if raw[:1] == b"[":
        assert [read(each) for each in parts(items(raw))] == value
    if raw[:1] == b"{":
        assert [(key_text(key), read(bytes(each))) for key, each in members(raw)] == [
            (name, each) for name, each in value
        ]


@given(st.lists(texts, max_size=6), st.sampled_from([b",", b" , ", b",\n  "]))
def test_both_ways_of_reading_give_the_same_items(raws, separator):
    plain = b"[%b]" % separator.join(raws)
    deep = b"[%b]" % separator.join([*raws, DEEP])

    assert parts(items(deep)) == [*parts(items(plain)), DEEP]
    assert parts(items(plain)) == [raw.strip() for raw in raws]


@given(st.lists(st.tuples(st.text(max_size=4), texts), max_size=6))
def test_both_ways_of_reading_give_the_same_members(pairs):
    written = [(json.dumps(name).encode(), raw) for name, raw in pairs]
    plain = b"{%b}" % b",".join(b"%b:%b" % pair for pair in written)
    deep = b"{%b}" % b",".join(b"%b:%b" % pair for pair in [*written, (b'"deep"', DEEP)])

    seen = [(key, bytes(value)) for key, value in members(deep)]

    assert seen[:-1] == [(key, bytes(value)) for key, value in members(plain)]
    assert seen == [*((key, raw.strip()) for key, raw in written), (b'"deep"', DEEP)]


@given(texts, texts, st.integers(0), st.sampled_from([b",", b"[", b"]", b"{", b"}", b":", b'"a"']))
def test_beside_what_is_deep_a_mistake_is_found_as_elsewhere(one, other, place, put):
    deep = DEEP[:3_000] + DEEP[-3_000:]
    plain = b'[%b,{"a":2345,"b":%b}]' % (one, other)
    mutated = plain[: place % len(plain)] + put + plain[place % len(plain) :]

    for raw in (plain, mutated):
        assert is_json(b"[%b,%b]" % (raw, deep)) is is_json(b"[%b]" % raw)
        assert is_json(b'{"x":%b,"y":%b}' % (deep, raw)) is is_json(b'{"x":%b}' % raw)


def test_what_turns_too_often_is_given_up():
    tangled = b"[[0]," * 50_000 + b"1" + b"]" * 50_000

    assert depth_of(tangled) == "deep"
    assert depth_of(tangled, turns=1_000) is None
    assert depth_of(tangled[:-1], turns=0) == "deep"


@given(texts, st.data())
def test_a_mutated_text_is_json_exactly_if_a_parser_says_so(raw, data):
    at = data.draw(st.integers(0, len(raw)))
    cut = data.draw(st.integers(0, 3))
    put = data.draw(st.sampled_from([b"", b",", b"]", b"}", b'"', b"\\", b"0", b"NaN", b"-", b" "]))
    mutated = raw[:at] + put + raw[at + cut :]
    try:
        mutated.decode()
        json.loads(mutated)
        valid = True
    except ValueError:
        valid = False

    if mutated.decode(errors="ignore").encode() == mutated:
        assert is_json(mutated) is valid


def test_items_are_counted_without_being_kept():
    assert [count_items(raw) for raw in (b"[]", b"[1,[2,3]]", b"[NaN]", b"[1", DEEP)] == [
        0,
        2,
        1,
        None,
        None,
    ]


@pytest.mark.parametrize(
    "raw",
    [
        *(b"[10,200,3]", b"[10 , 200 , 3 ]", b"[ 10,  200,3]", b"[ 7 ]", b"[1, 2,3,  4]"),
        b'[{"p": [1]}, {"p": [2]},   {"p": [3]}]',
        b'[{"p": [1]}, {"p": [2]},   {"p": [3]},{"p": [4]}, {"p": [5]}]',
    ],
)
def test_offsets_are_where_the_items_begin(raw):
    found = items(raw)

    assert [
        raw[at : at + len(each)] for at, each in zip(offsets(raw, found), found, strict=True)
    ] == (parts(found))


@pytest.mark.parametrize(
    ("raw", "stop"), [(b'["]",[{}]],1', 10), (b'"a\\"]",1', 6), (b"12.5,1", 4), (b"nul]", 3)]
)
def test_the_end_of_a_value_is_found_by_its_brackets(raw, stop):
    assert end_of(raw, 0) == stop


@pytest.mark.proves("P24")
def test_an_open_string_is_not_searched_again_from_each_of_its_bytes():
    with pytest.raises(NotJson, match="what opens at byte 0 is never closed"):
        end_of(b'["' + b"x" * 2_000_000, 0)


def test_the_name_of_a_key_is_what_it_stands_for():
    assert [key_text(key) for key in (b'"a b"', b'"\\u0061\\n"', b'"\\ud800"', '"é"'.encode())] == [
        "a b",
        "a\n",
        "\ud800",
        "é",
    ]


def test_keys_that_are_no_utf8_are_read_as_they_are_written():
    found = members(b'{"a\x84": 1, "b": "\xff"}')

    assert [(key, bytes(value)) for key, value in found] == [
        (b'"a\x84"', b"1"),
        (b'"b"', b'"\xff"'),
    ]
