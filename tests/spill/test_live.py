import pytest

from headgate.disk import Folder
from headgate.spill.live import BESIDE_NS, MOST_HISTORIES, NOTHING_SENT, Histories, Live, Sent

ONE, TWO = frozenset({"r_one"}), frozenset({"r_one", "r_two"})


@pytest.mark.proves("K4")
def test_a_history_takes_the_place_of_the_one_it_goes_on_from():
    first = NOTHING_SENT.after([b"a"], TWO, 1)
    second = first.after([b"a", b"b"], ONE, 2)

    assert second == Histories((Sent(b"b", 2, ONE, b"b"),), frozenset({"r_two"}))
    assert second.after([b"a", b"b", b"c"], TWO, 3) == Histories((Sent(b"c", 3, TWO, b"b"),))


@pytest.mark.proves("K4")
def test_a_history_whose_beginning_was_summed_up_takes_the_place_of_what_it_was():
    sent = NOTHING_SENT.after([b"0", b"a", b"b"], TWO, 1).after([b"0", b"sum", b"c"], ONE, 2)

    assert sent == Histories((Sent(b"c", 2, ONE, b"sum"),), frozenset({"r_two"}))


@pytest.mark.proves("K4")
def test_one_that_was_not_sent_for_long_while_another_was_goes_before_it():
    sent = NOTHING_SENT.after([b"0", b"a"], ONE, 1)
    sent = sent.after([b"0", b"sum"], frozenset({"r_new"}), 1 + BESIDE_NS)
    assert sent.is_live("r_one", since_ns=0)

    sent = sent.after([b"0", b"sum", b"on"], frozenset({"r_new"}), 2 + BESIDE_NS)
    assert not sent.is_live("r_one", since_ns=0)
    assert sent.is_live("r_new", since_ns=0)


@pytest.mark.proves("K4")
def test_a_fork_and_another_conversation_stand_beside_it():
    sent = NOTHING_SENT.after([b"0", b"a", b"b"], ONE, 1).after([b"0", b"a", b"x"], TWO, 2)
    sent = sent.after([b"0", b"other"], frozenset(), 3)

    assert [line.anchor for line in sent.sent] == [b"b", b"x", b"other"]
    assert (sent.used_ns("r_one"), sent.used_ns("r_two"), sent.used_ns("r_no")) == (2, 2, 0)


@pytest.mark.proves("K4")
def test_live_is_what_a_late_history_refers_to():
    sent = NOTHING_SENT.after([b"a"], TWO, 10).after([b"a", b"b"], ONE, 20)

    assert sent.is_live("r_one", since_ns=20)
    assert not sent.is_live("r_one", since_ns=21)
    assert not sent.is_live("r_two", since_ns=1), "it was dropped"
    assert not sent.is_live("r_new", since_ns=1)


@pytest.mark.proves("H9")
def test_a_history_knows_when_what_it_goes_on_from_was_sent():
    sent = NOTHING_SENT.after([b"a"], ONE, 10).after([b"a", b"b"], ONE, 20)

    assert sent.sent_ns([b"a", b"b", b"c"]) == 20
    assert sent.sent_ns([b"a", b"x"]) == 0


def test_no_more_histories_are_remembered_than_a_session_has():
    sent = NOTHING_SENT
    for i in range(MOST_HISTORIES + 1):
        sent = sent.after([b"%d" % i], frozenset({f"r_{i}"}), i)

    assert len(sent.sent) == MOST_HISTORIES
    assert sent.dropped == frozenset({"r_0"})
    assert sent.without({"r_0"}).dropped == frozenset()


def test_what_was_dropped_is_copied_only_where_it_changes():
    sent = NOTHING_SENT.after([b"a"], TWO, 1).after([b"a", b"b"], ONE, 2)
    on = sent.after([b"a", b"b", b"c"], frozenset({"r_one", "r_new"}), 3)

    assert on.dropped is sent.dropped
    assert on.after([b"a", b"b", b"c", b"d"], ONE, 4).dropped == {"r_two", "r_new"}


def test_what_another_wrote_is_read_again(tmp_path):
    ours, other = Live(Folder(tmp_path / "s")), Live(Folder(tmp_path / "s"))
    ours.write(NOTHING_SENT.after([b"a"], ONE, 1))
    assert ours.read() is ours.read()

    other.write(other.read().after([b"b"], TWO, 2))

    assert ours.read() == NOTHING_SENT.after([b"a"], ONE, 1).after([b"b"], TWO, 2)


def test_what_was_written_is_read_by_the_next(tmp_path):
    folder = Folder(tmp_path / "s")
    assert Live(folder).read() == NOTHING_SENT

    sent = NOTHING_SENT.after([b"a"], TWO, 1)
    Live(folder).write(sent)

    assert Live(Folder(tmp_path / "s")).read() == sent
    assert (tmp_path / "s" / "live").stat().st_mode & 0o777 == 0o600


def test_a_damaged_file_says_nothing(tmp_path):
    live = Live(Folder(tmp_path / "s"))
    live.write(NOTHING_SENT.after([b"a"], TWO, 1))
    (tmp_path / "s" / "live").write_bytes(b"\xff\0 no")

    assert live.read() == NOTHING_SENT
