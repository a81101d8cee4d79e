import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.alike import as_tables
from headgate.shape.jsons import shape_json
from headgate.shape.shaper import Room, Source
from headgate.types import NO_QUERY
from tests.shape.shown import MARKER, O200K

USERS = [{"id": i, "name": f"user {i}", "ok": True} for i in range(5)]


def tables(value: object) -> object:
    text = as_tables(json.dumps(value, separators=(",", ":")).encode(), MARKER)
    return None if text is None else json.loads(text)


def restored(value: object) -> object:
    """What a reader makes of tables."""
    if isinstance(value, dict) and "_table" in value:
        return [dict(zip(value["columns"], row, strict=True)) for row in value["rows"]]
    if isinstance(value, dict):
        return {key: restored(each) for key, each in value.items()}
    return value


@pytest.mark.proves("S5")
def test_alike_objects_are_one_table_with_the_keys_once():
    assert tables(USERS) == {
        "_table": "[5 objects, each a row; the keys stand once, as columns #k7q2]",
        "columns": ["id", "name", "ok"],
        "rows": [[i, f"user {i}", True] for i in range(5)],
    }


def test_a_list_inside_an_object_is_a_table_too():
    assert tables({"total": 5, "users": USERS})["users"]["columns"] == ["id", "name", "ok"]


def test_objects_that_are_not_alike_stay_as_they_are():
    assert tables([*USERS, {"id": 6, "name": "x"}]) is None
    assert tables(USERS[:3]) is None
    assert tables([1, 2, 3, 4, 5]) is None
    assert tables("text") is None


leaves = st.none() | st.integers() | st.text(max_size=9) | st.lists(st.booleans(), max_size=3)
alike = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.lists(st.tuples(*[leaves] * len(keys)), min_size=4, max_size=9).map(
        lambda rows: [dict(zip(keys, row, strict=True)) for row in rows]
    )
)


@pytest.mark.proves("S5")
@given(alike)
def test_nothing_is_lost_in_a_table(objects):
    if "_table" not in objects[0]:
        assert restored(tables(objects)) == objects


@pytest.mark.proves("S5")
def test_a_list_that_fits_as_a_table_is_shown_whole():
    rows = [{"identifier": i, "description": f"row {i}", "is_enabled": i % 2} for i in range(60)]
    data = json.dumps(rows).encode()
    source = Source(data, "json", O200K.estimate(data), 1)
    shaped = shape_json(source, Room(900, O200K), NO_QUERY, MARKER)

    assert shaped.how == "the whole, alike objects as tables with the keys once"
    assert restored(json.loads(shaped.text)) == rows
    assert O200K.count(data.decode()) > 900 >= O200K.count(shaped.text)
