import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.meters import meter_for
from headgate.measure.size import exact_size_of, lines_in, size_of
from headgate.types import Size

TOKENS = meter_for("o200k", "tokens")


@pytest.mark.parametrize(
    ("content", "size"),
    [
        ("", Size(tokens=0, chars=0, bytes=0, lines=0)),
        ("hello world", Size(tokens=2, chars=11, bytes=11, lines=1)),
        ("日本語のログ\n", Size(tokens=5, chars=7, bytes=19, lines=1)),
        (b"one\r\ntwo\x0b\x0c\x1c\xc2\x85", Size(tokens=8, chars=12, bytes=13, lines=2)),
    ],
)
def test_a_text_has_a_size_in_every_unit(content, size):
    assert size_of(content, TOKENS) == size


def test_tokens_of_a_large_text_are_an_estimate_and_say_so():
    size = size_of(b"word " * 20_000, TOKENS)

    assert not size.exact
    assert size.tokens == pytest.approx(20_000, rel=0.03)
    assert (size.chars, size.bytes, size.lines) == (100_000, 100_000, 1)


def test_exact_ends_at_64_kb():
    assert size_of(b"x" * 65_535, TOKENS).exact
    assert not size_of(b"x" * 65_536, TOKENS).exact


@pytest.mark.parametrize("unit", ["chars", "bytes"])
def test_a_policy_that_counts_otherwise_still_tells_tokens_of_o200k(unit):
    assert size_of("hello world", meter_for("cl100k", unit)).tokens == 2


def test_tokens_are_told_in_the_policys_own_vocabulary():
    assert size_of("日本語のログ", meter_for("cl100k", "tokens")).tokens == 6
    assert size_of("日本語のログ", meter_for("chars/4", "tokens")).tokens == 2


@given(st.text(st.characters(), max_size=60))
def test_a_text_and_its_bytes_are_of_one_size(text):
    assert size_of(text, TOKENS) == size_of(text.encode("utf-8", "backslashreplace"), TOKENS)


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"a\r\x0bb", 1)],
)
def test_only_a_newline_ends_a_line(data, lines):
    assert lines_in(data) == lines


def test_a_meter_has_the_last_word_in_its_own_unit():
    class Doubling:
        unit, name = "chars", "twice"

        def estimate(self, data):
            return 2 * len(data)

    assert size_of(b"hello world", Doubling()) == Size(tokens=2, chars=22, bytes=11, lines=1)


def test_a_large_text_can_be_measured_to_the_last_token():
    text = "word and more\n" * 20_000

    assert exact_size_of(text, TOKENS) == Size(
        tokens=TOKENS.count(text), chars=280_000, bytes=280_000, lines=20_000
    )
    assert exact_size_of(text, meter_for("o200k", "chars")).tokens == TOKENS.count(text)
