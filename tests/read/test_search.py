import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import RequestError
from tests.read.originals import CHARS, LEAST, O200K, answers, ask, meters, original, parts

pytestmark = pytest.mark.proves("K6")

LOG = original(
    b"".join(
        b"line %d %s\n" % (number, b"ERROR" if number % 100 == 7 else b"ok")
        for number in range(1, 1_001)
    )
)


def numbers(body: str) -> list[int]:
    return [
        int(line.split(" ")[0].rstrip(":"))
        for line in body.split("\n")
        if re.match(r"\d+[ :]", line)
    ]


def test_matching_lines_have_their_numbers_and_a_little_around_them():
    assert ask(LOG, {"search": "line 7 error"}) == (
        "5- line 5 ok\n6- line 6 ok\n7: line 7 ERROR\n8- line 8 ok\n9- line 9 ok\n"
        "[1 place found in lines 1-1,000 of 1,000, case ignored; this is the end #k7q2]"
    )


def test_a_pattern_looks_through_colours_even_where_the_text_is_to_be_edited():
    kept = original(b"\ndef \x1b[31mneed\x1b[0mle():\n", exact=True)

    assert ask(kept, {"search": "needle"}) == (
        "1- \n2: def needle():\n"
        "[1 place found in lines 1-2 of 2, case ignored; this is the end #k7q2]"
    )


def test_what_is_around_gives_way_to_what_matches():
    body, end = parts(ask(LOG, {"search": "error"}, limit=450, meter=CHARS))

    assert body == "\n".join(f"{number}: line {number} ERROR" for number in range(7, 1_001, 100))
    assert end.startswith("[10 places found in lines 1-1,000 of 1,000, case ignored; this is")


def test_the_lines_to_look_in_can_be_said():
    body, end = parts(ask(LOG, {"search": "ERROR", "lines": "100-300"}, limit=1_000))

    assert numbers(body) == [107, 207]
    assert end == (
        "[2 places found in lines 100-300 of 1,000, case as written; "
        'read_result(ref="r_1f3a9c7be20d", search="ERROR", lines="301-") shows more #k7q2]'
    )


def test_no_match_says_where_was_looked_and_how():
    assert ask(LOG, {"search": "Error"}) == (
        "[nothing found in lines 1-1,000 of 1,000, case as written; this is the end #k7q2]"
    )


def test_a_bad_pattern_is_told_in_words():
    with pytest.raises(RequestError, match="missing \\): \\("):
        ask(LOG, {"search": "("})


def test_a_line_before_and_after_is_cut_where_it_is_long():
    kept = original(b"a" * 300 + b"\nneedle\n" + b"b" * 300 + b"\n")

    body, _ = parts(ask(kept, {"search": "needle"}))

    assert body == f"1- {'a' * 160}…\n2: needle\n3- {'b' * 160}…"


def test_lines_around_two_hits_are_shown_once():
    body, _ = parts(ask(original(b"a\nneedle\nb\nneedle\nc\n"), {"search": "needle"}))

    assert body == "1- a\n2: needle\n3- b\n4: needle\n5- c"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_is_searched_as_what_it_says(encoding):
    kept = original("\ufeffeins\nzwei ä\ndrei\n".encode(encoding))

    body, _ = parts(ask(kept, {"search": "zwei Ä".lower()}))

    assert body == "1- eins\n2: zwei ä\n3- drei"


def test_the_first_hit_is_shown_however_small_the_room():
    kept = original("日本語".encode() * 100 + b"needle" + "日本語".encode() * 100)

    body, _ = parts(ask(kept, {"search": "needle"}, limit=LEAST["tokens"], meter=O200K))

    assert "needle" in body


def test_a_long_pattern_leaves_room_for_what_it_finds():
    pattern = "|".join(f"needle{number}" for number in range(110))

    texts = list(answers(LOG, {"search": f"{pattern}|ERROR"}, limit=LEAST["tokens"]))

    assert [number for body, _ in texts for number in numbers(body)] == list(range(7, 1_001, 100))


@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 700), st.sampled_from("a中\x1b")), max_size=60
    ),
    meters,
    st.integers(0, 400),
)
def test_going_on_finds_every_line_once(rows, meter, more):
    lines = [("needle " if is_hit else "") + filler * length for is_hit, length, filler in rows]
    kept = original("\n".join(lines).encode())
    if not kept.length:
        return

    found = [
        number
        for body, _ in answers(
            kept, {"search": "needle"}, meter=meter, limit=LEAST[meter.unit] + more
        )
        for number in numbers(body)
    ]

    assert found == [number for number, line in enumerate(lines, 1) if "needle" in line]


def test_going_on_works_inside_one_long_line():
    data = b"".join(b'"key%d":"%s",' % (number, b"x" * 900) for number in range(300))
    kept = original(data)

    bodies = [body for body, _ in answers(kept, {"search": r'"key\d+"'}, limit=600)]

    assert len(bodies) > 20
    assert re.findall(r"key(\d+)", "".join(bodies)) == [str(number) for number in range(300)]


def test_going_on_after_the_time_was_up_finds_the_rest():
    kept = original((b"x" * 99 + b"\n") * 30_000 + b"needle\n", chunk_bytes=1 << 18)
    ticks = iter(range(10_000))

    bodies = [
        body
        for body, _ in answers(
            kept, {"search": "needle"}, clock=lambda: next(ticks) * 1_100_000_000
        )
    ]

    assert len(bodies) > 1
    assert [number for body in bodies for number in numbers(body)] == [30_001]


def test_a_search_that_stopped_inside_a_line_says_up_to_which_byte():
    kept = original(b"x" * 3_000_000, chunk_bytes=1 << 18)
    ticks = iter(range(10_000))

    _, end = parts("\n" + ask(kept, {"search": "y"}, clock=lambda: next(ticks) * 1_100_000_000))

    found = re.fullmatch(
        r"\[nothing found in bytes 0-([\d,]+) of 3,000,000, case ignored; "
        r'read_result\(ref="r_1f3a9c7be20d", search="y", bytes="(\d+)-"\) shows more #k7q2\]',
        end,
    )
    assert found is not None
    assert int(found[1].replace(",", "")) + 1 == int(found[2])
