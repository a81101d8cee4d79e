"""Counts that flatter nobody: first sending, later reading, and what was read back."""

from headgate.economy import Prices
from headgate.history.mending import MADE
from headgate.ledger import Entry, EpochEntry, Key, ReadBack
from headgate.stats import Count, counted, total
from headgate.types import Size, Verdict

PRICES = Prices(write=1.25, read=0.1)


def entry(
    call_id,
    before,
    after,
    *,
    time_ns,
    tool="grep",
    fate="spilled",
    ref="r_a",
    limit_by="policy",
    sha256="00",
):
    sizes = [Size(tokens, tokens, tokens, 1) for tokens in (before, after)]
    verdict = Verdict(
        call_id, tool, fate, "log", *sizes, "text", ref, None, limit_by, "", sha256, "o200k"
    )
    return Entry(Key(b"", call_id, b""), verdict, time_ns)


def test_what_was_kept_out_is_counted_by_tool():
    entries = [
        entry("1", 5_000, 1_000, time_ns=1),
        entry("2", 300, 300, time_ns=2, tool="read", fate="whole", ref=None),
    ]

    counts = counted(entries, [], [], PRICES)

    assert (counts["grep"].results, counts["grep"].kept_out) == (1, 4_000)
    assert (counts["read"].shortened, counts["read"].kept_out) == (0, 0)
    assert total(counts.values()).by_fate == {"spilled": 1, "whole": 1}


def test_a_token_is_worth_its_first_sending_and_each_certain_reading_after():
    entries = [
        entry("1", 5_000, 1_000, time_ns=1),
        entry("2", 10, 10, time_ns=2),
        entry("3", 10, 10, time_ns=3),
    ]

    counts = counted(entries, [], [], PRICES)

    assert counts["grep"].worth == 4_000 * (1.25 + 2 * 0.1)


def test_what_no_window_holds_would_not_have_been_paid_for():
    counts = counted([entry("1", 69_000_000, 1_000, time_ns=1)], [], [], PRICES)

    assert counts["grep"].kept_out == 68_999_000
    assert counts["grep"].worth == 199_000 * 1.25


def test_results_of_one_batch_are_one_request():
    entries = [entry("1", 1_000, 0, time_ns=1), entry("2", 0, 0, time_ns=5)]
    entries += [entry(f"{n}", 0, 0, time_ns=5, tool="ls") for n in range(3, 9)]

    assert counted(entries, [], [], PRICES)["grep"].worth == 1_000 * (1.25 + 0.1)


def test_what_was_read_back_is_subtracted_from_its_tool():
    entries = [
        entry("1", 5_000, 1_000, time_ns=1),
        entry("2", 10, 10, time_ns=9, tool="ls", ref="r_b"),
    ]

    counts = counted(entries, [], [ReadBack(5, "r_a", 1_500)], PRICES)

    assert counts["grep"].read_back == 1_500
    assert counts["grep"].kept_out == 2_500
    assert counts["grep"].worth == 4_000 * (1.25 + 0.1) - 1_500 * (1.25 + 0.1)


def test_more_read_back_than_kept_out_is_a_loss():
    counts = counted([entry("1", 5_000, 1_000, time_ns=1)], [], [ReadBack(2, "r_a", 9_000)], PRICES)

    assert counts["grep"].kept_out == -5_000
    assert counts["grep"].worth < 0


def test_a_result_that_was_read_back_is_not_counted_as_one_more():
    again = entry("2", 800, 800, time_ns=2, limit_by="read back: never spilled again")

    assert (
        counted([entry("1", 5_000, 1_000, time_ns=1), again], [], [], PRICES)["grep"].results == 1
    )


def test_what_repair_made_up_for_a_missing_result_is_no_result_of_a_tool():
    made = entry("2", 37, 37, time_ns=2, fate="whole", ref=None, sha256=next(iter(MADE)))

    counts = counted([entry("1", 5_000, 1_000, time_ns=1), made], [], [], PRICES)

    assert counts["grep"].results == 1


def test_ageing_saves_only_what_is_read_after_it():
    first = entry("1", 5_000, 1_000, time_ns=1)
    aged = entry("1", 5_000, 100, time_ns=1).verdict
    epoch = EpochEntry(b"", "old", {first.key: aged}, 5)
    later = [entry("2", 0, 0, time_ns=6, tool="ls"), entry("3", 0, 0, time_ns=7, tool="ls")]

    counts = counted([first, *later], [epoch], [], PRICES)

    assert counts["grep"].aged == 900
    assert counts["grep"].kept_out == 4_900
    assert counts["grep"].worth == 4_000 * (1.25 + 2 * 0.1) + 900 * 2 * 0.1


def test_a_result_that_moved_down_is_counted_as_what_it_is_now():
    first = entry("1", 900, 900, time_ns=1, fate="whole", ref=None)
    ends = entry("1", 900, 300, time_ns=1, fate="spilled").verdict
    line = entry("1", 900, 20, time_ns=1, fate="cleared").verdict
    epochs = [
        EpochEntry(b"b", "old", {first.key: line}, 7),
        EpochEntry(b"a", "", {first.key: ends}, 5),
    ]

    count = counted([first], epochs, [], PRICES)["grep"]

    assert (count.results, count.by_fate, count.aged) == (1, {"cleared": 1}, 880)


def test_what_is_read_back_of_an_old_result_is_subtracted_from_its_tool():
    first = entry("1", 900, 900, time_ns=1, fate="whole", ref=None)
    aged = entry("1", 900, 20, time_ns=1, fate="cleared", ref="r_old").verdict
    epoch = EpochEntry(b"", "old", {first.key: aged}, 5)

    counts = counted([first], [epoch], [ReadBack(6, "r_old", 400)], PRICES)

    assert counts.keys() == {"grep"}
    assert counts["grep"].read_back == 400


def test_only_what_came_since_is_counted():
    entries = [entry("1", 5_000, 1_000, time_ns=1), entry("2", 700, 100, time_ns=9)]

    counts = counted(entries, [], [ReadBack(2, "r_a", 50)], PRICES, since_ns=5)

    assert (counts["grep"].results, counts["grep"].kept_out) == (1, 600)


def test_nothing_counted_is_nothing():
    assert total([]) == Count()
