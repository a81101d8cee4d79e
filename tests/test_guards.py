import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import PolicyError
from headgate.guard_rules import NO_GUARDS, GuardRule, Guards
from headgate.guards import (
    Answered,
    Asked,
    Tally,
    Trip,
    TurnBegan,
    call_digest,
    counted,
    error_digest,
    tripped,
)


def asked(tool="grep", call="a", ref="", refused=""):
    return Asked(tool, call.encode(), ref, refused)


def answered(result="same", tool="grep", call="a", error=""):
    return Answered(tool, call.encode(), result.encode(), error.encode())


def after(*noted):
    tally = Tally()
    for one in noted:
        tally = counted(tally, one)
    return tally


def only(**rules):
    """Guards with no rule but these."""
    return Guards(**{name: rules.get(name, GuardRule()) for name in Guards.__dataclass_fields__})


def repeated(times, tool="grep", call="a"):
    return [note for _ in range(times) for note in (asked(tool, call), answered("r", tool, call))]


def drifting(times, error="no such file", tool="read"):
    return [
        note
        for n in range(times)
        for note in (asked(tool, f"{n}"), answered(f"{n}", tool, f"{n}", error))
    ]


@pytest.mark.proves("G3")
def test_the_call_after_the_number_trips():
    guards = only(calls=GuardRule(halt=20))
    sequential = [asked(call=f"{n}") for n in range(19)]

    assert tripped(after(*sequential), asked(call="x"), guards) is None
    assert tripped(after(*sequential, asked(call="x")), asked(call="y"), guards) == Trip(
        "calls", "halt", "grep", 21, 20
    )


@pytest.mark.proves("G3")
def test_calls_of_one_tool_count_whatever_their_arguments():
    guards = only(same_tool=GuardRule(block=5))
    five = [asked("tts", f"{n}") for n in range(5)]

    assert tripped(after(*five), asked("tts", "x"), guards) == Trip(
        "same_tool", "block", "tts", 6, 5
    )
    assert tripped(after(*five), asked("grep", "x"), guards) is None


@pytest.mark.proves("G3")
def test_identical_calls_in_a_row_end_with_another_call():
    guards = only(in_a_row=GuardRule(block=2))
    other = [asked(call="b"), answered(call="b")]

    assert tripped(after(*repeated(2)), asked(), guards) == Trip("in_a_row", "block", "grep", 3, 2)
    assert tripped(after(*repeated(2), *other), asked(), guards) is None


@pytest.mark.proves("G3")
def test_identical_calls_count_also_with_others_between_them():
    guards = only(identical=GuardRule(block=2))
    other = [asked(call="b"), answered(call="b")]

    trip = tripped(after(*repeated(1), *other, *repeated(1), *other), asked(), guards)

    assert trip == Trip("identical", "block", "grep", 3, 2)


@pytest.mark.proves("G3")
def test_a_changing_result_is_polling_and_is_allowed_more():
    guards = only(
        in_a_row=GuardRule(block=2), identical=GuardRule(block=2), polling=GuardRule(block=9)
    )
    polls = [note for n in range(9) for note in (asked(), answered(f"{n} %"))]

    for done in range(9):
        assert tripped(after(*polls[: 2 * done]), asked(), guards) is None
    assert tripped(after(*polls), asked(), guards) == Trip("polling", "block", "grep", 10, 9)


@pytest.mark.proves("G3")
def test_a_poll_whose_result_stands_still_counts_from_its_last_change():
    guards = only(identical=GuardRule(block=3))
    polls = [asked(), answered("10 %"), asked(), answered("50 %")]

    assert tripped(after(*polls, *[asked(), answered("50 %")]), asked(), guards) is None
    trip = tripped(after(*polls, *[asked(), answered("50 %")] * 2), asked(), guards)
    assert trip == Trip("identical", "block", "grep", 4, 3)


@pytest.mark.proves("G3")
def test_identical_calls_in_one_batch_count_before_any_has_its_result():
    guards = only(identical=GuardRule(block=2))

    assert tripped(after(asked(), asked()), asked(), guards) == Trip(
        "identical", "block", "grep", 3, 2
    )


@pytest.mark.proves("G3")
def test_the_same_error_counts_although_the_arguments_drift():
    guards = only(same_error=GuardRule(block=3))

    assert tripped(after(*drifting(2)), asked("read", "x"), guards) is None
    assert tripped(after(*drifting(3)), asked("read", "x"), guards) == Trip(
        "same_error", "block", "read", 4, 3
    )


@pytest.mark.proves("G3")
def test_another_error_or_a_success_begins_again():
    guards = only(same_error=GuardRule(block=3))
    worked = [asked("read", "w"), answered("text", "read", "w")]

    assert tripped(after(*drifting(3), *worked), asked("read", "x"), guards) is None
    assert tripped(after(*drifting(3), *drifting(1, "denied")), asked("read"), guards) is None


@pytest.mark.proves("G3")
def test_a_call_that_was_refused_for_an_error_is_followed_by_a_try():
    guards = only(same_error=GuardRule(block=3, halt=5))
    refused = asked("read", "x", refused="same_error")
    failed = [asked("read", "y"), answered("y", "read", "y", "no such file")]

    assert tripped(after(*drifting(3), refused), asked("read", "y"), guards) is None
    again = tripped(after(*drifting(3), refused, *failed), asked("read", "z"), guards)
    assert again == Trip("same_error", "block", "read", 5, 3)
    last = tripped(after(*drifting(3), refused, *failed * 2), asked("read", "z"), guards)
    assert last == Trip("same_error", "halt", "read", 6, 5)


@pytest.mark.proves("G3")
def test_reads_of_one_kept_result_count_whatever_part_they_ask_for():
    guards = only(reads=GuardRule(block=2), same_tool=GuardRule(block=1))
    reads = [asked("read_result", f"{n}", "r_1") for n in range(2)]

    assert tripped(after(*reads), asked("read_result", "x", "r_1"), guards) == Trip(
        "reads", "block", "read_result", 3, 2, "r_1"
    )
    assert tripped(after(*reads), asked("read_result", "x", "r_2"), guards) is None


@pytest.mark.proves("G3")
def test_a_turn_begins_with_nothing_counted():
    guards = only(calls=GuardRule(halt=2))

    assert tripped(after(*repeated(5), TurnBegan()), asked(), guards) is None


@pytest.mark.proves("G3")
def test_of_several_rules_the_worst_is_carried_out():
    guards = only(
        calls=GuardRule(warn=1), same_tool=GuardRule(halt=1), identical=GuardRule(block=1)
    )

    assert tripped(after(*repeated(1)), asked(), guards) == Trip("same_tool", "halt", "grep", 2, 1)


def test_a_warning_comes_again_when_as_many_have_come_again():
    rule = GuardRule(warn=3)

    assert [n for n in range(1, 12) if rule.action(n) == "warn"] == [4, 7, 10]


def test_a_rule_goes_from_warning_over_refusing_to_stopping():
    rule = GuardRule(warn=1, block=2, halt=4)

    assert [rule.action(n) for n in range(1, 7)] == [None, "warn", "block", "block", "halt", "halt"]


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ({"warn": 0}, "warn is 0; it takes a whole number from 1 on"),
        ({"halt": True}, "halt is True; it takes a whole number from 1 on"),
        ({"warn": 5, "halt": 5}, "warn is 5 and halt is 5; each comes later than the one before"),
    ],
)
def test_a_rule_that_cannot_hold_is_a_policy_error(rule, what):
    with pytest.raises(PolicyError) as error:
        GuardRule(**rule)

    assert str(error.value) == what


def test_no_guards_trip_never():
    assert tripped(after(*repeated(500), *drifting(500)), asked(), NO_GUARDS) is None


@pytest.mark.parametrize(
    ("trip", "text"),
    [
        (
            Trip("in_a_row", "warn", "ls", 4, 3),
            "[guard: this is call 4 of ls in a row with the same arguments, and its result has not "
            "changed. The earlier result still holds: use it, change the arguments, or stop.]",
        ),
        (
            Trip("same_error", "block", "bash", 4, 3),
            "Not run: the last 3 calls of bash failed with the same error; 3 are allowed. "
            "Other arguments do not help: find the cause first, or say what is missing.",
        ),
        (
            Trip("calls", "halt", "ls", 21, 20),
            "Not run: this is call 21 of the turn; 20 are allowed. "
            "The turn ends here; the user is told.",
        ),
        (
            Trip("reads", "block", "read_result", 21, 20, "r_1f3a9c7be20d"),
            "Not run: this is read 21 of result r_1f3a9c7be20d in the turn; 20 are allowed. "
            "Search it for what is needed instead of reading all of it.",
        ),
    ],
)
def test_what_the_model_reads_says_what_happened_and_what_to_do(trip, text):
    assert trip.text == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": [2, {"d": 1, "c": 2}]}, {"b": [2, {"c": 2, "d": 1}], "a": 1}),
        ({"lines": 10.0}, {"lines": 10}),
        ({"path": "x", "glob": None}, {"path": "x"}),
    ],
)
def test_calls_are_identical_whatever_way_they_are_written(one, other):
    assert call_digest("grep", one) == call_digest("grep", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("grep", {"a": 1}), ("ls", {"a": 1})),
        (("grep", {"a": 1}), ("grep", {"a": "1"})),
        (("grep", {"a": 1}), ("grep", {"a": True})),
        (("grep", {"a": {"b": None}}), ("grep", {"a": {}})),
    ],
)
def test_calls_that_differ_are_told_apart(one, other):
    assert call_digest(*one) != call_digest(*other)


def test_arguments_of_any_depth_have_a_digest():
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]

    assert len(call_digest("grep", {"deep": deep})) == 16


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.floats() | st.none()))
def test_any_arguments_have_a_digest(arguments):
    assert call_digest("grep", arguments) == call_digest("grep", dict(reversed(arguments.items())))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("No such file: /srv/app.py", {"path": "/srv/app.py"}),
            ("No such file: /srv/main.py", {"path": "/srv/main.py"}),
        ),
        (("line 17: unexpected 'x'", {}), ("line 230: unexpected 'y'", {})),
        (("failed at 0x7f3a", {}), ("failed at 0x11bc", {})),
        (("request 4f0c1d2e3b denied", {}), ("request  99ffee0011\ndenied", {})),
    ],
)
def test_errors_are_the_same_but_for_numbers_names_and_arguments(one, other):
    assert error_digest("read", *one) == error_digest("read", *other)


def test_errors_of_another_kind_or_tool_are_told_apart():
    missing = error_digest("read", "No such file", {})

    assert error_digest("read", "Permission denied", {}) != missing
    assert error_digest("write", "No such file", {}) != missing
