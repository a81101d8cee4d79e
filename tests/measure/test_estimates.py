import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.estimates import (
    MedianMeter,
    RoundedMeter,
    image_tokens,
    median_of_three,
    rounded,
    rounded_for_file,
)
from headgate.measure.meters import meter_for

pytestmark = pytest.mark.proves("A2")


@pytest.mark.parametrize(
    ("chars", "tokens"),
    [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (5, 1), (6, 2), (10, 3), (200, 50)],
)
def test_four_characters_are_a_token_rounded_half_up(chars, tokens):
    assert rounded(chars) == tokens


@pytest.mark.parametrize(
    ("extension", "tokens"),
    [("json", 50_000), ("jsonl", 50_000), ("jsonc", 50_000), (".JSON", 50_000), ("ts", 25_000)],
)
def test_json_has_two_characters_a_token_by_its_extension(extension, tokens):
    assert rounded_for_file(100_000, extension) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (1_000, 750, 1_000),
        (200, 200, 53),
        (2_000, 2_000, 5_333),
        (4_000, 4_000, 5_333),
        (4_000, 2_000, 2_667),
        (0, 0, 0),
    ],
)
def test_an_image_costs_its_area_after_it_is_scaled_down(width, height, tokens):
    assert image_tokens(width, height) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # characters 4, words 2, one line 15
        ("hello world", 4),
        # characters 40, words 1 + 1 * 22 // 10 = 3, one line 15
        ("x" * 140, 15),
        # characters 13, words 10, ten lines 150
        ("word\n" * 8 + "a\nb", 13),
        # no words: as the characters
        ("   \n", 2),
        # characters 10, words 14, four lines 60; brackets and operators make it code: 14 * 1.1
        ("a = [1]\nb = (2)\nc = {3}\nd = a + b;\n", 16),
        ("", 0),
    ],
)
def test_the_median_of_characters_words_and_lines(text, tokens):
    assert median_of_three(text) == tokens


@given(st.text())
def test_the_meters_of_the_presets_say_the_same_of_a_text_and_of_its_bytes(text):
    text = text.encode("utf-8", "replace").decode()
    for meter in (RoundedMeter(), MedianMeter()):
        assert meter.count(text) == meter.estimate(text.encode())
    assert RoundedMeter().count(text) == rounded(len(text))
    assert MedianMeter().count(text) == median_of_three(text)


CHANCE = random.Random(3)
ROWS = [{"id": i, "ms": CHANCE.random(), "path": f"/srv/{i % 97}/app.log"} for i in range(2_000)]
SENTENCES = (
    "The headgate decides how much water enters the channel.",
    "Whatever does not fit goes over the spillway and is not lost.",
    "Nobody downstream has to know how high the river stood yesterday.",
    "A gate that opens late is repaired in the dry season, when the fields are empty.",
)
LARGE = {
    "code": "".join(
        f"    if self.{name}_tokens > {limit}:\n        return Verdict.shaped({name}, {limit})\n"
        for name in ("batch", "result", "window", "turn")
        for limit in CHANCE.sample(range(10_000), 250)
    ),
    "prose": " ".join(CHANCE.choices(SENTENCES, k=1_500)),
    "json": json.dumps(ROWS, separators=(",", ":")),
    "csv": "\n".join(f"{row['id']},{row['ms']:.6f},{row['path']}" for row in ROWS * 2),
    "wide": "日本語のログ、エラーはありません。" * 3_000,
    "hex": CHANCE.randbytes(60_000).hex(),
}


@pytest.mark.parametrize("kind", LARGE)
def test_our_estimate_of_a_large_text_is_better_than_every_rule_of_thumb(kind):
    text = LARGE[kind]
    meter = meter_for("o200k", "tokens")
    truth = meter.count(text)

    ours = abs(meter.estimate(text.encode()) - truth)

    assert len(text.encode()) > 64 * 1024
    assert ours / truth < 0.05
    rules = [rounded(len(text)), rounded_for_file(len(text), kind), median_of_three(text)]
    assert all(ours < abs(rule - truth) for rule in rules)
