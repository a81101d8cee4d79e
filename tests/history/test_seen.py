import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.history.chain import chain
from headgate.history.seen import LEAST_BYTES, Memo, Seen
from headgate.testing import lines
from tests.histories import DIALECTS, body, round_of, said, user
from tests.promises.stories import growing

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def story(dialect: str, first: str = lines(20)) -> list[dict]:
    return user(dialect, "a") + round_of(dialect, 1, first, lines(30)) + said(dialect, "b")


@every_dialect
def test_a_message_that_came_before_is_the_very_same_object(dialect):
    seen = Seen(dialect_named(dialect))
    first = seen.read(body(dialect, story(dialect)))
    second = seen.read(body(dialect, story(dialect) + user(dialect, "c")))

    assert all(
        one is other for one, other in zip(first.messages, second.messages[:-1], strict=True)
    )


@every_dialect
def test_a_message_that_moved_knows_its_new_place(dialect):
    seen = Seen(dialect_named(dialect))
    seen.read(body(dialect, story(dialect)))

    moved = seen.read(body(dialect, user(dialect, "before") + story(dialect)))

    assert [message.at for message in moved.messages] == list(range(len(moved.messages)))


@pytest.mark.proves("P5", "0.2")
@given(growing())
def test_remembering_changes_nothing(grown):
    dialect, bodies, _ = grown
    plain, seen = dialect_named(dialect), Seen(dialect_named(dialect))
    for sent in bodies:
        history = seen.read(sent)
        assert history == plain.read(sent)
        assert list(seen.chain(history)) == chain(plain.read(sent))


@every_dialect
def test_other_tools_are_another_chain_though_the_messages_are_the_same(dialect):
    spoken, seen = dialect_named(dialect), Seen(dialect_named(dialect))
    history = seen.read(body(dialect, story(dialect), tools=[{"name": "a"}]))
    other = seen.read(body(dialect, story(dialect), tools=[{"name": "b"}]))
    changed = history.with_setting("tools", b'[{"name": "b"}]')
    behind = seen.read(body(dialect, story(dialect))[:-1] + b', "tools": [{"name": "a"}]}')
    later = seen.read(body(dialect, story(dialect))[:-1] + b', "tools": [{"name": "b"}]}')

    assert seen.chain(history) != seen.chain(other)
    for one in (history, other, changed, behind, later):
        assert list(seen.chain(one)) == chain(one)
    assert list(seen.chain(behind)) == chain(spoken.read(behind.body))
    assert list(seen.chain(later)) == chain(spoken.read(later.body))


@every_dialect
def test_a_result_is_told_apart_by_its_message_its_place_and_its_call(dialect):
    spoken = dialect_named(dialect)
    seen = Seen(spoken)
    history = seen.read(body(dialect, story(dialect)))
    calls = [part for message in history.messages for part in message.of_kind("call")]
    places = [
        (message, place)
        for message in history.messages
        for place, part in enumerate(message.parts)
        if part.kind == "result"
    ]

    for _ in range(2):
        for (message, place), call in zip(places, calls, strict=True):
            found = seen.identity(message, place, call)
            assert found.result == spoken.tool_result(message.parts[place], call)
    assert dict(seen.identity(*places[0], None).result.arguments) == {}
    assert seen.identity(*places[0], calls[1]).result.arguments["pattern"] == "p1-1"


@every_dialect
def test_another_text_for_a_result_is_told_only_there(dialect):
    seen = Seen(dialect_named(dialect))
    history = seen.read(body(dialect, story(dialect)))
    [(number, place), *_] = [
        (number, place)
        for number, message in enumerate(history.messages)
        for place, part in enumerate(message.parts)
        if part.kind == "result"
    ]

    for text in ("one", "two", "one"):
        told = seen.with_texts(history, {(number, place): text})
        assert seen.dialect.write(told) == body(dialect, story(dialect, text))
    assert seen.with_texts(history, {}) is history


def test_what_was_not_asked_for_in_two_generations_is_forgotten():
    memo: Memo[str, int] = Memo()
    memo.keep("a", 1, LEAST_BYTES - 1)
    memo.keep("b", 2, 2)
    assert memo.find("a", LEAST_BYTES - 1) == 1  # asked for: in the young generation again
    memo.keep("c", 3, LEAST_BYTES)
    memo.keep("d", 4, LEAST_BYTES)

    assert [memo.find(name, 1) for name in "abcd"] == [None, None, 3, 4]
    assert len(memo) == 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, LEAST_BYTES)), max_size=60))
def test_a_memo_never_answers_with_anothers_value(asked):
    memo: Memo[int, int] = Memo()
    for key, size in asked:
        assert memo.find(key, size) in (None, key * 7)
        memo.keep(key, key * 7, size)
        assert memo.find(key, size) == key * 7
