"""P12: a ledger cut or zeroed at any byte yields its longest valid prefix, and a report."""

from pathlib import Path

import pytest

from headgate.disk import Folder
from headgate.journal import FRAME, HEADER, Journal
from headgate.ledger import Ledger
from tests.spill.keeping import key, verdict

CALLS = ["c1", "c2", "c3", "c4"]


def ledger_in(folder: Path) -> Ledger:
    return Ledger(Journal(Folder(folder) / "ledger"))


@pytest.fixture
def content(tmp_path) -> bytes:
    """A ledger of four verdicts, each recorded on its own."""
    ledger = ledger_in(tmp_path / "whole")
    for call_id in CALLS:
        ledger.record([(key(call_id), verdict(call_id, f"text of {call_id}"))], time_ns=1)
    return (tmp_path / "whole" / "ledger").read_bytes()


def ends_of(content: bytes) -> list[int]:
    """Where the header ends, and each record."""
    ends = [len(HEADER)]
    while ends[-1] < len(content):
        ends.append(ends[-1] + FRAME.size + FRAME.unpack_from(content, ends[-1])[0])
    return ends


def check(folder: Path, damaged: bytes, at: int, ends: list[int]) -> None:
    """The ledger keeps what ends at or before byte `at`, reports the rest, and goes on."""
    whole = max(sum(end <= at for end in ends) - 1, 0)
    end = ends[whole] if at >= ends[0] else 0
    folder.mkdir(mode=0o700)
    (folder / "ledger").write_bytes(damaged)

    ledger = ledger_in(folder)
    kept = [(entry.key.call_id, entry.verdict.text) for entry in ledger]
    assert kept == [(call_id, f"text of {call_id}") for call_id in CALLS[:whole]]
    reports = [(repair.lost_bytes, repair.kept_records) for repair in ledger.take_repairs()]
    aside = [path.read_bytes() for path in folder.glob("ledger.damaged-*")]
    if len(damaged) == end > 0:
        assert (reports, aside) == ([], [])
    else:
        assert reports == [(len(damaged) - end, whole)]
        assert aside == ([damaged[end:]] if damaged[end:] else [])

    ledger.record([(key("new"), verdict("new"))], time_ns=2)
    found = ledger_in(folder)
    assert [entry.key.call_id for entry in found] == [*CALLS[:whole], "new"]
    assert found.take_repairs() == []


@pytest.mark.proves("P12", "H8")
def test_a_ledger_cut_at_any_byte_keeps_what_stands_before_the_cut(tmp_path, content):
    ends = ends_of(content)
    assert len(ends) == 5
    for cut in range(len(content) + 1):
        check(tmp_path / str(cut), content[:cut], cut, ends)


@pytest.mark.proves("P12")
def test_a_ledger_with_any_byte_zeroed_keeps_what_stands_before_it(tmp_path, content):
    ends = ends_of(content)
    for at in range(len(content)):
        if content[at]:
            check(tmp_path / str(at), content[:at] + b"\0" + content[at + 1 :], at, ends)


@pytest.mark.proves("P12")
@pytest.mark.parametrize("block", [16, 64, 512])
def test_a_ledger_with_any_block_zeroed_keeps_what_stands_before_it(tmp_path, content, block):
    ends = ends_of(content)
    for at in range(0, len(content), block):
        zeroed = content[:at] + b"\0" * len(content[at : at + block]) + content[at + block :]
        first = next(i for i in range(at, len(content)) if zeroed[i] != content[i])
        check(tmp_path / str(at), zeroed, first, ends)


@pytest.mark.proves("P12")
def test_a_ledger_zeroed_from_any_byte_on_keeps_what_stands_before_it(tmp_path, content):
    ends = ends_of(content)
    for at in range(0, len(content), 7):
        first = next(i for i in range(at, len(content)) if content[i])
        check(tmp_path / str(at), content[:at].ljust(len(content), b"\0"), first, ends)


@pytest.mark.proves("P12")
def test_two_processes_that_find_the_damage_together_repair_it_once(tmp_path, content):
    (tmp_path / "ledger").write_bytes(content + b"torn")
    ours, theirs = ledger_in(tmp_path), ledger_in(tmp_path)

    assert len(ours) == len(theirs) == 4
    assert [len(ours.take_repairs()), len(theirs.take_repairs())] == [1, 0]
    assert len(list(tmp_path.glob("ledger.damaged-*"))) == 1
