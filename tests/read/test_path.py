import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import RequestError
from headgate.read.path import Found, find

STORE = json.dumps(
    {
        "store": {
            "book": [
                {"category": "reference", "author": "Nigel Rees", "price": 8.95},
                {"category": "fiction", "author": "Evelyn Waugh", "price": 12.99},
                {"category": "fiction", "author": "Melville", "isbn": "0-553", "price": 8.99},
                {"category": "fiction", "author": "Tolkien", "isbn": "0-395", "price": 22.99},
            ],
            "bicycle": {"color": "red", "price": 399},
        },
        "odd 'name\"": [1, [2, [3]]],
        "created-at": {"x.y": None},
    }
).encode()
BOOKS = "$['store']['book']"


def found(path: str, data: bytes = STORE, *, most: int = 100, budget: int = 100_000) -> Found:
    return find(data, path, most=most, budget=budget)


def where(path: str, data: bytes = STORE) -> list[str]:
    return [location for location, _ in found(path, data).matches]


def what(path: str, data: bytes = STORE) -> list[object]:
    return [json.loads(raw) for _, raw in found(path, data).matches]


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("path", "locations"),
    [
        ("$", ["$"]),
        ("$.store.bicycle.color", ["$['store']['bicycle']['color']"]),
        ("$['store']['bicycle']", ["$['store']['bicycle']"]),
        ('$["store"].book[1].author', [f"{BOOKS}[1]['author']"]),
        ("$.store.book[*].author", [f"{BOOKS}[{n}]['author']" for n in range(4)]),
        ("$..author", [f"{BOOKS}[{n}]['author']" for n in range(4)]),
        ("$.store.*", [BOOKS, "$['store']['bicycle']"]),
        (
            "$.store..price",
            [*(f"{BOOKS}[{n}]['price']" for n in range(4)), "$['store']['bicycle']['price']"],
        ),
        ("$..book[2]", [f"{BOOKS}[2]"]),
        ("$..book[-1]", [f"{BOOKS}[3]"]),
        ("$..book[0, 1]", [f"{BOOKS}[0]", f"{BOOKS}[1]"]),
        ("$..book[:2]", [f"{BOOKS}[0]", f"{BOOKS}[1]"]),
        ("$..book[1:]", [f"{BOOKS}[1]", f"{BOOKS}[2]", f"{BOOKS}[3]"]),
        ("$..book[::-2]", [f"{BOOKS}[3]", f"{BOOKS}[1]"]),
        ("$..book[::0]", []),
        ("$..book[9]", []),
        ("$..book[-9]", []),
        ("$.store['bicycle','book'][0]", [f"{BOOKS}[0]"]),
        ("$.nothing.here", []),
        ("$.store.bicycle.color.deeper", []),
        ("$['odd \\'name\"'][1][1][0]", ["$['odd \\'name\"'][1][1][0]"]),
        ('$["odd \'name\\""][0]', ["$['odd \\'name\"'][0]"]),
        ("$.created-at['x.y']", ["$['created-at']['x.y']"]),
        ("$ .store [ 'bicycle' ] .color", ["$['store']['bicycle']['color']"]),
    ],
)
def test_a_path_selects(path, locations):
    assert where(path) == locations


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("test", "books"),
    [
        ("@.isbn", [2, 3]),
        ("!@.isbn", [0, 1]),
        ("@.price < 10", [0, 2]),
        ("@.price <= 8.95", [0]),
        ("@.price >= 12.99", [1, 3]),
        ("@.price > 1e1", [1, 3]),
        ("@.price == 8.950", [0]),
        ("8.95 == @.price", [0]),
        ("@.category == 'fiction'", [1, 2, 3]),
        ('@.category != "fiction"', [0]),
        ("@.author > 'N'", [0, 3]),
        ("@.category=='fiction' && @.price < 10", [2]),
        ("@.category=='reference' || @.price > 20", [0, 3]),
        ("(@.price < 10 || @.price > 20) && @.isbn", [2, 3]),
        ("!(@.price < 10)", [1, 3]),
        ("@.price == $.store.book[0].price", [0]),
        ("@.nothing == @.nowhere", [0, 1, 2, 3]),
        ("@.nothing == null", []),
        ("@.category < 5", []),
        ("@['price'] != 8.95 && @.isbn != '0-395'", [1, 2]),
        ("$.store.bicycle", [0, 1, 2, 3]),
    ],
)
def test_a_filter_selects(test, books):
    assert where(f"$.store.book[?{test}]") == [f"{BOOKS}[{number}]" for number in books]


def test_true_is_no_number_and_null_is_a_value():
    data = b'[{"a":true},{"a":1},{"a":null},{},{"a":"1"},{"a":[1]},{"a":[ 1 ]}]'

    assert where("$[?@.a == true]", data) == ["$[0]"]
    assert where("$[?@.a == 1]", data) == ["$[1]"]
    assert where("$[?@.a == null]", data) == ["$[2]"]
    assert where("$[?@.a == '1']", data) == ["$[4]"]
    assert where("$[?@.a == $[6].a]", data) == ["$[5]", "$[6]"]
    assert where("$[?@.a <= true]", data) == ["$[0]"]


def test_a_filter_looks_at_members_too():
    assert where("$.store[?@.color]") == ["$['store']['bicycle']"]


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("store.bicycle.color", ["red"]),
        (".store.bicycle.color", ["red"]),
        ("store.book.0.author", ["Nigel Rees"]),
        ("['store'].book[0].author", ["Nigel Rees"]),
        ("$.store.book.[0].author", ["Nigel Rees"]),
    ],
)
def test_paths_as_people_write_them_are_understood(path, values):
    assert what(path) == values


def test_a_number_after_a_dot_is_a_name_on_an_object():
    assert what("$.0", b'{"0":"zero"}') == ["zero"]


def test_matches_are_byte_for_byte_what_stands_there():
    data = b'{"a": [ 1.50e+3 , NaN, "\\u0041\\/", {"b" : [ ]} , 12345678901234567890123]}'

    assert [raw for _, raw in found("$.a[*]", data).matches] == [
        b"1.50e+3",
        b"NaN",
        b'"\\u0041\\/"',
        b'{"b" : [ ]}',
        b"12345678901234567890123",
    ]


def test_equal_keys_are_all_found():
    assert what("$.a", b'{"a":1,"b":2,"a":3}') == [1, 3]


def test_names_are_compared_as_they_are_meant():
    assert what("$['a\\u00e9']", '{"aé":1,"a\\u00e9":2}'.encode()) == [1, 2]


def test_json_lines_are_one_array():
    assert what("$[1].b", b'{"a":1}\n\n{"b":2}\n') == [2]


def test_what_is_no_json_is_refused():
    with pytest.raises(
        RequestError, match="the result is no JSON; read it by lines, bytes or search"
    ):
        found("$.a", b"hello world")


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "path '': expected a name, '*' or '[' at character 1"),
        ("$.", "path '$.': expected a name, '*' or '[' at character 3"),
        ("$x", "path '$x': expected '.' or '[' at character 2"),
        ("$.a b", "path '$.a b': expected '.' or '[' at character 5"),
        ("$[1", "path '$[1': expected ',' or ']' at character 4"),
        (
            "$[1,]",
            "path '$[1,]': expected a name in quotes, a number, a slice, '*' or '?' at character 5",
        ),
        ("$['a", 'path "$[\'a": expected the closing quote at character 5'),
        (
            "$['\\q']",
            "path \"$['\\\\q']\": expected a text in quotes without unknown escapes at character 3",
        ),
        ("$[?@.a = 1]", "path '$[?@.a = 1]': expected ',' or ']' at character 8"),
        ("$[?1]", "path '$[?1]': expected '==', '!=', '<', '<=', '>' or '>=' at character 5"),
        (
            "$[?@..a == 1]",
            "path '$[?@..a == 1]': expected a path to one value to compare at character 8",
        ),
        ("$[?(@.a]", "path '$[?(@.a]': expected ')' at character 8"),
        (
            "$[?length(@) > 1]",
            "path '$[?length(@) > 1]': expected '@', '$', a number, a text in quotes, "
            "true, false or null at character 4",
        ),
        ("$.a" + "é" * 600, "path is longer than 1024 bytes"),
        ("$" + ".a" * 101, "path has more than 100 steps"),
        ("$[?" + "!" * 17 + "@.a]", "path nests its filters deeper than 16 levels"),
        ("$[?" + "(" * 500 + "@.a]", "path nests its filters deeper than 16 levels"),
    ],
)
def test_a_path_that_cannot_be_read_is_refused_with_its_place(path, message):
    with pytest.raises(RequestError) as refused:
        found(path)

    assert str(refused.value) == message


def test_a_long_path_is_repeated_in_part():
    with pytest.raises(RequestError) as refused:
        found("$." + "a" * 300 + "!")

    assert str(refused.value) == f"path '$.{'a' * 78}…': expected '.' or '[' at character 303"


def test_at_most_so_many_are_given_and_it_says_so():
    data = json.dumps(list(range(50))).encode()

    assert found("$[*]", data, most=3) == Found(
        [("$[0]", b"0"), ("$[1]", b"1"), ("$[2]", b"2")], truncated=True
    )
    assert not found("$[*]", data, most=50).truncated


@pytest.mark.proves("P17")
def test_a_spent_budget_ends_the_search_with_what_was_found():
    data = json.dumps([{"a": n} for n in range(10_000)]).encode()

    answer = found("$[*].a", data, most=10_000, budget=3_000)

    assert answer.truncated
    assert answer.matches[:2] == [("$[0]['a']", b"0"), ("$[1]['a']", b"1")]
    assert len(answer.matches) < 3_000


@pytest.mark.proves("P17", "P24")
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"a":[[],' * 20_000 + b"1" + b"]}" * 20_000,
        b"[" * 700 + b'"%b"' % (b"x" * 200_000) + b"]" * 700,
    ],
    ids=["array", "object", "zigzag", "payload"],
)
@pytest.mark.parametrize(
    "path",
    ["$..*", "$..a", "$..[?@..a]", "$..[?@..[?@..a]]", "$..*..*..*", "$[0][0][0]", "$.a.a.a"],
)
def test_any_path_on_any_depth_ends(data, path):
    answer = find(data, path, most=200, budget=20_000)

    assert len(answer.matches) <= 200


@pytest.mark.proves("P17")
def test_a_path_that_multiplies_is_stopped_by_the_budget():
    data = json.dumps([[list(range(30))] * 30] * 30).encode()

    assert found("$..*..*..*..*", data, most=10**9, budget=50_000).truncated


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


def below(value: object, location: list) -> list[tuple[list, object]]:
    parts = []
    if isinstance(value, dict):
        parts = [([*location, name], each) for name, each in value.items()]
    if isinstance(value, list):
        parts = [([*location, number], each) for number, each in enumerate(value)]
    return [each for place, part in parts for each in [(place, part), *below(part, place)]]


@pytest.mark.proves("K6")
@given(values)
def test_every_value_is_found_at_a_location_that_finds_it_again(value):
    data = json.dumps(value).encode()

    answer = found("$..*", data, most=10_000, budget=10**6)

    assert sorted(json.dumps(json.loads(raw)) for _, raw in answer.matches) == sorted(
        json.dumps(part) for _, part in below(value, [])
    )
    for location, raw in answer.matches:
        assert found(location, data).matches == [(location, raw)]


def answered(path: str) -> str:
    try:
        return f"{len(found(path, budget=5_000).matches)} found"
    except RequestError as refused:
        return str(refused)


@pytest.mark.proves("P17", "P24")
@given(st.text(max_size=40) | st.text(alphabet="$.[]*?@'\"ab01,:()&|!=<> -", max_size=30))
def test_any_text_is_answered_in_one_line(path):
    assert re.fullmatch(r"(\d+ found|path .*)", answered(path))
    assert re.fullmatch(r"(\d+ found|path .*)", answered("$" + path))
