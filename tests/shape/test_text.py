import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.shape import Room, Source
from headgate.shape.text import head, head_tail, shape_error, shape_text, tail
from headgate.types import NO_QUERY, Query

O200K = meter_for("o200k", "tokens")
CL100K = meter_for("cl100k", "tokens")
CHARS = meter_for("o200k", "chars")
MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")
GAP = re.compile(r"\[lines? (\d+)(?:-(\d+))? omitted #k7q2\]")
MAIN = re.compile(r"\[([\d,]+) of ([\d,]+) lines omitted, .*#k7q2\]")


def source(text: str, kind="log") -> Source:
    data = text.encode()
    return Source(data, kind, O200K.estimate(data), data.count(b"\n") + 1)


def shaped(text: str, limit: int, how=shape_text, kind="log", query=NO_QUERY, meter=O200K) -> str:
    return how(source(text, kind), Room(limit, meter), query, MARKER).text


def log(count: int, **odd: str) -> str:
    lines = [f"2026-11-15 10:00:{i % 60:02} INFO worker {i} is fine" for i in range(1, count + 1)]
    for number, line in odd.items():
        lines[int(number.removeprefix("n")) - 1] = line
    return "\n".join(lines)


nasty = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=400, max_size=3_000)
linewise = st.lists(st.text(max_size=120), min_size=30, max_size=200).map("\n".join)
runs = st.tuples(st.sampled_from(" a=\n\t中👩‍👧é{"), st.integers(2_000, 20_000)).map(
    lambda run: run[0] * run[1]
)
hows = st.sampled_from([shape_text, shape_error, head, tail, head_tail])


@pytest.mark.proves("R10", "P2", "0.6")
@given(nasty | linewise | runs, st.integers(128, 700), hows, st.sampled_from([O200K, CL100K]))
def test_what_is_shown_never_exceeds_its_limit(text, limit, how, meter):
    text = text.encode("utf-8", "replace").decode()

    assert meter.count(shaped(text, limit, how=how, meter=meter)) <= limit


@pytest.mark.proves("R10", "P2", "0.6")
@given(nasty | linewise | runs, st.integers(512, 2_000), hows)
def test_a_limit_in_characters_holds_too(text, limit, how):
    text = text.encode("utf-8", "replace").decode()

    assert len(shaped(text, limit, how=how, meter=CHARS)) <= limit


@pytest.mark.proves("S1")
def test_the_head_is_whole_lines_from_the_start():
    text = shaped(log(3_000), 500, how=head)

    first, *lines, last = text.split("\n")
    assert MAIN.fullmatch(first)
    assert lines == log(3_000).split("\n")[: len(lines)]
    assert GAP.fullmatch(last).groups() == (str(len(lines) + 1), "3000")


@pytest.mark.proves("S1")
def test_the_tail_is_whole_lines_up_to_the_end():
    text = shaped(log(3_000), 500, how=tail)

    _, gap, *lines = text.split("\n")
    assert lines == log(3_000).split("\n")[-len(lines) :]
    assert GAP.fullmatch(gap).groups() == ("1", str(3_000 - len(lines)))


@pytest.mark.proves("S1", "S2")
def test_head_and_tail_share_evenly():
    text = shaped(log(3_000), 1_000, how=head_tail)

    before, after = re.split(GAP, text, maxsplit=1)[0], text.rsplit("#k7q2]", 1)[1]
    assert 0.7 < len(before) / len(after) < 1.4


@pytest.mark.proves("S2", "R11")
def test_an_error_leans_to_its_tail():
    text = shaped(log(3_000), 1_000, how=shape_error)

    before, after = text.split(GAP.search(text)[0])
    assert len(after) > 2 * len(before)


@pytest.mark.proves("S1")
def test_one_line_longer_than_the_room_is_cut_inside_and_characters_are_counted():
    text = shaped("x" * 50_000, 200, kind="prose")

    main, line = text.split("\n")
    assert re.fullmatch(
        r"\[[\d,]+ of 50,000 chars omitted, .*bytes=\"\d+-\"\) shows more #k7q2\]", main
    )
    hidden = int(re.search(r"\[([\d,]+) chars omitted #k7q2\]", line)[1].replace(",", ""))
    assert line.count("x") + hidden == 50_000


@pytest.mark.proves("S4")
def test_an_error_in_the_middle_survives_with_what_led_to_it():
    odd = {"n1500": "ERROR: replica lag 9321ms exceeded SLO", "n1499": "checking replica eu-3"}

    text = shaped(log(3_000, **odd), 600)

    assert "checking replica eu-3\nERROR: replica lag 9321ms exceeded SLO" in text


@pytest.mark.proves("S4")
def test_a_traceback_in_the_middle_stays_together():
    trace = (
        'Traceback (most recent call last):\n  File "a.py", line 4, in run\n    go()\n'
        '  File "b.py", line 9, in go\n    raise KeyError("ledger")\nKeyError: \'ledger\''
    )
    lines = log(2_000).split("\n")
    lines[1_000:1_000] = trace.split("\n")

    assert trace in shaped("\n".join(lines), 800)


@pytest.mark.proves("S4")
def test_what_the_query_points_at_survives():
    text = log(3_000, n1500="2026-11-15 10:00:00 INFO worker 77 holds the ledger-lock")

    assert "ledger-lock" in shaped(text, 500, query=Query(("ledger-lock",)))


@pytest.mark.proves("S4")
def test_one_error_fifty_times_does_not_hide_another():
    odd = {f"n{i}": f"ERROR: disk {i} is full" for i in range(500, 1_000, 10)}

    text = shaped(log(3_000, **odd, n2000="ERROR: certificate has expired"), 500)

    assert "certificate has expired" in text


@pytest.mark.proves("S4", "R15")
@given(linewise, st.integers(200, 900))
def test_lines_keep_their_order_and_every_gap_is_told(text, limit):
    text = "\n".join(line.replace("\n", " ") + "." for line in text.split("\n") * 8)
    text = text.encode("utf-8", "replace").decode()
    lines = text.split("\n")
    shown = shaped(text, limit, kind="prose").split("\n")
    if shown == lines:
        return
    number = 1
    for line in shown:
        gap, main = GAP.fullmatch(line), MAIN.fullmatch(line)
        if gap:
            assert int(gap[1]) == number
            number = int(gap[2] or gap[1]) + 1
        elif main and line is not shown[0]:
            number += int(main[1].replace(",", "")) - _told_elsewhere(shown)
        elif not main and "chars omitted #k7q2]" not in line:
            assert line == lines[number - 1]
            number += 1
        elif not main:
            number += 1
    assert number == len(lines) + 1


def _told_elsewhere(shown: list[str]) -> int:
    gaps = [gap for line in shown if (gap := GAP.fullmatch(line))]
    return sum(int(gap[2] or gap[1]) - int(gap[1]) + 1 for gap in gaps)


@pytest.mark.proves("R15")
def test_the_marker_stands_at_the_head_when_much_is_missing():
    assert MAIN.match(shaped(log(3_000), 500))


@pytest.mark.proves("R15")
def test_the_marker_stands_at_the_gap_when_little_is_missing():
    lines = shaped(log(60), 900, how=head_tail).split("\n")

    assert not MAIN.fullmatch(lines[0])
    assert sum(bool(MAIN.fullmatch(line)) for line in lines) == 1


@pytest.mark.proves("S8")
@pytest.mark.parametrize("limit", [128, 200, 500, 1_000, 4_000, 8_000])
@pytest.mark.parametrize("kind", ["log", "build", "prose", "code", "search"])
def test_the_room_is_used(limit, kind):
    odd = {"n1500": "ERROR: broken", "n77": "warning: odd"}
    size = O200K.count(shaped(log(3_000, **odd), limit, kind=kind))

    assert size >= 0.9 * limit or limit <= 200


@pytest.mark.proves("S9")
@given(linewise, st.integers(200, 500))
def test_shaping_twice_gives_the_same(text, limit):
    text = text.encode("utf-8", "replace").decode()

    assert shaped(text, limit) == shaped(text, limit)


@pytest.mark.proves("S1")
def test_a_giant_line_between_short_ones_is_shown_at_its_ends():
    text = shaped("header\n" + "x" * 2_000_000 + "\nfooter", 300, kind="prose")

    assert "header" in text
    assert text.endswith("footer")
    assert O200K.count(text) >= 0.9 * 300


@pytest.mark.proves("S4")
@pytest.mark.parametrize("words", [50, 150, 400, 1_500])
@pytest.mark.parametrize("limit", [500, 1_000, 4_000])
def test_of_a_long_line_the_part_that_says_what_went_wrong_is_shown(words, limit):
    before = " ".join(f"before{i}" for i in range(words))
    after = " ".join(f"after{i}" for i in range(words))
    long = f"{before} FATAL error: disk full {after}"
    lines = [*(f"cc -c f{i}.c" for i in range(900)), long, *(f"cc -c g{i}.c" for i in range(900))]
    shown = shaped("\n".join([*lines, "make: *** [all] Error 2"]), limit)
    [line] = [line for line in shown.split("\n") if "FATAL error: disk full" in line]
    begin, _, end = line.partition("FATAL error: disk full")
    hidden = re.findall(r"\[([\d,]+) chars omitted #k7q2\]", line)

    assert O200K.count(shown) <= limit
    if begin != before + " ":
        assert re.match(r"\[[\d,]+ chars omitted #k7q2\]before\d+ ", begin)
    if end != " " + after:
        assert re.search(r" after\d+.*\[[\d,]+ chars omitted #k7q2\]$", end)
    bare = re.sub(r"\[[\d,]+ chars omitted #k7q2\]", "", line)
    assert sum(int(n.replace(",", "")) for n in hidden) + len(bare) == len(long)


@pytest.mark.proves("S4")
@pytest.mark.parametrize("around", [300, 9_000])
def test_what_is_hidden_of_a_long_line_is_counted_in_characters(around):
    long = f"{'é' * 900} FATAL error: disk full {'ü' * 900}"
    lines = [f"cc -c f{i}.c" for i in range(around)]
    lines = [*lines, long, *lines]
    shown = shaped("\n".join(lines), 600)
    [line] = [line for line in shown.split("\n") if "FATAL error: disk full" in line]
    before, part, after = re.fullmatch(
        r"\[([\d,]+) chars omitted #k7q2\](.*)\[([\d,]+) chars omitted #k7q2\]", line
    ).groups()

    assert int(before.replace(",", "")) == long.index(part)
    assert int(after.replace(",", "")) == len(long) - long.index(part) - len(part)


GIANT = "".join(f"<{n}é>" for n in range(30_000))
INSIDE = re.compile(r"\[([\d,]+) chars omitted #k7q2\]")


@pytest.mark.proves("S1", "R15")
@pytest.mark.parametrize("how", [head, tail, head_tail, shape_error, shape_text])
@pytest.mark.parametrize(
    "text",
    [GIANT, "中" * 60_000, f"{GIANT}\n{GIANT}", f"a\n{GIANT}\nb\n{GIANT}\nc", f"{GIANT}\n" * 3],
)
def test_a_giant_line_is_shown_by_its_true_ends_with_what_is_hidden_counted(how, text):
    whole = text.split("\n")
    rows = [row for row in shaped(text, 200, how=how).split("\n") if INSIDE.search(row)]

    assert rows
    for row in rows:
        begin, hidden, end = INSIDE.split(row)
        length = len(begin) + int(hidden.replace(",", "")) + len(end)
        assert any(
            (line.startswith(begin), line.endswith(end), len(line)) == (True, True, length)
            for line in whole
        )


@pytest.mark.proves("S1", "R11")
@pytest.mark.parametrize("how", [tail, head_tail, shape_error])
def test_the_end_of_a_text_is_kept_though_its_last_lines_are_giants(how):
    assert shaped(f"{GIANT}\n{GIANT}", 300, how=how).endswith("<29998é><29999é>")


@pytest.mark.proves("S2")
def test_of_the_screen_of_an_agent_the_newest_words_are_shown():
    said = "".join(f"• Step {n} failed with an error, trying again\n" for n in range(300))
    screen = f"{said}• All done, see commit 8101103.\n\n› Write tests\n\n  model · Context 86% used"

    shown = shaped(screen, 200).split("\n")

    assert MAIN.fullmatch(shown[0])
    assert shown[2:] == screen.split("\n")[2 - len(shown) :]


@pytest.mark.proves("S1", "S8")
@pytest.mark.parametrize("how", [head, tail, head_tail, shape_text, shape_error])
@pytest.mark.parametrize("limit", [9_000, 12_000, 20_000, 70_000])
@pytest.mark.parametrize("text", ["\u4e2d\u6587" * 60_000, "ab" * 90_000, "\u00e9" * 90_000])
def test_of_one_giant_line_as_much_is_shown_as_there_is_room_for(how, limit, text):
    source = Source(text.encode(), "prose", len(text), 1)

    shown = how(source, Room(limit, CHARS), NO_QUERY, MARKER).text

    assert 0.9 * limit <= len(shown) <= limit


def test_no_blank_line_stands_alone_between_two_gaps():
    for seed in range(100):
        dice = random.Random(seed)
        said = ["", "", "x" * dice.randint(60, 300), "ERROR no " + "z" * dice.randint(0, 250)]
        lines = [dice.choice(said) if dice.random() < 0.5 else f"step {n}" for n in range(200)]
        shown = shaped("\n".join(lines), dice.choice([150, 200, 300])).split("\n")

        alone = [
            line == "" and GAP.match(before) and GAP.match(after)
            for before, line, after in zip(shown, shown[1:], shown[2:], strict=False)
        ]
        assert not any(alone)


@pytest.mark.proves("S8")
@pytest.mark.parametrize(("seed", "limit"), [(170, 600), (359, 1_000), (72, 1_000), (225, 2_000)])
def test_what_a_line_leaves_that_was_dropped_is_spent_on_others(seed, limit):
    dice = random.Random(seed)
    # A line of signs takes four times the tokens that its length tells.
    lines = [
        "✓→" * dice.randint(60, 115)
        if dice.random() < 0.15
        else f"got the page {n} of the list of pages that are to be had"
        for n in range(300)
    ]
    text = "\n".join([*lines, 'The command "check" exited with 1.', "Done."])

    assert O200K.count(shaped(text, limit, kind="build")) >= 0.9 * limit
