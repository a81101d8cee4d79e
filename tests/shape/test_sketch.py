import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.sketch import PIECE_BYTES, Sketcher, ends_of, pieces, sketch_of
from headgate.types import NO_QUERY, Query

words = st.sampled_from(["ok", "error: x", "warning y", "", "café 中", "  indented"])
texts = st.lists(words, max_size=80).map(lambda lines: "\n".join(lines).encode())


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % i for i in range(1, count + 1))


@given(texts)
def test_a_small_text_is_kept_whole(data):
    sketch = sketch_of(data, 16_384, NO_QUERY)

    assert (sketch.head, sketch.tail) == (data, b"")
    assert sketch.chars == len(data.decode())
    assert sketch.lines == len(data.decode().removesuffix("\n").split("\n")) if data else True


@given(texts, st.integers(min_value=1, max_value=200))
def test_only_the_ends_of_a_large_text_are_kept(data, end_bytes):
    sketch = sketch_of(data, end_bytes, NO_QUERY)

    if len(data) > 2 * end_bytes:
        assert (sketch.head, sketch.tail) == (data[:end_bytes], data[-end_bytes:])
    assert ends_of(data, end_bytes).lines == sketch.lines
    assert ends_of(data, end_bytes).open_chars == sketch.open_chars or not sketch.tail


@given(texts, st.integers(min_value=1, max_value=200), st.integers(min_value=1, max_value=40))
def test_how_much_of_its_line_stands_before_the_tail_is_known(data, end_bytes, piece):
    sketcher = Sketcher(end_bytes, NO_QUERY)
    for at in range(0, len(data), piece):
        sketcher.feed(data[at : at + piece])
    sketch = sketcher.close()

    if sketch.tail:
        line = data[:-end_bytes].split(b"\n")[-1]
        assert sketch.close_chars == len(line.decode(errors="replace"))
        assert ends_of(data, end_bytes).close_chars == sketch.close_chars


@given(texts)
def test_pieces_put_together_are_the_text(data):
    assert b"".join(pieces(data)) == data


def test_pieces_of_a_large_text_end_at_line_ends():
    data = numbered(400_000)

    cut = list(pieces(data))

    assert b"".join(cut) == data
    assert len(cut) > 2
    assert all(piece.endswith(b"\n") and len(piece) <= PIECE_BYTES for piece in cut)


@pytest.mark.proves("S4")
def test_a_line_that_stands_out_is_found_with_its_number_in_any_piece():
    lines = [b"fine %d" % i for i in range(300_000)]
    lines[123] = b"error: early"
    lines[299_000] = b"error: late"

    found = sketch_of(b"\n".join(lines), 16_384, NO_QUERY).found

    assert found[124].data == b"error: early"
    assert found[299_001].data == b"error: late"
    assert (found[124].before, found[124].after) != (b"", b"")


@pytest.mark.proves("S4")
def test_what_the_query_points_at_is_found():
    data = numbered(5_000).replace(b"line 2500\n", b"line about Zebras\n")

    found = sketch_of(data, 16_384, Query(("zebras",))).found

    assert found[2_500].data == b"line about Zebras"


@pytest.mark.proves("S4")
def test_a_line_unlike_all_others_is_found():
    data = numbered(5_000).replace(b"line 2500\n", b"/usr/lib/.hidden/cryptominer.so\n")

    assert 2_500 in sketch_of(data, 16_384, NO_QUERY).found


@pytest.mark.proves("S4")
def test_the_second_line_of_one_form_is_worth_less():
    found = sketch_of(b"error: disk 1\nok\nerror: disk 2\n", 16_384, NO_QUERY).found

    assert found[1].score > 2 * found[3].score


@pytest.mark.proves("S4")
def test_lines_that_begin_with_the_same_words_lose_weight_too():
    names = ["one", "two", "three", "four"]
    apart = "".join(f"[pipeline] {name} failed in npm\n" for name in names)
    alike = "".join(f"[pipeline] npm failed in {name}\n" for name in names)
    last = [sketch_of(text.encode(), 4_000, NO_QUERY).found[4].score for text in (apart, alike)]

    assert last[1] == pytest.approx(last[0] / 4**0.12)


@pytest.mark.proves("S4")
def test_lines_that_begin_alike_lose_weight_slowly():
    names = ["one", "two", "three", "four"]
    text = "".join(f"FAILED tests/test_{name}.py\nok\n" for name in names)
    found = sketch_of((text + "E   TypeError: unhashable").encode(), 16_384, NO_QUERY).found
    scores = [found[number].score for number in (1, 3, 5, 7)]

    assert scores == sorted(scores, reverse=True)
    assert scores[3] == scores[0] / 4**0.25
    assert found[9].score == 7


@pytest.mark.proves("P24")
def test_memory_is_bounded_however_many_lines_stand_out():
    sketcher = Sketcher(1_000, NO_QUERY)
    for start in range(0, 200_000, 20_000):
        sketcher.feed(
            b"".join(b"error: %d %x\n" % (i, i * 7) for i in range(start, start + 20_000))
        )

    sketch = sketcher.close()

    assert sketch.lines == 200_000
    assert len(sketch.found) < 5_000
    assert len(sketch.head) + len(sketch.tail) <= 2_000


@pytest.mark.proves("S4")
def test_a_bad_end_is_none_where_the_output_stands_below_it():
    below = b"  exit code: 1\n  [1 lines of output]\n    error: use_2to3 is invalid\n"
    above = b"error: use_2to3 is invalid\nexit code: 1\n"

    assert not sketch_of(below, 16_384, NO_QUERY).found[1].is_end
    assert sketch_of(above, 16_384, NO_QUERY).found[2].is_end


@pytest.mark.proves("S4")
def test_what_was_asked_for_counts_in_full_where_lines_like_it_stood_out_before():
    text = "".join(f"a.py:{i}: error: bad [kind]\nok\n" for i in range(4))
    query = Query(("override",))
    found = sketch_of((text + "a.py:9: error: bad [override]").encode(), 16_384, query).found

    assert found[9].score > found[1].score


@pytest.mark.proves("S4")
def test_words_of_a_question_about_any_run_point_at_nothing():
    text = b"the build of this test run\nan outcome of the log\nzebra in the cage\n" * 3
    found = sketch_of(text, 16_384, Query(("Why", "build", "fail", "outcome", "zebra"))).found

    assert set(found) == {3, 6, 9}
