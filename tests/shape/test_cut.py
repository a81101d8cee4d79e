import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.meters import meter_for
from headgate.shape.cut import grapheme_after, grapheme_before, prefix, suffix

O200K = meter_for("o200k", "tokens")
CHARS = meter_for("o200k", "chars")
meters = st.sampled_from([O200K, CHARS])
texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300)
clusters = st.sampled_from(
    ["a", "b ", "e\u0301\u0302", "👩‍👩‍👧‍👦", "🇩🇪", "한", "\r\n", "中", "क्षि"]
)
rich = st.lists(clusters, max_size=60).map("".join)


def boundaries(text: str) -> set[int]:
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@pytest.mark.proves("S1")
@given(texts | rich, st.integers(min_value=0, max_value=200), meters)
def test_a_prefix_is_a_start_that_fits(text, limit, meter):
    start = prefix(text, limit, meter)

    assert text.startswith(start)
    assert meter.count(start) <= limit


@pytest.mark.proves("S1")
@given(texts | rich, st.integers(min_value=0, max_value=200), meters)
def test_a_suffix_is_an_end_that_fits(text, limit, meter):
    end = suffix(text, limit, meter)

    assert text.endswith(end)
    assert meter.count(end) <= limit


@pytest.mark.proves("S1")
@given(rich, st.data())
def test_a_cut_falls_between_graphemes(text, data):
    at = data.draw(st.integers(min_value=0, max_value=len(text)))

    assert grapheme_before(text, at) in boundaries(text)
    assert grapheme_after(text, at) in boundaries(text)
    assert grapheme_before(text, at) <= at <= grapheme_after(text, at)


@pytest.mark.proves("S1")
def test_fifty_marks_on_a_letter_stay_together():
    zalgo = "a" + "\u0301" * 50
    text = f"plain {zalgo} end"

    assert prefix(text, 30, CHARS) == "plain "
    assert prefix(text, 60, CHARS).startswith(f"plain {zalgo}")


@pytest.mark.proves("S1")
def test_a_grapheme_without_end_is_cut_inside():
    assert len(prefix("a" + "\u0301" * 10_000, 5_000, CHARS)) > 4_000


@pytest.mark.proves("S8")
@given(st.text(alphabet="abcdefgh ,.\n", min_size=3_000, max_size=4_000), meters)
def test_a_prefix_is_as_long_as_can_be(text, meter):
    limit = 400

    start = prefix(text, limit, meter)

    assert start == text or meter.count(start) >= limit * 0.95


def test_a_cut_in_a_long_run_of_emoji_falls_between_two():
    family = "👩‍👩‍👧"

    assert grapheme_before(family * 4_000, 10_003) == 10_000
    assert grapheme_after(family * 4_000, 10_003) == 10_005
