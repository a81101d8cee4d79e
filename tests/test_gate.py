import os
import threading

import pytest

from headgate import Gate, Media, Policy, RefNotFound, StoreError, Text, ToolResult, tokens
from headgate.events import (
    Admitted,
    Deprecated,
    OverrideIgnored,
    Spilled,
    SpillFailed,
)
from headgate.marker import MarkerStyle
from headgate.measure.meters import meter_for
from headgate.presets import CLAUDE_CODE
from headgate.testing import BadStore, lines, result
from tests.faults import at_most, file_size_limit, interrupted

METER = meter_for("o200k", "tokens")
SMALL = Policy(batch=tokens(400), result=tokens(400), error=tokens(400), classes={})
IMAGE = Media("image", {"type": "image", "source": {"data": "AAAA"}})


def shown_tokens(shown: ToolResult) -> int:
    return METER.count(shown.text)


@pytest.mark.proves("R10", "K1", "K2")
def test_a_big_result_is_shown_within_its_limit_and_every_byte_comes_back(gate_with):
    gate = gate_with(SMALL)

    [shown] = gate.admit([result("grep", lines(3_000))])

    assert shown_tokens(shown) <= 400
    assert shown.verdict.fate == "spilled"
    assert gate.original(shown.verdict.ref) == lines(3_000).encode()


@pytest.mark.proves("R15")
def test_the_marker_leads_to_the_next_lines(gate_with):
    gate = gate_with(SMALL)
    [shown] = gate.admit([result("grep", lines(3_000))])

    ref = shown.verdict.ref
    assert f'read_result(ref="{ref}", lines="' in shown.text
    answer = gate.read_result("call_2", {"ref": ref, "lines": "1500-1502"})

    assert "\n".join(lines(3_000).split("\n")[1_499:1_502]) in answer.text


@pytest.mark.proves("R14", "0.2")
def test_another_gate_on_the_same_ledger_shows_the_same_bytes(gate_with):
    [first] = gate_with(SMALL).admit([result("grep", lines(3_000))])

    [again] = gate_with(Policy(result=tokens(200))).admit([result("grep", lines(3_000))])

    assert again.text == first.text


@pytest.mark.proves("0.3")
def test_the_same_content_has_the_same_ref_in_a_session_and_another_elsewhere(gate_with):
    [a] = gate_with(SMALL).admit([result("grep", lines(3_000), call_id="1")])
    [b] = gate_with(SMALL).admit([result("grep", lines(3_000), call_id="2")])
    [c] = gate_with(SMALL, session="other").admit([result("grep", lines(3_000), call_id="1")])

    assert a.verdict.ref == b.verdict.ref != c.verdict.ref


@pytest.mark.proves("K7")
def test_a_session_cannot_read_anothers_ref(gate_with):
    [shown] = gate_with(SMALL, session="one").admit([result("grep", lines(3_000))])
    other = gate_with(SMALL, session="two")
    ref = shown.verdict.ref

    foreign = other.read_result("c", {"ref": ref})
    unknown = other.read_result("c", {"ref": "r_aaaaaaaaaaaa"})

    assert foreign.is_error
    assert foreign.text.replace(ref, "REF") == unknown.text.replace("r_aaaaaaaaaaaa", "REF")


@pytest.mark.proves("R2")
def test_media_pass_untouched_and_stay_where_they_were(gate_with):
    gate = gate_with(SMALL)

    [shown] = gate.admit([result("t", [IMAGE, Text(lines(3_000)), IMAGE, Text("more")])])

    assert [type(block).__name__ for block in shown.blocks] == ["Media", "Text", "Media"]
    assert shown.blocks[0] is IMAGE


@pytest.mark.proves("R3")
def test_an_empty_result_says_so(gate_with):
    [shown] = gate_with().admit([result("grep", "")])

    assert shown.text == "(grep finished without output)"


@pytest.mark.proves("K5", "P8")
def test_the_limit_holds_when_the_store_fails_and_the_marker_says_so(gate_with):
    events = []
    gate = gate_with(SMALL, store=BadStore(), hooks=[events.append])

    [shown] = gate.admit([result("grep", lines(3_000))])

    assert shown_tokens(shown) <= 400
    assert "not kept on disk, readable while this process runs" in shown.text
    assert shown.verdict.fate == "shaped"
    assert [type(e) for e in events] == [SpillFailed, Admitted]
    assert gate.original(shown.verdict.ref) == lines(3_000).encode()


@pytest.mark.proves("K5")
def test_what_not_even_memory_can_keep_promises_nothing(gate_with):
    gate = gate_with(SMALL.replace(memory_bytes=1_000), store=BadStore())

    [shown] = gate.admit([result("grep", lines(3_000))])

    assert shown.verdict.ref is None
    assert "read_result" not in shown.text
    assert "not kept" in shown.text


@pytest.mark.proves("K5", "P2")
def test_a_policy_can_let_a_result_in_whole_when_the_store_fails(gate_with):
    gate = gate_with(SMALL.replace(store_fails="whole"), store=BadStore())

    [shown] = gate.admit([result("grep", lines(3_000))])

    assert shown.text == lines(3_000)
    assert shown.verdict.reason == (
        "too big, but the store could not keep it, and the policy then lets it in whole"
    )


@pytest.mark.proves("K5")
def test_a_store_that_does_not_answer_has_failed(gate_with):
    store = BadStore(hangs=True)
    gate = gate_with(SMALL.replace(store_timeout_s=0.05), store=store)

    [shown] = gate.admit([result("grep", lines(3_000))])
    store.released.set()

    assert "not kept on disk" in shown.text


@pytest.mark.proves("P9")
def test_a_ref_that_only_a_dead_process_held_is_told_as_gone(gate_with):
    [shown] = gate_with(SMALL, store=BadStore()).admit([result("grep", lines(3_000))])

    answer = gate_with(SMALL).read_result("c", {"ref": shown.verdict.ref})

    assert answer.is_error
    assert "is gone" in answer.text


@pytest.mark.proves("K6")
def test_the_last_result_of_a_tool_can_be_asked_for(gate_with):
    gate = gate_with(SMALL)
    gate.admit([result("grep", lines(3_000))])
    gate.admit([result("find", lines(2_000, n1="first of find"))])

    assert "first of find" in gate.read_result("c", {"tool": "find"}).text
    assert "worker 1 is fine" in gate.read_result("c", {"tool": "grep"}).text


@pytest.mark.proves("K6", "R10")
def test_what_was_read_back_goes_in_as_it_is(gate_with):
    gate = gate_with(SMALL)
    [shown] = gate.admit([result("grep", lines(3_000))])
    answer = gate.read_result("c", {"ref": shown.verdict.ref, "lines": "1-"})

    [again] = gate.admit([answer])

    assert again.text == answer.text
    assert shown_tokens(again) <= 400


@pytest.mark.proves("R5")
def test_overrides_are_read_when_a_batch_comes_and_bad_ones_are_reported(gate_with):
    events = []
    values = {"tools": {"grep": 200, "x": float("nan")}}
    gate = gate_with(Policy(), overrides=lambda: values, hooks=[events.append])

    [shown] = gate.admit([result("grep", lines(3_000))])
    values["tools"]["grep"] = 300
    [later] = gate.admit([result("grep", lines(2_999))])

    assert shown_tokens(shown) <= 200 < shown_tokens(later) <= 300
    assert OverrideIgnored("x", "nan") in events


@pytest.mark.proves("R5")
def test_a_deprecated_argument_works_with_a_warning(gate_with):
    events = []
    gate = gate_with(hooks=[events.append])

    [shown] = gate.admit([result("bash", lines(3_000), call_id="c", arguments={"max_lines": 30})])

    assert shown_tokens(shown) <= 300
    assert Deprecated("c", "max_lines", "max_tokens") in events


@pytest.mark.proves("R6", "P3")
def test_what_happened_is_an_event(gate_with):
    events = []
    gate = gate_with(SMALL, hooks=[events.append])

    [shown] = gate.admit([result("grep", lines(3_000))])

    assert events[0] == Spilled(shown.verdict.ref, shown.call_id, len(lines(3_000)))
    assert events[1].verdicts == (shown.verdict,)
    assert (events[1].budget, events[1].over_budget) == (400, 0)


@pytest.mark.proves("R2", "P3")
@pytest.mark.parametrize(("policy", "cost"), [(Policy(), 2_000), (CLAUDE_CODE, 8_000)])
def test_images_over_the_budget_are_told_in_the_policys_unit(gate_with, policy, cost):
    events = []
    gate = gate_with(policy, hooks=[events.append])
    images = policy.batch.count // cost + 1

    gate.admit([result("shot", [IMAGE] * images)])

    over = images * cost + policy.block_overhead - policy.batch.count
    assert (events[-1].spent, events[-1].over_budget) == (policy.batch.count + over, over)


def test_opening_a_gate_touches_no_disk(gate_with, state):
    gate_with(SMALL)

    assert not state.exists()


@pytest.mark.proves("R11")
def test_an_error_stays_an_error(gate_with):
    [shown] = gate_with(SMALL).admit([result("bash", lines(3_000), is_error=True)])

    assert shown.is_error


@pytest.mark.proves("K7", "P9")
def test_an_unknown_ref_raises_for_people_who_write_code(gate_with):
    with pytest.raises(RefNotFound, match="no result 'r_aaaaaaaaaaaa' in this session"):
        gate_with().original("r_aaaaaaaaaaaa")


def test_what_went_in_whole_has_no_ref_and_reading_it_says_so(gate_with):
    gate = gate_with()
    [shown] = gate.admit([result("bash", "one line")])

    for read in (gate.original, gate.read):
        with pytest.raises(RefNotFound, match="the ref is None: what goes in whole"):
            read(shown.verdict.ref)


@pytest.mark.proves("K6")
def test_a_ref_that_is_a_book_is_not_repeated(gate_with):
    answer = gate_with(SMALL).read_result("call_1", {"ref": "x" * 10_000})

    assert answer.text == f"no result '{'x' * 64}…' in this session; it may have expired"


@pytest.mark.proves("P13")
def test_threads_on_one_gate_agree(state):
    gate = Gate(SMALL, state=state)
    texts = []

    def admit() -> None:
        [shown] = gate.admit([result("grep", lines(3_000))])
        texts.append(shown.text)

    threads = [threading.Thread(target=admit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)

    assert len(texts) == 8
    assert len(set(texts)) == 1


@pytest.mark.proves("R9")
def test_shares_are_known_before_the_results_and_heed_the_operator(state):
    batch = [result("bash", "", call_id="call_1"), result("bash", "", call_id="call_2")]

    assert Gate(SMALL, state=state).shares(batch) == [200, 200]
    assert Gate(SMALL, state=state, overrides=lambda: {"batch": 300}).shares(batch) == [150, 150]


@pytest.mark.proves("K1", "K8")
def test_what_is_kept_without_being_shown_reads_back_as_it_came(state):
    events = []
    gate = Gate(state=state, hooks=[events.append])
    raw = b"one\x00two\xff"

    ref = gate.keep(result("bash", raw, call_id="call_1"))

    assert gate.original(ref) == raw
    assert gate.keep(result("bash", raw, call_id="call_2")) == ref
    assert events[0] == Spilled(ref, "call_1", 8)


def test_what_cannot_be_kept_has_no_ref(state):
    assert Gate(Policy(spill=False), state=state).keep(result("bash", "text")) is None
    assert Gate(state=state).keep(result("bash", " \n")) is None


@pytest.mark.proves("P18")
@pytest.mark.parametrize(
    ("folder", "is_named"),
    [(b"plain", True), ("caf\u00e9 1".encode(), True), (b"\xff", False), (b"a\nb\x1b[31m", False)],
)
def test_only_a_path_that_can_be_written_is_named(gate_with, tmp_path, folder, is_named):
    place = os.path.join(str(tmp_path), os.fsdecode(folder))
    gate = gate_with(SMALL.replace(marker=MarkerStyle(reader="file")), files=place)

    [shown] = gate.admit([result("bash", lines(3_000))])

    assert f"the whole is in {place}" in shown.text if is_named else "read_result(" in shown.text
    assert shown.text.encode().decode() == shown.text
    assert "\x1b" not in shown.text


@pytest.mark.proves("K5", "P9")
@pytest.mark.parametrize("stands", ["file", "link"])
def test_what_is_in_memory_reads_back_though_the_disk_cannot_be_asked(gate_with, state, stands):
    gate = gate_with(SMALL)
    state.parent.mkdir(parents=True, exist_ok=True)
    if stands == "file":
        state.write_bytes(b"")
    else:
        state.symlink_to(state.parent)
    [shown] = gate.admit([result("bash", lines(3_000))])

    assert "readable while this process runs" in shown.text
    assert gate.original(shown.verdict.ref) == lines(3_000).encode()
    assert gate.read(shown.verdict.ref, {"lines": "7"}).startswith("10:00:07 INFO worker 7 ")
    with pytest.raises(StoreError, match="a symlink or a file stands where a folder should be"):
        gate.original("r_aaaaaaaaaaaa")


@pytest.mark.proves("K5")
def test_what_the_store_cannot_keep_is_kept_in_memory(state):
    gate = Gate(store=BadStore(), state=state)

    assert gate.original(gate.keep(result("bash", "text"))) == b"text"
    nowhere = Gate(Policy(memory_bytes=0), store=BadStore(), state=state)
    assert nowhere.keep(result("bash", "text")) is None


@pytest.mark.proves("H8")
def test_a_journal_beside_the_ledger_is_shared_by_the_gates_of_a_session(state):
    first, second = Gate(state=state, session="a"), Gate(state=state, session="a")
    first.journal("notes").append(lambda _: [b"seen"])

    assert second.journal("notes").catch_up() == [b"seen"]
    assert Gate(state=state, session="b").journal("notes").catch_up() == []


def test_an_event_of_others_reaches_the_hooks(state):
    events = []
    told = Deprecated("call_1", "max_lines", "max_tokens")

    Gate(state=state, hooks=[events.append]).emit(told)

    assert events == [told]


@pytest.mark.proves("P24")
def test_a_gate_goes_on_after_an_interrupt_at_any_moment(state):
    gate, moment, is_over = Gate(SMALL, state=state), 0, False
    with_locks = ("gate", "session", "ledger", "journal", "locks", "spill/")

    while not is_over:
        moment += 1
        batch = [result("grep", lines(60, n9=f"{moment}"), call_id=f"call_{moment}")]
        is_over = not interrupted(lambda batch=batch: gate.admit(batch), moment, with_locks)
        with at_most(5):
            [shown] = gate.admit(batch)
            assert gate.original(shown.verdict.ref).decode() == batch[0].text

    assert moment > 100


@pytest.mark.proves("P10")
def test_what_was_not_recorded_when_it_was_decided_is_when_it_is_shown_again(gate_with, state):
    gate, batch = gate_with(SMALL), [result("grep", lines(60), call_id="call_1")]
    gate.admit([result("grep", "x")])
    with file_size_limit((state / "sessions" / "default" / "ledger").stat().st_size):
        gate.admit(batch)
    assert len(gate_with(SMALL).ledger) == 1

    gate.admit(batch)

    assert len(gate_with(SMALL).ledger) == 2


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.proves("P24")
def test_a_forked_child_uses_the_gate_though_a_thread_was_in_it(state):
    inside, go_on = threading.Event(), threading.Event()

    def hook(_: object) -> None:
        inside.set()
        go_on.wait(5)

    gate = Gate(SMALL, state=state, hooks=[hook])
    thread = threading.Thread(
        target=gate.admit, args=([result("grep", lines(60), call_id="call_1")],)
    )
    thread.start()
    inside.wait(5)
    child = os.fork()
    if not child:
        status = 1
        try:
            go_on.set()
            with at_most(5):
                gate.admit([result("grep", lines(61), call_id="call_2")])
            status = 0
        finally:
            os._exit(status)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go_on.set()
    thread.join()
    assert [entry.key.call_id for entry in gate.ledger] == ["call_1", "call_2"]
