import pytest

from headgate.dialects import dialect_named
from headgate.dialects.heads import located
from headgate.dialects.history import History
from headgate.history.heads import MOST_HEADS, Heads
from tests.histories import body, said, user

ROOMY = 1_000_000


def read(messages: list[dict]) -> History:
    return located(dialect_named("anthropic").read(body("anthropic", messages)))


def marked(text: str) -> list[dict]:
    block = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    return [{"role": "user", "content": [block]}]


def talk(number: int, turns: int) -> list[dict]:
    return [
        message
        for turn in range(turns)
        for message in user("anthropic", f"{number} {turn}") + said("anthropic", "well")
    ]


def test_a_request_goes_on_from_the_head_of_the_one_before_it():
    heads = Heads()
    heads.keep(read(talk(1, 2)), None, ROOMY)

    found = heads.of(body("anthropic", talk(1, 3)))

    assert found is not None
    assert len(found.messages) == 4
    assert heads.of(body("anthropic", talk(2, 3))) is None


def test_a_longer_head_takes_the_place_of_the_one_it_went_on_from():
    heads = Heads()
    heads.keep(read(talk(1, 2)), None, ROOMY)
    heads.keep(read(talk(1, 3)), heads.of(body("anthropic", talk(1, 3))), ROOMY)

    assert len(heads) == 1
    assert len(heads.of(body("anthropic", talk(1, 4))).messages) == 6


def test_marks_that_move_are_left_out_of_a_head():
    heads = Heads()
    heads.keep(read(talk(1, 2) + marked("now")), None, ROOMY)

    found = heads.of(body("anthropic", talk(1, 2) + user("anthropic", "now") + marked("then")))

    assert found is not None
    assert len(found.messages) == 4


def test_a_mark_that_stays_far_from_the_end_is_part_of_a_head():
    heads = Heads()
    heads.keep(read(marked("rules") + talk(1, 9)), None, ROOMY)

    assert len(heads.of(body("anthropic", marked("rules") + talk(1, 10))).messages) == 19


def test_only_so_many_heads_are_held():
    heads = Heads()
    for number in range(MOST_HEADS + 1):
        heads.keep(read(talk(number, 1)), None, ROOMY)

    assert len(heads) == MOST_HEADS
    assert heads.of(body("anthropic", talk(0, 2))) is None
    assert heads.of(body("anthropic", talk(1, 2))) is not None


@pytest.mark.parametrize(("most_bytes", "held"), [(0, 1), (200, 2), (ROOMY, 3)])
def test_heads_are_held_within_their_bytes_and_the_newest_always(most_bytes, held):
    heads = Heads()
    for number in range(3):
        heads.keep(read(talk(number, 1)), None, most_bytes)

    assert len(heads) == held
    assert heads.of(body("anthropic", talk(2, 2))) is not None
