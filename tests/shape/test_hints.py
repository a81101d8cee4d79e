import json

import pytest

from headgate.shape.hints import Hints, hints_of, places_of, pointed_items, pointed_keys
from headgate.shape.items import items_of, lines_of
from headgate.types import Query

ORDERS = [{"id": 1_000 + number, "name": f"order {number}", "note": "n/a"} for number in range(500)]


def pointed(values: list, *words: str) -> list[int]:
    found = pointed_items(items_of(json.dumps(values).encode()), hints_of(Query(words)))
    return sorted(found, key=lambda number: (-found[number], number))


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("items[3].name", ("items", "3", "name")),
        ("$.items[-1]", ("items", "-1")),
        ("[2][0].id?", ("2", "0", "id")),
        (".a.b;", ("a", "b")),
        ("$['odd name'].x", ("odd name", "x")),
        ("example.com", ("example", "com")),
    ],
)
def test_a_word_that_looks_like_a_path_is_one(word, path):
    assert hints_of(Query((word,))).paths == (path,)


@pytest.mark.parametrize("word", ["name", "two words", "a+b", "", "[", "a[b"])
def test_other_words_are_no_paths(word):
    assert hints_of(Query((word,))).paths == ()


def test_words_are_lowered_once_and_written_as_json_writes_them():
    assert hints_of(Query(("Zażółć", "Error", "error", "x"))).words == (
        "zażółć".encode(),
        b"za\\u017c\\u00f3\\u0142\\u0107",
        b"error",
    )


def test_hints_go_down_with_the_path():
    hints = hints_of(Query(("Items[3].name",)))

    assert hints.into("items").into("3").paths == (("name",),)
    assert hints.into("items").into("4").paths == ()
    assert hints.into("other").paths == ()


def test_a_dot_may_be_part_of_a_name():
    assert Hints(paths=(("a", "b", "c"),)).into("a.b").paths == (("c",),)


@pytest.mark.proves("S4")
def test_an_item_that_holds_a_rare_word_is_pointed_at():
    orders = [dict(order) for order in ORDERS]
    orders[321]["note"] = "Refund requested"

    assert pointed(orders, "refund") == [321]


def test_a_word_in_every_item_points_at_none():
    assert pointed(ORDERS, "order", "name") == []


@pytest.mark.proves("S4")
def test_what_is_called_so_is_meant_though_every_item_speaks_of_it():
    packages = [{"name": f"p{n}", "needs": ["pytest>=8"]} for n in range(50)]
    packages[31]["name"] = "pytest"

    assert pointed(packages, "pytest") == [31]


def test_a_number_points_at_whole_numbers_and_at_the_item_of_that_number():
    assert pointed(ORDERS, "1321", "17") == [17, 321]


def test_a_word_inside_a_word_is_not_meant_but_its_beginning_is():
    assert pointed(["unfair", "fairness", *["x"] * 20], "fair") == [1]


def test_what_a_path_names_comes_first():
    assert pointed(ORDERS, "1321", "[400].name", "[-1]") == [400, 499, 321]


def test_a_path_beyond_the_list_points_at_nothing():
    assert pointed(ORDERS, "[500].name") == []


def test_lines_are_pointed_at_too():
    lines = lines_of(b"\n".join(b'{"n":%d}' % number for number in range(9_000)))

    assert list(pointed_items(lines, hints_of(Query(("8765",))))) == [8_765]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (("status",), {1}),
        (("a.status",), {1}),
        (("DATA[0].x",), {2}),
        (("berlin",), {0}),
        (("x",), set()),
        (("common",), set()),
        (("shared",), {2}),
    ],
)
def test_members_are_pointed_at_by_name_or_by_what_they_alone_hold(words, places):
    names = ["city", "Status", "data"]
    values = [b'"berlin common shared"', b'"ok common shared"', b'["in common","shared"]']

    assert pointed_keys(names, values, hints_of(Query(words))).keys() == places


@pytest.mark.proves("S4")
def test_a_member_is_called_by_the_last_part_of_its_name_before_others_that_hold_the_word():
    names = [f"node_modules/{name}" for name in ["body-parser-x", "a", "body-parser", *"bcdefghi"]]
    values = [b'{"v":"1"}', b'{"needs":"body-parser"}', b'{"v":"2"}', *[b"{}"] * 8]

    assert list(pointed_keys(names, values, hints_of(Query(("body-parser",))))) == [2, 1, 0]


def test_places_are_found_up_to_so_many():
    assert list(places_of(b"abcabcabc", b"bc", 2)) == [1, 4]


def test_a_very_short_word_is_found_as_a_whole_word_only():
    cars = [{"name": name} for name in ["vwx", "audi", "vw rabbit", *["ford"] * 20]]

    assert pointed(cars, "vw") == [2]


@pytest.mark.proves("S4")
def test_each_thing_that_is_asked_for_comes_before_more_of_the_first():
    orders = [dict(order) for order in ORDERS]
    for number in 40, 50, 60:
        orders[number]["note"] = "refund of broken glass"
    orders[321]["note"] = "parcel"

    assert pointed(orders, "refund", "broken", "glass", "parcel")[:2] == [40, 321]
