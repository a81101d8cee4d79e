from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import RequestError
from tests.read.originals import CHARS, MARKER, answers, ask, original, parts

pytestmark = pytest.mark.proves("K6")

LINES = original(b"".join(b"line %d\n" % number for number in range(1, 1_001)))


def test_bytes_that_do_not_fit_go_on_up_to_the_last_that_was_asked_for():
    kept = original(b"x" * 9_000)

    body, end = parts(ask(kept, {"bytes": "10-4009"}, limit=500, meter=CHARS))

    assert f'bytes="{10 + len(body)}-4009") shows more' in end


def test_lines_are_counted_from_one_and_both_ends_are_shown():
    body, end = parts(ask(LINES, {"lines": "401-403"}))

    assert body == "line 401\nline 402\nline 403"
    assert end == (
        "[lines 401-403 of 1,000 shown; "
        'read_result(ref="r_1f3a9c7be20d", lines="404-406") shows more #k7q2]'
    )


def test_what_did_not_fit_of_a_range_is_asked_for_next():
    body, end = parts(ask(LINES, {"lines": "401-800"}, limit=500, meter=CHARS))

    last = 400 + len(body.split("\n"))
    assert body.startswith("line 401\nline 402\n")
    assert body.endswith(f"line {last}")
    assert f"[lines 401-{last} of 1,000 shown; " in end
    assert f'lines="{last + 1}-800"' in end


def test_from_a_line_on_goes_to_the_end():
    assert ask(LINES, {"lines": "998-"}) == (
        "line 998\nline 999\nline 1000\n[lines 998-1,000 of 1,000 shown; this is the end #k7q2]"
    )


def test_the_last_lines_are_told_what_is_before_them():
    assert ask(LINES, {"lines": "-2"}) == (
        "line 999\nline 1000\n[lines 999-1,000 of 1,000 shown; "
        'read_result(ref="r_1f3a9c7be20d", lines="997-998") shows more #k7q2]'
    )


def test_of_too_many_last_lines_the_last_are_shown():
    body, end = parts(ask(LINES, {"lines": "-900"}, limit=500, meter=CHARS))

    shown = body.split("\n")
    first = 1_001 - len(shown)
    assert shown == [f"line {number}" for number in range(first, 1_001)]
    assert len(shown) > 30
    assert f'lines="{first - 900 if first > 900 else 1}-{first - 1}"' in end


@given(st.lists(st.integers(0, 200), min_size=1, max_size=40), st.integers(1, 50))
def test_the_last_lines_end_with_the_last_line(lengths, count):
    data = b"".join(
        b"%d " % number + b"x" * length + b"\n" for number, length in enumerate(lengths)
    )

    body, _ = parts(ask(original(data), {"lines": f"-{count}"}, limit=448, meter=CHARS))

    expected = data.decode().removesuffix("\n").split("\n")[-count:]
    assert expected[-len(body.split("\n")) :] == body.split("\n")


def test_a_last_line_that_is_too_long_is_begun():
    kept = original(b"short\n" + b"x" * 5_000)

    body, end = parts(ask(kept, {"lines": "-1"}, limit=500, meter=CHARS))

    assert body == "x" * len(body)
    assert f'bytes="{6 + len(body)}-"' in end


def test_one_line_and_the_next():
    assert ask(LINES, {"lines": 7}) == (
        'line 7\n[line 7 of 1,000 shown; read_result(ref="r_1f3a9c7be20d", lines="8") '
        "shows more #k7q2]"
    )


def test_a_missing_line_end_is_told():
    assert ask(original(b"a\nb"), {"lines": "2"}) == (
        "b\n[line 2 of 2 shown, no line end after it; this is the end #k7q2]"
    )


def test_a_line_that_does_not_fit_goes_on_by_bytes_to_the_end_that_was_asked_for():
    kept = original(b"x" * 3_000 + b"\nsecond\nthird\n")

    (first, end), *others = answers(kept, {"lines": "1-2"}, limit=900, meter=CHARS)

    assert end.startswith(f"[bytes 0-{len(first) - 1} of 3,014 shown, from line 1; ")
    assert f'bytes="{len(first)}-3007"' in end
    shown = [first, *(body for body, _ in others)]
    assert "".join(shown).replace("\n", "") == "x" * 3_000 + "second" + "third"


@pytest.mark.parametrize("name", ["lines", "bytes"])
def test_beyond_the_end_the_reader_is_told_how_much_there_is(name):
    with pytest.raises(RequestError) as raised:
        ask(original(b"a\nb\n"), {name: "500-600"})

    total = {"lines": 2, "bytes": 4}[name]
    assert str(raised.value) == (
        f'{name} from 500 on were asked for; there are {total}: {name}="-50" shows the last'
    )


def test_a_range_that_ends_beyond_the_end_is_shown_as_far_as_it_goes():
    assert ask(original(b"a\nb\n"), {"lines": "2-99"}).startswith("b\n[line 2 of 2 shown; this is")
    assert ask(original(b"a\nb\n"), {"lines": "-99"}).startswith("a\nb\n[lines 1-2 of 2 shown; ")


def test_bytes_are_counted_from_zero_and_both_ends_are_shown():
    assert ask(original(b"0123456789\nabc\n"), {"bytes": "2-5"}) == (
        "2345\n[bytes 2-5 of 15 shown, from line 1; "
        'read_result(ref="r_1f3a9c7be20d", bytes="6-") shows more #k7q2]'
    )


def test_after_bytes_that_end_a_line_it_goes_on_by_lines():
    _, end = parts(ask(original(b"0123456789\nabc\ndef\n"), {"bytes": "2-10"}))

    assert 'lines="2-"' in end


def test_bytes_move_to_whole_characters_and_say_so():
    kept = original("aé日b".encode())

    assert ask(kept, {"bytes": "2-4"}) == (
        "é\n[bytes 1-2 of 7 shown, from line 1, moved to whole characters; "
        'read_result(ref="r_1f3a9c7be20d", bytes="3-") shows more #k7q2]'
    )


def test_a_byte_inside_a_character_shows_the_character():
    body, _ = parts(ask(original("aé日b".encode()), {"bytes": "4"}))

    assert body == "日"


def test_the_last_bytes_are_shown():
    body, _ = parts(ask(original(b"0123456789"), {"bytes": "-4"}))

    assert body == "6789"


@given(st.text(alphabet="aé日👩\n", min_size=1, max_size=60), st.data())
def test_two_byte_ranges_that_touch_share_and_miss_nothing(text, data):
    kept = original(text.encode())
    border = data.draw(st.integers(1, kept.length))
    ranges = [f"0-{border - 1}", f"{border}-"] if border < kept.length else [f"0-{border - 1}"]

    shown = [ask(kept, {"bytes": each}).rpartition("[")[0] for each in ranges]

    whole = "".join(shown)
    assert whole.replace("\n", "") == text.replace("\n", "") or len(text[:1].encode()) > border


@pytest.mark.proves("K4")
def test_the_last_lines_that_are_kept_are_not_taken_for_the_last_there_were():
    kept = original(b"one\ntwo\nthree\nfo")
    marker = replace(MARKER, kept="partly", kept_bytes=16)

    assert ask(kept, {"lines": "-2"}, marker=marker) == (
        "three\nfo\n[lines 3-4 of 4 shown, no line end after it, kept up to byte 16, nothing after "
        'it; read_result(ref="r_1f3a9c7be20d", lines="1-2") shows more #k7q2]'
    )
