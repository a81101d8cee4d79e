import pytest

from headgate.measure.meters import meter_for
from headgate.measure.models import Counting, counted_as, plain_name


@pytest.mark.proves("A1")
@pytest.mark.parametrize(
    ("model", "vocab", "window"),
    [
        ("gpt-4o", "o200k", 128_000),
        ("gpt-4o-mini-2024-07-18", "o200k", 128_000),
        ("gpt-4.1-nano", "o200k", 1_047_576),
        ("gpt-5", "o200k", 400_000),
        ("gpt-5.5-2026-04-23", "o200k", 1_050_000),
        ("o1", "o200k", 200_000),
        ("o3-mini", "o200k", 200_000),
        ("o4-mini", "o200k", 200_000),
        ("gpt-4", "cl100k", 8_192),
        ("gpt-4-32k-0613", "cl100k", 32_768),
        ("gpt-4-1106-preview", "cl100k", 128_000),
        ("gpt-3.5-turbo-0125", "cl100k", 16_385),
        ("text-embedding-3-small", "cl100k", 8_191),
    ],
)
def test_a_model_with_a_public_vocabulary_is_counted_exactly(model, vocab, window):
    assert counted_as(model) == Counting(vocab, 1.0, window, exact=True)
    assert counted_as(model).name == vocab


@pytest.mark.proves("0.1", "A1")
@pytest.mark.parametrize(
    ("model", "multiplier"),
    [
        ("claude-sonnet-4-6", 1.16),
        ("claude-opus-4-6", 1.30),
        ("claude-sonnet-5", 1.58),
        ("claude-opus-5", 1.58),
        ("claude-fable-5", 1.61),
        ("claude-opus-4-8", 1.70),
        ("llama-3.3-70b-instruct", 1.0),
        ("deepseek-chat", 1.06),
        ("mistral-large-latest", 1.19),
        ("gemini-2.5-pro", 1.2),
    ],
)
def test_a_model_without_one_has_a_multiplier_on_o200k(model, multiplier):
    counting = counted_as(model)

    assert (counting.vocab, counting.multiplier, counting.exact) == ("o200k", multiplier, False)
    assert counting.name == f"o200k x {multiplier:g}"


@pytest.mark.parametrize(
    "model",
    [
        "claude-opus-4-6",
        "claude-opus-4-6-20260205",
        "claude-opus-4-6@20260205",
        "anthropic/claude-opus-4.6",
        "openrouter/anthropic/claude-opus-4.6:beta",
        "anthropic.claude-opus-4-6-v1:0",
        "us.anthropic.claude-opus-4-6-v1:0",
        "us-gov.anthropic.claude-opus-4-6-v1:0",
        "vertex_ai/claude-opus-4-6",
        "  Claude-Opus-4-6 ",
    ],
)
def test_dates_providers_and_regions_do_not_hide_a_model(model):
    assert counted_as(model) == Counting("o200k", 1.30, 1_000_000, exact=False)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("meta.llama3-1-70b-instruct-v1:0", "llama3-1-70b-instruct-v1:0"),
        ("ft:gpt-4o-mini-2024-07-18:org::id", "gpt-4o-mini-2024-07-18:org::id"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("accounts/fireworks/models/deepseek-v3", "deepseek-v3"),
        ("gpt-4.1", "gpt-4.1"),
    ],
)
def test_the_plain_name_begins_with_the_model(model, name):
    assert plain_name(model) == name


def test_the_longest_name_decides():
    assert counted_as("gpt-4.1").vocab == "o200k"
    assert counted_as("gpt-4-turbo").window == 128_000
    assert counted_as("gpt-5-chat-latest").window == 128_000


def test_a_client_may_ask_for_a_window_of_a_million():
    assert counted_as("claude-sonnet-4-5").window == 200_000
    assert counted_as("claude-sonnet-4-5[1m]").window == 1_000_000


@pytest.mark.parametrize("model", ["", "nobody-knows-me", "anthropic/"])
def test_an_unknown_model_gets_the_stated_fallback(model):
    assert counted_as(model) == Counting("o200k", 1.2, None, exact=False)


def test_an_unknown_claude_gets_the_largest_multiplier_measured():
    assert counted_as("claude-next-9") == Counting("o200k", 1.70, None, exact=False)


def test_every_vocabulary_in_the_table_can_be_counted_in():
    models = ["gpt-4o", "gpt-4", "claude-opus-5", "gemini-3-pro", "unknown"]

    assert {meter_for(counted_as(model).vocab, "tokens").unit for model in models} == {"tokens"}


@pytest.mark.proves("0.1")
def test_a_window_is_turned_into_tokens_of_the_vocabulary_and_back():
    counting = counted_as("claude-opus-4-6")

    assert counting.in_vocab(1_000_000) == 769_230
    assert counting.in_model(769_230) == 999_999
    assert counted_as("gpt-4o").in_vocab(128_000) == 128_000
