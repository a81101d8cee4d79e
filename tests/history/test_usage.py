import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.history.usage import Usage, usage_of

pytestmark = pytest.mark.proves("A3")


def test_anthropic_reports_cached_tokens_beside_the_input():
    reported = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 2_000,
        "cache_read_input_tokens": 30_000,
        "output_tokens": 400,
        "service_tier": "standard",
    }

    usage = usage_of(reported)

    assert usage == Usage(10, 2_000, 30_000, 400)
    assert usage.prompt == 32_010
    assert usage.context == 32_410


def test_missing_and_empty_fields_count_nothing():
    assert usage_of({"input_tokens": 7, "cache_read_input_tokens": None}) == Usage(7)


def test_chat_completions_report_cached_tokens_inside_the_prompt():
    reported = {
        "prompt_tokens": 1_000,
        "completion_tokens": 300,
        "total_tokens": 1_300,
        "prompt_tokens_details": {"cached_tokens": 768, "cache_write_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 200},
    }

    usage = usage_of(reported)

    assert usage == Usage(132, 100, 768, 300, unsent_tokens=200)
    assert usage.context == 1_300


def test_responses_report_cached_tokens_inside_the_input():
    reported = {
        "input_tokens": 1_000,
        "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 0},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 1_050,
    }

    assert usage_of(reported) == Usage(400, 0, 600, 50)


@pytest.mark.parametrize(
    "reported",
    [
        {
            "promptTokenCount": 500,
            "cachedContentTokenCount": 100,
            "candidatesTokenCount": 40,
            "thoughtsTokenCount": 60,
            "totalTokenCount": 600,
        },
        {
            "prompt_token_count": 500,
            "cached_content_token_count": 100,
            "candidates_token_count": 40,
            "thoughts_token_count": 60,
            "total_token_count": 600,
        },
    ],
    ids=["wire", "python"],
)
def test_gemini_reports_thoughts_beside_the_answer(reported):
    usage = usage_of(reported)

    assert usage == Usage(400, 0, 100, 100, unsent_tokens=60)
    assert usage.context == 600


@pytest.mark.parametrize("key", ["usage", "usageMetadata", "usage_metadata"])
def test_a_whole_response_is_read_too(key):
    assert usage_of({"id": "x", key: {"input_tokens": 5, "output_tokens": 6}}) == Usage(5, 0, 0, 6)


@pytest.mark.parametrize("value", ["12", True, -3, 1.5, float("nan"), float("inf"), [], {}, 2**60])
def test_what_is_no_count_is_ignored(value):
    reported = {"input_tokens": value, "output_tokens": 4, "input_tokens_details": value}

    assert usage_of(reported) == Usage(0, 0, 0, 4)


@pytest.mark.parametrize("reported", [None, 3, [], "usage", {}, {"usage": None}, {"model": "x"}])
def test_what_reports_nothing_is_no_usage(reported):
    assert usage_of(reported) is None


def test_the_next_request_grew_by_what_was_added_to_this_one_and_its_response():
    first = Usage(10, 0, 990, 200)
    second = Usage(50, 0, 1_500)

    assert first.growth_to(second) == 350


def test_reasoning_that_stays_behind_is_no_part_of_the_next_request():
    first = Usage(1_000, output_tokens=200, unsent_tokens=150)
    second = Usage(1_350)

    assert first.growth_to(second) == 300


FIELDS = st.sampled_from(
    [
        *("input_tokens", "output_tokens", "cache_read_input_tokens", "prompt_tokens"),
        *("prompt_tokens_details", "cached_tokens", "promptTokenCount", "usage"),
        *("candidatesTokenCount", "cachedContentTokenCount", "input_tokens_details"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(FIELDS, VALUES, max_size=5))
def test_whatever_is_reported_no_count_is_below_zero(reported):
    usage = usage_of(reported)

    if usage is not None:
        assert min(usage.input_tokens, usage.cache_creation_tokens, usage.cache_read_tokens) >= 0
        assert 0 <= usage.unsent_tokens <= usage.output_tokens
