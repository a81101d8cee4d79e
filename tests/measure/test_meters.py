import pytest

from headgate.errors import PolicyError
from headgate.measure.meters import ByteMeter, CharMeter, PerCharMeter, meter_for


@pytest.mark.proves("0.1")
@pytest.mark.parametrize(
    ("vocab", "unit", "name", "size"),
    [
        ("o200k", "tokens", "o200k", 4),
        ("cl100k", "tokens", "cl100k", 6),
        ("chars/4", "tokens", "chars/4", 2),
        ("chars/3.5", "tokens", "chars/3.5", 2),
        ("chars/4 rounded", "tokens", "chars/4 rounded", 2),
        ("chars/2 rounded", "tokens", "chars/2 rounded", 3),
        ("median of three", "tokens", "median of three", 2),
        ("o200k", "chars", "chars", 6),
        ("o200k", "bytes", "bytes", 18),
    ],
)
def test_a_policy_counts_in_its_unit_and_the_meter_is_named(vocab, unit, name, size):
    meter = meter_for(vocab, unit)

    assert (meter.name, meter.unit) == (name, unit)
    assert meter.count("日本語のログ") == size
    assert meter.estimate("日本語のログ".encode()) == size


@pytest.mark.parametrize("vocab", ["", "gpt2", "O200K", "chars/0", "tokenizer.toml"])
def test_an_unknown_vocabulary_is_a_policy_error_that_names_the_known(vocab):
    with pytest.raises(PolicyError) as caught:
        meter_for(vocab, "tokens")

    assert str(caught.value) == (
        f"vocab is {vocab!r}; there is o200k, cl100k, chars/4, chars/3.5, chars/4 rounded, "
        "chars/2 rounded, median of three, pieces, or the path of a tokenizer.json"
    )


@pytest.mark.proves("A2")
@pytest.mark.parametrize(
    ("chars_per_token", "chars", "tokens"),
    [(4, 0, 0), (4, 1, 1), (4, 4, 1), (4, 5, 2), (4, 140_000, 35_000), (3.5, 7, 2), (3.5, 8, 3)],
)
def test_a_part_of_a_token_is_a_token(chars_per_token, chars, tokens):
    assert PerCharMeter(chars_per_token).count("x" * chars) == tokens
    assert PerCharMeter(chars_per_token).estimate(b"x" * chars) == tokens


@pytest.mark.parametrize("chars_per_token", [0, -1, float("nan"), float("inf")])
def test_characters_a_token_are_a_number_above_zero(chars_per_token):
    with pytest.raises(PolicyError, match="chars per token is"):
        PerCharMeter(chars_per_token)


def test_a_lone_surrogate_has_the_length_of_the_escape_shown_for_it():
    assert ByteMeter().count("a\ud800") == len("a\\ud800")
    assert CharMeter().count("a\ud800") == 2
