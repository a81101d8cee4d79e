import json

import pytest

from headgate.shape.extremes import asked_extremes, asked_fields, unnamed_fields
from headgate.shape.items import items_of, lines_of

CARS = [
    {"Name": f"car {number}", "Horsepower": 100 + number * 7 % 60, "Weight_in_lbs": 3_000 - number}
    for number in range(40)
]
CARS[11]["Horsepower"] = 230
CARS[29]["Horsepower"] = 46


def extremes(values: list, question: str) -> list[int]:
    return asked_extremes(items_of(json.dumps(values).encode()), question.lower().split())


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    ("word", "found"), [("most", [11]), ("lowest", [29]), ("best", [11, 29]), ("max min", [11, 29])]
)
def test_a_superlative_of_a_field_points_at_the_end_that_is_asked_for(word, found):
    assert extremes(CARS, f"Which has the {word} Horsepower") == found


def test_a_field_is_named_by_a_part_of_its_name():
    assert extremes(CARS, "which is the heaviest by weight") == [0]


def test_without_a_superlative_a_field_is_only_spoken_of():
    assert extremes(CARS, "what horsepower has car 3") == []


def test_a_field_that_is_called_by_its_name_comes_before_one_of_which_a_part_is_said():
    names = ["color_of_wines", "wine_id", "wine_class", "proline", "alcohol"]

    assert asked_fields(names, ["wine", "most", "proline", "alcohol"])[:2] == ["proline", "alcohol"]


def test_the_field_is_meant_that_most_words_name():
    names = ["melting_point", "boiling_point", "number"]

    assert asked_fields(names, ["highest", "boiling", "point"]) == ["boiling_point"]


def test_a_superlative_of_no_field_may_mean_each_that_is_a_number():
    assert extremes(CARS, "which is the strongest") == [11, 29, 0, 39]


def test_a_field_is_named_by_the_word_that_its_name_is_short_for():
    years = [{"year": 1990 + n, "infl": n * 7 % 40, "unemp": 5.0} for n in range(40)]

    assert extremes(years, "when was inflation lowest") == [0]


def test_dates_have_a_newest_and_an_oldest():
    days = [{"created": f"2026-03-{10 + 7 * number % 19:02}"} for number in range(19)]

    for word, day in ("latest", "2026-03-28"), ("earliest", "2026-03-10"):
        assert [days[n]["created"] for n in extremes(days, f"the {word} created")] == [day]


def test_what_is_no_number_has_no_part_in_it():
    odd = [*CARS, "horsepower", 7, None, {"Horsepower": "999"}, {"Horsepower": True}, {}]

    assert extremes(odd, "most horsepower") == [11]


def test_json_lines_have_them_as_well():
    lines = "\n".join(map(json.dumps, [*CARS, {"Horsepower": 1 << 80}]))

    assert asked_extremes(lines_of(lines.encode()), ["maximum", "horsepower"]) == [40]


def test_a_list_of_one_has_no_extremes():
    assert extremes(CARS[:1], "most horsepower") == []


def test_of_many_fields_the_first_may_be_meant_if_a_superlative_is_asked():
    numeric = [f"n{i}" for i in range(9)]

    assert unnamed_fields(numeric, ["busiest", "hour"]) == numeric[:6]
    assert unnamed_fields(numeric, ["busy", "hour"]) == ()
