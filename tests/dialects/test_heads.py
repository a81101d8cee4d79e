import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.dialects.heads import Head, head_of, located
from headgate.errors import HistoryError
from headgate.testing import lines
from tests.dialects.scripts import KEYS, STYLES, render, scripts
from tests.histories import DIALECTS, body, round_of, user

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def story(dialect: str) -> list[dict]:
    return user(dialect, "a") + round_of(dialect, 1, lines(3), lines(4))


def head(dialect: str, raw: bytes, count: int) -> Head:
    found = head_of(located(dialect_named(dialect).read(raw)), count)
    assert found is not None
    return found


@pytest.mark.proves("P5", "P7")
@given(st.sampled_from(DIALECTS), st.data())
def test_what_is_read_from_its_head_on_is_what_is_read_whole(dialect, data):
    items = render(data.draw(scripts()), dialect)
    style = data.draw(st.sampled_from(STYLES))
    more = {KEYS[dialect]: None, "x_unknown": {"a": [1.0]}} if data.draw(st.booleans()) else None
    count = data.draw(st.integers(1, len(items)))

    def written(messages: list[dict]) -> bytes:
        value = {**more, KEYS[dialect]: messages} if more else messages
        return json.dumps(value, **style).encode()

    shorter, longer = written(items[:count]), written(items)
    spoken, known = dialect_named(dialect), head(dialect, shorter, count)

    assert known.begins(longer)
    went_on, whole = spoken.read(longer, None, known), spoken.read(longer)
    assert went_on == whole
    assert went_on.starts == located(whole).starts
    assert all(a is b for a, b in zip(went_on.messages, known.messages, strict=False))


@every_dialect
def test_another_body_does_not_begin_with_a_head(dialect):
    known = head(dialect, body(dialect, story(dialect)), 1)

    assert not known.begins(body(dialect, user(dialect, "b") + story(dialect)[1:]))
    assert not known.begins(b"[]")


@every_dialect
def test_of_two_arrays_under_one_key_the_last_counts(dialect):
    raw = body(dialect, story(dialect))
    twice = raw[:-1] + b"," + body(dialect, user(dialect, "b"))[1:]

    history = dialect_named(dialect).read(twice, None, head(dialect, raw, 2))

    assert [message.raw for message in history.messages] == [
        json.dumps(one).encode() for one in user(dialect, "b")
    ]


@every_dialect
@pytest.mark.parametrize("rest", [b"", b",", b', {"role": 7}]}', b", 7]}", b"]"])
def test_what_is_wrong_behind_a_head_is_told_as_of_the_whole(dialect, rest):
    known = head(dialect, body(dialect, story(dialect)), 2)
    spoken = dialect_named(dialect)

    with pytest.raises(HistoryError) as whole:
        spoken.read(known.raw + rest)
    with pytest.raises(HistoryError) as went_on:
        spoken.read(known.raw + rest, None, known)

    assert str(went_on.value) == str(whole.value)


@pytest.mark.proves("P5", "P7")
@given(st.sampled_from(DIALECTS), st.data())
def test_other_messages_are_put_into_the_same_places(dialect, data):
    items = render(data.draw(scripts()), dialect)
    spoken = dialect_named(dialect)
    raw = json.dumps({KEYS[dialect]: items}, **data.draw(st.sampled_from(STYLES))).encode()
    history = located(spoken.read(raw))
    others = data.draw(st.sets(st.integers(0, len(items) - 1), min_size=1))
    said = spoken.carrying([spoken.user_text("something else")])[0]
    messages = tuple(
        spoken.message(said.raw, old.at) if number in others else old
        for number, old in enumerate(history.messages)
    )

    changed = history.with_messages(messages)

    assert spoken.write(changed) == spoken.write(replace(changed, starts=None))


@every_dialect
def test_messages_that_moved_are_written_in_their_new_order(dialect):
    spoken = dialect_named(dialect)
    history = located(spoken.read(body(dialect, user(dialect, "a") + user(dialect, "b"))))
    turned = history.with_messages(history.messages[::-1])

    assert spoken.write(turned) == body(dialect, user(dialect, "b") + user(dialect, "a"))


def test_a_history_without_messages_has_no_head():
    history = located(dialect_named("anthropic").read(b'{"messages": []}'))

    assert (history.starts, head_of(history, 1)) == (None, None)
