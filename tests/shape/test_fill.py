from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.meters import meter_for
from headgate.shape.fill import Drawn, fill
from headgate.shape.shaper import Room

CHARS = meter_for("o200k", "chars")
TOKENS = meter_for("o200k", "tokens")


def words(count: int) -> Drawn:
    return Drawn("word " * (count // 5), "words")


@given(st.integers(128, 5_000), st.floats(0.2, 20))
def test_a_room_is_filled_from_any_first_guess(limit, guess):
    drawn = fill(words, Room(limit, TOKENS), guess)

    assert 0.92 * limit <= TOKENS.count(drawn.text) <= limit


def test_nothing_is_given_where_nothing_fits():
    assert fill(lambda most: Drawn("x" * 1_000, ""), Room(512, CHARS), 1) is None


def test_a_drawing_that_needs_more_room_is_tried_again_with_more():
    drawn = fill(lambda most: Drawn("x" * 400, "") if most > 2_000 else None, Room(512, CHARS), 1)

    assert drawn == Drawn("x" * 400, "")


def test_the_fullest_drawing_that_fits_is_kept():
    def steps(most: int) -> Drawn:
        return Drawn("x" * (300 if most < 400 else 900 if most > 500 else 450), "")

    assert len(fill(steps, Room(512, CHARS), 1).text) == 450


def test_what_is_all_there_is_drawn_once():
    asked = []

    def draw(most: int) -> Drawn:
        asked.append(most)
        return Drawn("all", "", is_all=True)

    assert fill(draw, Room(512, CHARS), 1) == Drawn("all", "", is_all=True)
    assert asked == [512]
