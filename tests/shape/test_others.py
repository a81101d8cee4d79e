import json

from headgate.shape.others import others_of
from headgate.shape.values import Value

ISSUES = [
    {
        "author": {"login": "ada", "name": "Ada"},
        "createdAt": f"2026-06-{1 + i % 28:02}T01:13:03Z",
        "number": 1_400 - i,
        "state": "open" if i % 3 else "closed",
        "title": f"the {i}th thing that went wrong",
        "body": f"word {i} " * 60,
        "url": f"https://example.org/issues/{1_400 - i}",
    }
    for i in range(40)
]


def value(items: object) -> Value:
    return Value(json.dumps(items).encode())


def test_items_are_called_by_what_tells_them_apart():
    others = others_of(value(ISSUES))

    assert others is not None
    assert others.names == ("number", "state", "title")


def test_a_row_has_the_place_of_its_item_and_its_values_as_written():
    others = others_of(value(ISSUES))
    assert others is not None
    table = others.table(others.rows(range(5, 40), 300))

    assert len(table) <= 300
    assert json.loads(table) == {
        "columns": ["index", "number", "state", "title"],
        "rows": [[i, 1_400 - i, ISSUES[i]["state"], ISSUES[i]["title"]] for i in range(5, 10)],
    }


def test_two_rows_are_not_worth_their_heading():
    others = others_of(value(ISSUES))
    assert others is not None

    assert others.rows(range(5, 40), 150) == []


def test_an_item_without_the_key_has_nothing_there():
    items = [*ISSUES[:20], {"number": 7}, "no object", *ISSUES[20:]]
    others = others_of(value(items))
    assert others is not None

    rows = json.loads(others.table(others.rows([20, 21, 22], 10_000)))["rows"]
    assert rows[:2] == [[20, 7, None, None], [21, None, None, None]]


def test_a_value_that_is_long_for_once_is_cut():
    items = [{"id": i, "name": f"name of {i}"} for i in range(30)]
    items[9]["name"] = "é" * 150
    others = others_of(value(items))
    assert others is not None

    rows = json.loads(others.table(others.rows([9, 10, 11], 10_000)))["rows"]
    assert rows[0][2].startswith("éééé")
    assert rows[0][2].endswith("…")
    assert len(rows[0][2].encode()) < 130


def test_where_nothing_tells_items_apart_they_have_no_names():
    assert others_of(value([{"state": "open"}] * 40)) is None
    assert (
        others_of(value([{"at": f"2026-06-{1 + i % 28:02}T01:13:{i:02}Z"} for i in range(40)]))
        is None
    )
    assert others_of(value(list(range(40)))) is None
    assert others_of(value(ISSUES[:7])) is None
