from headgate.failures import MOST_CHARS, Failure, note, noted


def test_what_was_noted_is_found_again_oldest_first(state):
    note("hook codex: one", state, clock=lambda: 1)
    note("hook codex: two", state, clock=lambda: 2)

    assert noted(state) == [Failure(1, "hook codex: one"), Failure(2, "hook codex: two")]


def test_nothing_noted_is_nothing_found(state):
    assert noted(state) == []


def test_a_note_is_never_the_place_for_a_result(state):
    note("x" * 10_000, state, clock=lambda: 1)

    assert noted(state) == [Failure(1, "x" * MOST_CHARS)]
