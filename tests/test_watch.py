import os
import subprocess
import sys
from dataclasses import replace
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Policy, ToolResult
from headgate.events import GuardTripped, LedgerFailed, LedgerRepaired
from headgate.guard_rules import GuardRule, Guards
from headgate.guards import Trip
from headgate.testing import result
from headgate.types import Call
from headgate.watch import Watch, refusal

GUARDS = Guards(
    calls=GuardRule(halt=6),
    identical=GuardRule(warn=1, block=3),
    in_a_row=GuardRule(),
    same_error=GuardRule(block=2),
)


def call(tool="grep", number=1, /, **arguments):
    return Call(f"call_{number}", tool, arguments)


@pytest.fixture
def opened(state):
    """Opens the gate of one session again and again, as processes do."""

    def open_gate(guards=GUARDS, hooks=()):
        return Gate(Policy(guards=guards), state=state, session="s", hooks=hooks)

    return open_gate


def answer(gate, watch, calls, content="same", is_error=False):
    shown = gate.admit(
        [
            ToolResult.of(
                c.tool, content, call_id=c.call_id, arguments=c.arguments, is_error=is_error
            )
            for c in calls
        ]
    )
    watch.learn(shown)


@pytest.mark.proves("G3")
def test_a_batch_is_decided_call_by_call_in_order(opened):
    watch = Watch(opened())

    trips = watch.ask([call("grep", n) for n in range(4)])

    assert [trip and trip.action for trip in trips] == [None, "warn", "warn", "block"]


@pytest.mark.proves("G3")
def test_what_stands_behind_a_call_that_halts_is_not_run_either(opened):
    events = []
    watch = Watch(opened(hooks=[events.append]))

    trips = watch.ask([*(call("grep", n, n=n) for n in range(7)), call("ls", 7)])

    halt = Trip("calls", "halt", "grep", 7, 6)
    assert trips == [None] * 6 + [halt, replace(halt, is_behind=True)]
    assert trips[7].text == (
        "Not run: a call before it in the batch went too far. The turn ends here; the user is told."
    )
    # It went beyond nothing itself.
    assert [event.call_id for event in events] == ["call_6"]


@pytest.mark.proves("G3")
def test_every_trip_is_an_event(opened):
    events = []
    watch = Watch(opened(hooks=[events.append]))

    watch.ask([call("grep", 1), call("grep", 2)])

    assert events == [
        GuardTripped(
            rule="identical",
            action="warn",
            tool="grep",
            call_id="call_2",
            count=2,
            most=1,
            text="[guard: this is call 2 of grep with the same arguments, and its result has not "
            "changed. The earlier result still holds: use it, change the arguments, or stop.]",
        )
    ]


@pytest.mark.proves("G4")
def test_what_was_counted_survives_a_restart(opened):
    first = Watch(opened())
    first.ask([call("grep", n, n=n) for n in range(6)])

    [trip] = Watch(opened()).ask([call("grep", 7, n=7)])

    assert trip == Trip("calls", "halt", "grep", 7, 6)


@pytest.mark.proves("G4")
def test_a_restart_still_knows_polling_from_repeating(opened):
    gate = opened()
    watch = Watch(gate)
    for number, status in enumerate(["10 %", "50 %", "90 %"]):
        one = call("grep", number)
        watch.ask([one])
        answer(gate, watch, [one], status)

    # Three calls, each with another result: only the last one counts as a repetition.
    [trip] = Watch(opened()).ask([call("grep", 9)])

    assert trip == Trip("identical", "warn", "grep", 2, 1)


@pytest.mark.proves("G4")
def test_a_killed_process_has_counted_the_calls_it_was_killed_in(opened, state):
    killed = f"""
import os, signal
from tests.test_watch import GUARDS, call
from headgate import Gate, Policy
from headgate.watch import Watch
gate = Gate(Policy(guards=GUARDS), state={str(state)!r}, session="s")
Watch(gate).ask([call("grep", n, n=n) for n in range(6)])
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", killed], timeout=60, cwd=os.getcwd())

    [trip] = Watch(opened()).ask([call("grep", 7, n=7)])

    assert trip == Trip("calls", "halt", "grep", 7, 6)


@pytest.mark.proves("G4")
def test_a_turn_begins_anew_for_every_process(opened):
    first, second = Watch(opened()), Watch(opened())
    first.ask([call("grep", n, n=n) for n in range(6)])

    second.begin_turn()

    assert first.ask([call("grep", 7, n=7)]) == [None]


@pytest.mark.proves("G4")
def test_two_processes_on_one_session_count_together(opened):
    first, second = Watch(opened()), Watch(opened())

    actions = [
        trip and trip.action
        for n in range(2)
        for watch in (first, second)
        for trip in watch.ask([call("grep", n)])
    ]

    assert actions == [None, "warn", "warn", "block"]


def test_a_journal_that_was_cut_is_counted_once_and_reported(opened, state):
    events = []
    watch = Watch(opened(hooks=[events.append]))
    for n in range(3):
        watch.ask([call("grep", n, n=n)])
    [journal] = state.rglob("guards")
    with journal.open("ab") as file:
        file.write(b"torn")

    trips = watch.ask([call("grep", n, n=n) for n in range(3, 7)])

    assert [trip and trip.count for trip in trips] == [None, None, None, 7]
    assert [type(event) for event in events] == [LedgerRepaired, GuardTripped]


def test_without_its_disk_a_watch_goes_on_and_writes_later(opened, state, tmp_path):
    events = []
    watch = Watch(opened(hooks=[events.append]))
    state.write_text("a file where a folder should be")
    watch.ask([call("grep", n, n=n) for n in range(3)])
    watch.ask([call("grep", n, n=n) for n in range(3, 5)])
    assert [type(event) for event in events] == [LedgerFailed]

    state.unlink()
    assert watch.ask([call("grep", 5, n=5)]) == [None]

    [trip] = Watch(opened()).ask([call("grep", 7, n=7)])
    assert trip == Trip("calls", "halt", "grep", 7, 6)


def test_the_same_error_is_found_in_results_with_other_arguments(opened):
    gate = opened()
    watch = Watch(gate)
    for number, path in enumerate(["/srv/app.py", "/srv/main.py"]):
        one = call("read", number, path=path)
        watch.ask([one])
        answer(gate, watch, [one], f"No such file: {path}", is_error=True)

    [trip] = watch.ask([call("read", 3, path="/srv/test.py")])

    assert trip == Trip("same_error", "block", "read", 3, 2)


def test_a_call_that_was_blocked_for_the_same_error_is_followed_by_one_try(opened):
    gate = opened()
    watch = Watch(gate)
    for number in range(2):
        one = call("read", number, path=f"/srv/{number}.py")
        watch.ask([one])
        answer(gate, watch, [one], "Permission denied", is_error=True)

    [blocked] = watch.ask([call("read", 3, path="/srv/3.py")])
    [tried] = Watch(opened()).ask([call("read", 4, path="/srv/4.py")])

    assert (blocked.action, tried) == ("block", None)


def test_reads_of_a_kept_result_are_told_by_its_ref(opened):
    watch = Watch(opened(Guards(reads=GuardRule(block=2))))

    trips = watch.ask(
        [call("read_result", n, ref="r_1", lines=f"{n}-{n}") for n in range(2)]
        + [call("read_result", 3, ref="r_2"), call("read_result", 4, ref="r_1")]
        + [call("read_result", n, tool="bash", page=n) for n in (5, 6, 7)]
    )

    assert [trip and trip.ref for trip in trips] == [
        *(None, None, None, "r_1"),
        *(None, None, "the last of bash"),
    ]


@pytest.mark.parametrize(
    "arguments", ['{"b": 1, "a": 2}', "not JSON", "[1]", "", "\ud800", "[" * 100_000]
)
def test_arguments_in_any_form_are_compared(opened, arguments):
    watch = Watch(opened())

    trips = watch.ask([Call("1", "grep", arguments), Call("2", "grep", arguments)])

    assert [trip and trip.count for trip in trips] == [None, 2]


def test_arguments_as_text_and_as_an_object_are_the_same_call(opened):
    watch = Watch(opened())

    trips = watch.ask([Call("1", "grep", '{"b": 1, "a": 2}'), Call("2", "grep", {"a": 2, "b": 1})])

    assert [trip and trip.count for trip in trips] == [None, 2]


def test_names_that_no_file_can_hold_are_counted_too(opened):
    Watch(opened()).ask([Call("1", "\ud800" * 500, {})])

    [trip] = Watch(opened()).ask([Call("2", "\ud800" * 500, {})])

    assert (trip.rule, trip.count) == ("identical", 2)


def test_a_call_that_is_not_run_has_a_result_the_model_can_read():
    refused = refusal(call(pattern="x"), Trip("calls", "halt", "grep", 7, 6))

    assert refused == result(
        "grep",
        "Not run: this is call 7 of the turn; 6 are allowed. The turn ends here; the user is told.",
        call_id="call_1",
        is_error=True,
        arguments={"pattern": "x"},
    )


happenings = st.lists(
    st.one_of(
        st.just("turn"),
        st.just("restart"),
        st.lists(
            st.tuples(
                st.sampled_from(["grep", "read", "read_result"]),
                st.sampled_from(["a", "b"]),
                st.sampled_from(["same", "other", "error"]),
            ),
            min_size=1,
            max_size=4,
        ),
    ),
    max_size=12,
)
STRICT = Guards(
    calls=GuardRule(warn=4, halt=12),
    same_tool=GuardRule(warn=3, block=6),
    in_a_row=GuardRule(warn=1, block=3),
    identical=GuardRule(warn=2, block=4),
    polling=GuardRule(warn=3),
    same_error=GuardRule(warn=1, block=2),
    reads=GuardRule(block=2),
)


def trips_of(story, state, *, restarts):
    """What the guards say to a story; with restarts, from one process to the next."""
    gate = Gate(Policy(guards=STRICT, spill=False), state=state, session="s")
    watch, told = Watch(gate), []
    for happening in story:
        if happening == "turn":
            watch.begin_turn()
        elif happening == "restart":
            watch = Watch(gate) if restarts else watch
        else:
            asked = [call(tool, n, ref=of) for n, (tool, of, _) in enumerate(happening)]
            trips = watch.ask(asked)
            told.append(trips)
            ran = [
                result(one.tool, end, is_error=end == "error", arguments=one.arguments)
                for one, trip, (_, _, end) in zip(asked, trips, happening, strict=True)
                if trip is None or trip.action == "warn"
            ]
            watch.learn(ran)
    return told


@pytest.mark.proves("G3", "G4")
@settings(max_examples=settings.default.max_examples // 4)
@given(happenings)
def test_whenever_it_is_restarted_a_guard_says_the_same(story):
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        straight = trips_of(story, one, restarts=False)

        assert trips_of(story, other, restarts=True) == straight
