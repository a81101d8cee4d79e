import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.mcp.form import FREE, Form
from headgate.mcp.pare import pare
from headgate.mcp.wire import written
from headgate.measure.meters import meter_for
from headgate.shape.shaper import Room

MARKER = Marker("abcd", "r_aaaaaaaaaaaa")


def room(limit):
    return Room(limit, meter_for("o200k", "tokens"))


def test_what_fits_is_left_alone():
    value = {"rows": [1, 2, 3], "name": "x"}
    assert pare(value, room(1_000), MARKER, FREE) == value


def test_an_array_keeps_its_first_items_and_the_marker_asks_for_the_others():
    value = {"rows": [{"id": i} for i in range(1_000)], "total": 1_000}

    pared = pare(value, room(300), MARKER, FREE)

    kept = len(pared["rows"])
    assert pared["rows"] == value["rows"][:kept]
    assert kept > 20
    assert pared["total"] == 1_000
    assert f'read_result(ref="r_aaaaaaaaaaaa", path="$.rows[{kept}:1000]")' in pared["_omitted"]


def test_a_string_keeps_its_beginning():
    pared = pare({"text": "word " * 5_000, "id": "7"}, room(300), MARKER, FREE)

    assert pared["text"].startswith("word word word")
    assert pared["text"].endswith(" …")
    assert pared["id"] == "7"
    assert 'path="$.text"' in pared["_omitted"]


def test_the_room_is_used():
    value = {"rows": [{"id": i, "name": f"name {i}"} for i in range(5_000)]}
    size = room(1_000).size(written(pare(value, room(1_000), MARKER, FREE)))
    assert 900 <= size <= 1_000


def test_a_required_member_stays_where_an_optional_one_goes():
    value = {f"k{i}": "v" * 60 for i in range(500)} | {"needed": "n" * 60}

    pared = pare(value, room(128), MARKER, Form(frozenset({"needed"})))

    assert pared["needed"] == "n" * 60
    assert len(pared) < 20


def test_a_key_of_the_users_that_is_called_as_ours_stays():
    pared = pare(
        {"_omitted": 7, "text": "x" * 9_000}, room(200), MARKER, Form(frozenset({"_omitted"}))
    )

    assert pared["_omitted"] == 7
    assert "chars omitted" in pared["__omitted"]


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=12), inner, max_size=8)
    ),
    max_leaves=40,
)


@pytest.mark.proves("P2")
@settings(max_examples=settings.default.max_examples // 10)
@given(value=st.dictionaries(st.text(max_size=12), JSONS, max_size=30), limit=st.integers(124, 600))
def test_without_a_schema_nothing_exceeds_the_room(value, limit):
    pared = pare(value, room(limit), MARKER, FREE)

    assert room(limit).fits(written(pared))
    assert json.loads(written(pared)) == pared
    missing = pared != value
    assert missing == any("omitted" in str(v) for k, v in pared.items() if k not in value)
