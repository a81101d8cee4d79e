import json

import pytest

from headgate.shape.asked import asked_values
from headgate.shape.hints import hints_of
from headgate.shape.jsons import shape_json
from headgate.shape.shaper import Room, Source
from headgate.shape.values import Value
from headgate.types import Query
from tests.shape.shown import MARKER, O200K

DOCUMENT = {
    "resources": {"climate.product": {"names": ["a", "b"]}},
    "Items": [{"id": 7}, {"id": 8}],
}


def asked(*paths: str) -> dict[tuple, object]:
    value = Value(json.dumps(DOCUMENT).encode())
    return {steps: json.loads(v.raw) for steps, v in asked_values(value, hints_of(Query(paths)))}


@pytest.mark.proves("S4")
def test_a_path_leads_to_its_value_whatever_the_case_of_its_names():
    assert asked("items[1].id", "$.items[-2]") == {
        ("Items", 1, "id"): 8,
        ("Items", 0): {"id": 7},
    }


def test_a_dot_may_be_part_of_a_name():
    assert asked("resources.climate.product.names[1]") == {
        ("resources", "climate.product", "names", 1): "b"
    }


def test_a_path_may_begin_below_the_top():
    assert asked("climate.product.names[0]") == {("resources", "climate.product", "names", 0): "a"}


def test_a_path_that_leads_nowhere_is_left_out():
    assert asked("items[2].id", "items.x", "other.thing", "items[0].id.deeper") == {}


def shown(value: object, limit: int, *paths: str) -> dict:
    data = json.dumps(value).encode()
    source = Source(data, "json", O200K.estimate(data), 1)
    return json.loads(shape_json(source, Room(limit, O200K), Query(paths), MARKER).text)


@pytest.mark.proves("S4", "S6")
def test_what_is_asked_for_by_path_is_shown_under_its_path():
    users = [{"id": i, "name": f"user {i}", "mail": f"{i}@example.org"} for i in range(500)]

    assert shown(users, 300, "[417].mail", "[3].name")["_asked"] == {
        "$[417].mail": "417@example.org",
        "$[3].name": "user 3",
    }


def test_in_an_object_the_answer_never_takes_a_name_of_the_data():
    document = {"_asked": "theirs", "rows": [{"v": i} for i in range(900)]}
    answer = shown(document, 300, "rows[700].v")

    assert answer["_asked"] == "theirs"
    assert answer["_asked_"] == {"$.rows[700].v": 700}
