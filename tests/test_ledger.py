import os
import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.disk import Folder
from headgate.events import LedgerRepaired
from headgate.journal import Journal
from headgate.ledger import Entry, EpochEntry, Ledger, ReadBack
from tests.faults import file_size_limit
from tests.spill.keeping import key, verdict


def journal_in(folder: Path) -> Journal:
    return Journal(Folder(folder) / "ledger")


def ledger_in(folder: Path) -> Ledger:
    return Ledger(journal_in(folder))


@pytest.mark.proves("H8")
def test_a_verdict_is_found_again_in_another_process(tmp_path):
    ledger_in(tmp_path).record([(key("c1"), verdict("c1"))], time_ns=7)

    assert ledger_in(tmp_path).find(key("c1")) == verdict("c1")
    assert list(ledger_in(tmp_path)) == [Entry(key("c1"), verdict("c1"), 7)]


def test_opening_a_ledger_touches_nothing(tmp_path):
    ledger = ledger_in(tmp_path / "a")

    assert ledger.find(key("c1")) is None
    assert len(ledger) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proves("0.2")
def test_prefix_call_and_content_tell_results_apart(tmp_path):
    keys = [
        key("c1"),
        key("c2"),
        key("c1", digest=b"other"),
        key("c1", prefix=b"chain"),
        key("c1", prefix=b"chai", digest=b"nd"),
    ]
    ledger_in(tmp_path).record(
        [(k, verdict(k.call_id, f"text {i}")) for i, k in enumerate(keys)], time_ns=1
    )

    found = ledger_in(tmp_path)
    assert [found.find(k).text for k in keys] == ["text 0", "text 1", "text 2", "text 3", "text 4"]
    assert found.find(key("c1", prefix=b"unknown")) is None


@pytest.mark.proves("P13", "0.2")
def test_the_first_verdict_of_a_key_stands(tmp_path):
    ours, theirs = ledger_in(tmp_path), ledger_in(tmp_path)
    assert ours.find(key("c1")) is None
    theirs.record([(key("c1"), verdict("c1", "theirs"))], time_ns=1)

    stood = ours.record(
        [(key("c1"), verdict("c1", "ours")), (key("c2"), verdict("c2", "ours"))], time_ns=2
    )

    assert [v.text for v in stood] == ["theirs", "ours"]
    assert [v.text for v in theirs.record([(key("c2"), verdict("c2"))], time_ns=3)] == ["ours"]
    assert [entry.verdict.text for entry in ledger_in(tmp_path)] == ["theirs", "ours"]


def test_the_first_of_two_verdicts_in_one_batch_stands(tmp_path):
    stood = ledger_in(tmp_path).record(
        [(key("c1"), verdict("c1", "one")), (key("c1"), verdict("c1", "two"))], time_ns=1
    )

    assert [v.text for v in stood] == ["one", "one"]
    assert len(ledger_in(tmp_path)) == 1


def test_what_others_wrote_is_found_without_being_asked_for(tmp_path):
    ours, theirs = ledger_in(tmp_path), ledger_in(tmp_path)
    assert ours.find(key("c1")) is None
    theirs.record([(key("c1"), verdict("c1", "theirs"))], time_ns=1)

    assert ours.find(key("c1")) == verdict("c1", "theirs")


@pytest.mark.proves("H7")
def test_a_known_verdict_is_found_without_the_disk(tmp_path):
    ledger = ledger_in(tmp_path / "a")
    ledger.record([(key("c1"), verdict("c1"))], time_ns=1)
    shutil.rmtree(tmp_path / "a")

    assert ledger.find(key("c1")) == verdict("c1")


def test_a_ledger_without_a_journal_lives_in_memory():
    ledger = Ledger(None)

    stood = ledger.record([(key("c1"), verdict("c1"))], time_ns=1)

    assert stood == [verdict("c1")]
    assert ledger.find(key("c1")) == verdict("c1")
    assert (ledger.take_failure(), ledger.take_repairs()) == (None, [])


def test_entries_are_found_by_call_by_ref_and_by_tool(tmp_path):
    first = Entry(key("c1"), verdict("c1", "1", tool="grep", ref="r_aaaaaaaaaaaa"), 1)
    second = Entry(key("c1", digest=b"e"), verdict("c1", "2", tool="read"), 2)
    third = Entry(key("c3"), verdict("c3", "3", tool="read", ref="r_aaaaaaaaaaaa"), 3)
    for entry in (first, second, third):
        ledger_in(tmp_path).record([(entry.key, entry.verdict)], time_ns=entry.time_ns)

    ledger = ledger_in(tmp_path)
    assert ledger.by_call("c1") == [first, second]
    assert ledger.by_call("c2") == []
    assert ledger.by_ref("r_aaaaaaaaaaaa") == [first, third]
    assert ledger.by_ref("r_bbbbbbbbbbbb") == []
    assert ledger.last() == third
    assert ledger.last("grep") == first
    assert ledger.last("write") is None
    assert list(ledger) == [first, second, third]
    assert len(ledger) == 3


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger: ledger.last(),
        lambda ledger: ledger.by_call("c1")[0],
        lambda ledger: ledger.by_ref("r_aaaaaaaaaaaa")[0],
        lambda ledger: next(iter(ledger)),
    ],
)
def test_each_question_looks_for_what_others_wrote(tmp_path, ask):
    entry = Entry(key("c1"), verdict("c1", "1", ref="r_aaaaaaaaaaaa"), 1)
    ours = ledger_in(tmp_path)
    assert list(ours) == []
    ledger_in(tmp_path).record([(entry.key, entry.verdict)], time_ns=1)

    assert ask(ours) == entry


@pytest.mark.proves("P8", "K5")
def test_a_ledger_that_cannot_write_goes_on_in_memory_and_says_so_once(tmp_path):
    ledger = ledger_in(tmp_path)
    ledger.record([(key("c1"), verdict("c1"))], time_ns=1)

    with file_size_limit(10):
        assert ledger.record([(key("c2"), verdict("c2"))], time_ns=2) == [verdict("c2")]
        assert ledger.take_failure() == (
            f"the journal {tmp_path}/ledger: "
            "over the file-size limit of this process; raise it (ulimit -f)"
        )
        ledger.record([(key("c3"), verdict("c3"))], time_ns=3)
        assert ledger.take_failure() is None

    assert [entry.key.call_id for entry in ledger] == ["c1", "c2", "c3"]
    assert [entry.key.call_id for entry in ledger_in(tmp_path)] == ["c1"]


@pytest.mark.proves("P11")
def test_what_was_held_back_is_written_when_the_disk_works_again(tmp_path):
    ledger = ledger_in(tmp_path)
    with file_size_limit(10):
        ledger.record([(key("c1"), verdict("c1"))], time_ns=1)
    assert ledger.take_failure() is not None

    ledger.record([(key("c2"), verdict("c2"))], time_ns=2)

    assert ledger.take_failure() is None
    assert [(e.key.call_id, e.time_ns) for e in ledger_in(tmp_path)] == [("c1", 1), ("c2", 2)]
    with file_size_limit(10):
        ledger.record([(key("c3"), verdict("c3"))], time_ns=3)
    assert ledger.take_failure() is not None


def test_what_was_held_back_is_written_although_nothing_new_is_decided(tmp_path):
    ledger = ledger_in(tmp_path)
    with file_size_limit(10):
        ledger.record([(key("c1"), verdict("c1"))], time_ns=1)

    ledger.record([(key("c1"), verdict("c1"))], time_ns=2)

    assert len(ledger_in(tmp_path)) == 1


@pytest.mark.proves("P13")
def test_a_written_verdict_stands_over_one_that_was_held_back(tmp_path):
    ours, theirs = ledger_in(tmp_path), ledger_in(tmp_path)
    with file_size_limit(10):
        ours.record([(key("c1"), verdict("c1", "held back"))], time_ns=1)
    theirs.record([(key("c1"), verdict("c1", "written"))], time_ns=2)

    stood = ours.record([(key("c2"), verdict("c2"))], time_ns=3)

    assert stood == [verdict("c2")]
    assert ours.find(key("c1")) == verdict("c1", "written")
    assert [entry.verdict.text for entry in ledger_in(tmp_path)] == ["written", "shown"]


@pytest.mark.proves("H8")
def test_a_torn_tail_costs_the_last_record_and_is_reported(tmp_path):
    ledger_in(tmp_path).record([(key("c1"), verdict("c1")), (key("c2"), verdict("c2"))], time_ns=1)
    size = (tmp_path / "ledger").stat().st_size
    os.truncate(tmp_path / "ledger", size - 1)

    ledger = ledger_in(tmp_path)

    assert [entry.key.call_id for entry in ledger] == ["c1"]
    [repair] = ledger.take_repairs()
    assert (repair.path, repair.kept_records) == (f"{tmp_path}/ledger", 1)
    assert isinstance(repair, LedgerRepaired)
    assert repair.lost_bytes == len((tmp_path / "ledger.damaged-1").read_bytes())
    assert ledger.take_repairs() == []


def test_records_of_a_later_version_are_kept_and_passed_over(tmp_path):
    ledger_in(tmp_path).record([(key("c1"), verdict("c1"))], time_ns=1)
    later = msgspec.msgpack.encode(["hologram", 7, {"anything": True}])
    journal_in(tmp_path).append(lambda _: [later])
    ledger_in(tmp_path).record([(key("c2"), verdict("c2"))], time_ns=2)

    assert [entry.key.call_id for entry in ledger_in(tmp_path)] == ["c1", "c2"]
    assert later in journal_in(tmp_path).catch_up()


def test_fields_of_a_later_version_are_passed_over(tmp_path):
    body = {**msgspec.to_builtins(verdict("c1")), "kind": "hologram", "mood": "good"}
    line = msgspec.msgpack.encode(["verdict", 5, b"", b"c1", b"d", body, "one field more"])
    journal_in(tmp_path).append(lambda _: [line])

    assert ledger_in(tmp_path).find(key("c1")) == replace(verdict("c1"), kind=None)


@given(
    call_id=st.text(st.characters(codec=None), max_size=20),
    tool=st.text(st.characters(codec=None), max_size=20),
    text=st.one_of(st.none(), st.text(st.characters(codec=None), max_size=50)),
    prefix=st.binary(max_size=32),
    digest=st.binary(max_size=32),
)
@settings(max_examples=50)
@pytest.mark.proves("P24")
def test_any_id_any_tool_and_any_text_come_back_alike(
    tmp_path_factory, call_id, tool, text, prefix, digest
):
    folder = tmp_path_factory.mktemp("ledger")
    wanted = replace(verdict(call_id), tool=tool, text=text)
    one = key(call_id, digest, prefix)

    assert ledger_in(folder).record([(one, wanted)], time_ns=1) == [wanted]

    assert ledger_in(folder).find(one) == wanted
    assert ledger_in(folder).by_call(call_id) == [Entry(one, wanted, 1)]


@pytest.mark.parametrize("text", ["\ud800", "\ud83d\ude00", "a\udcffb"])
def test_lone_surrogates_come_back_as_they_were(tmp_path, text):
    wanted = replace(verdict(text, text), tool=text, limit_by=text)

    ledger_in(tmp_path).record([(key(text), wanted)], time_ns=1)

    assert ledger_in(tmp_path).find(key(text)) == wanted


@pytest.mark.proves("H8")
def test_a_ledger_holds_what_is_shown_and_never_the_original(tmp_path):
    shown = "x" * 100
    ledger_in(tmp_path).record([(key("c1"), verdict("c1", shown))], time_ns=1)

    assert (tmp_path / "ledger").stat().st_size < 600


@pytest.mark.proves("P13")
def test_threads_on_one_ledger_agree(tmp_path):
    ledger = ledger_in(tmp_path)
    stood: dict[int, list[str]] = {}

    def work(name: int) -> None:
        stood[name] = [
            ledger.record([(key(f"c{i}"), verdict(f"c{i}", f"of {name}"))], time_ns=i)[0].text
            for i in range(30)
        ]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    written = [entry.verdict.text for entry in ledger_in(tmp_path)]
    by_call = {entry.key.call_id: entry.verdict.text for entry in ledger_in(tmp_path)}
    assert len(written) == len(journal_in(tmp_path).catch_up()) == 30
    assert all(texts == [by_call[f"c{i}"] for i in range(30)] for texts in stood.values())


def test_a_ledger_that_cannot_be_read_is_empty_and_says_why(tmp_path):
    (tmp_path / "a").mkdir(mode=0o700)
    (tmp_path / "a").chmod(0o777)
    ledger = ledger_in(tmp_path / "a")

    assert ledger.find(key("c1")) is None
    assert ledger.take_failure() == (
        f"the folder {tmp_path}/a has mode 0777: others may write in it; "
        "look at what is inside, then run chmod 700 on it"
    )
    assert ledger.record([(key("c1"), verdict("c1"))], time_ns=1) == [verdict("c1")]
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o777


def epoch(anchor: bytes, **texts: str) -> EpochEntry:
    moves = {
        key(name): replace(verdict(name), text=text, age=1, fate="cleared")
        for name, text in texts.items()
    }
    return EpochEntry(anchor, "the window is filling up", moves, 7)


@pytest.mark.proves("H8", "H10")
def test_an_epoch_is_recorded_and_holds_in_other_processes(tmp_path):
    opened = epoch(b"anchor", a="short", b="\ud800")

    assert ledger_in(tmp_path).open_epoch(opened) == opened

    assert ledger_in(tmp_path).epochs({b"anchor", b"other"}) == [opened]
    assert ledger_in(tmp_path).epochs({b"other"}) == []


@pytest.mark.proves("H10", "P13")
def test_of_two_epochs_at_one_place_the_first_stands(tmp_path):
    one, two = ledger_in(tmp_path), ledger_in(tmp_path)
    first = one.open_epoch(epoch(b"anchor", a="first"))

    assert two.open_epoch(epoch(b"anchor", a="second")) == first
    assert one.epochs({b"anchor"}) == two.epochs({b"anchor"}) == [first]


def test_what_is_recorded_after_the_first_question_is_found_by_call_too(tmp_path):
    ours, theirs = ledger_in(tmp_path), ledger_in(tmp_path)
    assert ours.by_call("c1") == []
    ours.record([(key("c1"), verdict("c1", "ours"))], time_ns=1)
    theirs.record([(key("c1", digest=b"e"), verdict("c1", "theirs"))], time_ns=2)

    assert [entry.verdict.text for entry in ours.by_call("c1")] == ["ours", "theirs"]


def test_what_was_given_back_is_noted_once_and_found_by_others(tmp_path):
    ledger, other = ledger_in(tmp_path), ledger_in(tmp_path)

    ledger.note_read(ReadBack(1, "r_aaaaaaaaaaaa", 300))
    other.note_read(ReadBack(2, "r_aaaaaaaaaaaa", 40))

    both = [ReadBack(1, "r_aaaaaaaaaaaa", 300), ReadBack(2, "r_aaaaaaaaaaaa", 40)]
    assert ledger.reads() == both
    assert other.reads() == both
    assert ledger_in(tmp_path).reads() == both


def test_a_ledger_in_memory_notes_what_was_given_back():
    ledger = Ledger()
    ledger.note_read(ReadBack(1, "r_aaaaaaaaaaaa", 300))

    assert ledger.reads() == [ReadBack(1, "r_aaaaaaaaaaaa", 300)]
