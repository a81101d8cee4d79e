import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.errors import HistoryError
from headgate.history.count import (
    Accounting,
    accounting_for,
    count,
    first_fragment,
    unreported,
)
from headgate.history.tally import CountCache
from headgate.history.usage import Usage
from headgate.measure.estimates import RoundedMeter
from headgate.measure.meters import meter_for
from tests.history.counting import ROUGH, answered, anthropic, called, said


class Watched:
    """A meter that remembers what it measured."""

    unit = "tokens"
    name = "watched"

    def __init__(self):
        self.measured = []

    def count(self, text):
        self.measured.append(text)
        return len(text)

    def estimate(self, data):
        return self.count(data.decode())


@pytest.mark.proves("A3")
def test_a_history_is_its_last_report_and_an_estimate_of_what_follows():
    history = anthropic(said("user", "u" * 400), called("a"), answered("a", "r" * 800))

    counted = count(history, ROUGH, usage=Usage(10, 200, 3_000, 40))

    assert (counted.reported, counted.estimated.likely, counted.tokens) == (3_250, 200, 3_450)


@pytest.mark.proves("A3")
def test_results_between_the_fragments_of_one_response_are_estimated():
    history = anthropic(
        said("user", "u" * 4_000),
        called("a", "msg_1"),
        answered("a", "r" * 400),
        called("b", "msg_1"),
        answered("b", "r" * 800),
    )

    counted = count(history, ROUGH, usage=Usage(1_000, output_tokens=100))

    assert counted.tokens == 1_100 + 100 + 200


@pytest.mark.proves("A3")
def test_later_fragments_are_estimated_again_only_where_the_policy_says_so():
    history = anthropic(
        called("a", "msg_1"),
        answered("a", "r" * 400),
        {**said("assistant", "s" * 40), "id": "msg_1"},
        answered("b", "r" * 800),
    )
    twice = Accounting(RoundedMeter(), "chars/4 rounded", message_tokens=0, recounts_fragments=True)

    assert unreported(history.messages, 2, ROUGH) == [1, 3]
    assert unreported(history.messages, 2, twice) == [1, 2, 3]
    assert count(history, twice, usage=Usage(50)).tokens == 50 + 100 + 10 + 200


@pytest.mark.proves("A3")
@pytest.mark.parametrize(
    ("ids", "first"),
    [
        (["A", "", "A"], 0),
        (["A", "", "", "A", "", "A"], 0),
        (["B", "", "A", "", "A"], 2),
        (["A", "", "B", "", "A"], 4),
        (["", "", ""], 2),
        (["A"], 0),
    ],
    ids=["same", "same twice", "another ends it", "another between", "no ids", "alone"],
)
def test_the_way_back_to_the_first_fragment(ids, first):
    messages = [
        called("x", id_) if id_ or at == len(ids) - 1 else answered("x", "r")
        for at, id_ in enumerate(ids)
    ]

    assert first_fragment(anthropic(*messages).messages, len(ids) - 1) == first


@pytest.mark.proves("A3")
def test_the_answered_message_can_be_named():
    history = anthropic(
        called("a"), answered("a", "r" * 400), called("b"), answered("b", "r" * 800)
    )

    # The second call is 5 letters and an empty object: 2 tokens.
    assert count(history, ROUGH, usage=Usage(100), answered=0).tokens == 100 + 100 + 2 + 200
    with pytest.raises(HistoryError, match="answered is 4; the history has 4 messages"):
        count(history, ROUGH, usage=Usage(100), answered=4)


@pytest.mark.proves("A3")
def test_without_a_response_to_stand_behind_all_is_estimated():
    history = anthropic(said("user", "u" * 400), system="s" * 40)

    assert count(history, ROUGH).tokens == 110
    assert count(history, ROUGH, usage=Usage(5_000)).tokens == 110


@pytest.mark.proves("A3")
def test_a_count_in_the_models_own_vocabulary_is_plain_addition():
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "hello world"}]}
    history = dialect_named("openai-chat").read(json.dumps(body).encode())

    counted = count(history, accounting_for("gpt-5"))

    assert (counted.vocab, counted.likely) == ("o200k", 2 + 4)


@pytest.mark.proves("A3")
def test_reasoning_that_may_stay_behind_lowers_only_the_lower_end():
    history = anthropic(said("user", "hi"), said("assistant", "ho"))
    usage = Usage(1_000, output_tokens=500, unsent_tokens=400)

    counted = count(history, ROUGH, usage=usage)

    assert (counted.low, counted.likely, counted.tokens) == (1_100, 1_500, 1_500)


@pytest.mark.proves("A6")
@pytest.mark.parametrize(
    ("tokens", "warnings"),
    [
        (749, ()),
        (750, ("750 tokens are 75% of the window of 1,000, over 75%",)),
        (
            870,
            (
                "870 tokens are 87% of the window of 1,000, over 75%",
                "870 tokens are 87% of the window of 1,000, over 85%",
            ),
        ),
    ],
)
def test_warnings_come_at_75_and_at_85_percent_of_the_window(tokens, warnings):
    accounting = Accounting(RoundedMeter(), "rough", window_tokens=1_000, message_tokens=0)

    counted = count(anthropic(said("user", "u" * 4 * tokens)), accounting)

    assert counted.warnings == warnings
    assert counted.pressure == tokens / 1_000


@pytest.mark.proves("A6")
def test_without_a_known_window_nothing_is_warned_of():
    counted = count(anthropic(said("user", "u" * 40_000)), ROUGH)

    assert (counted.warnings, counted.pressure) == ((), None)


@pytest.mark.proves("A6")
def test_what_the_provider_counted_beyond_the_history_is_told():
    history = anthropic(said("user", "u" * 400), said("assistant", "a" * 40))

    assert count(history, ROUGH, usage=Usage(33_000, output_tokens=10)).unseen == 32_900


@pytest.mark.proves("A4", "A6")
def test_a_count_names_its_vocabulary_and_its_error():
    history = anthropic(said("user", "hello " * 1_000))

    counted = count(history, accounting_for("claude-opus-5"))

    assert counted.vocab == "o200k x 1.58"
    assert (counted.low, counted.likely, counted.tokens) == (1_142, 1_588, 2_034)
    assert round(counted.error, 2) == 0.28
    assert str(counted) == "1,588 tokens (1,142 to 2,034) in o200k x 1.58"
    assert counted.under_share == 0.05


@pytest.mark.proves("A4")
def test_only_what_is_not_reported_yet_is_uncertain():
    history = anthropic(said("user", "hello " * 1_000), called("a"), answered("a", "hello " * 100))

    counted = count(history, accounting_for("claude-opus-5"), usage=Usage(50_000))

    assert counted.tokens - counted.low < 120
    assert counted.error < 0.002


def test_a_history_that_grew_has_only_its_new_messages_measured():
    cache = CountCache()
    messages = [said("user", f"message {number}") for number in range(50)]
    first, second = Watched(), Watched()
    count(anthropic(*messages, system="be brief"), Accounting(first, "w"), cache=cache)

    longer = anthropic(*messages, said("assistant", "yes"), said("user", "go"), system="be brief")
    counted = count(longer, Accounting(second, "w"), cache=cache)

    assert len(first.measured) == 51
    assert second.measured == ["yes", "go"]
    assert counted == count(longer, Accounting(Watched(), "w"))


def test_a_cache_is_not_shared_by_meters_and_prices():
    cache = CountCache()
    history = anthropic(said("user", "u" * 400), {"role": "user", "content": [{"type": "image"}]})
    count(history, ROUGH, cache=cache)

    dearer = Accounting(RoundedMeter(), "r", media_tokens=5_000, message_tokens=10)
    exact = Accounting(meter_for("o200k", "tokens"), "o200k", message_tokens=0)

    assert count(history, dearer, cache=cache) == count(history, dearer)
    assert count(history, exact, cache=cache) == count(history, exact)


def test_a_cache_forgets_what_was_longest_not_asked_for():
    cache = CountCache(messages=10)
    for number in range(100):
        count(anthropic(said("user", "always"), said("user", str(number))), ROUGH, cache=cache)
    watched = Watched()
    count(anthropic(said("user", "always")), Accounting(watched, "w"), cache=cache)

    assert len(cache) <= 20
    # Another meter: nothing of the hundred is of use to it.
    assert watched.measured == ["always"]


def test_a_history_longer_than_the_cache_is_measured_once_all_the_same():
    cache, meter = CountCache(messages=10), Watched()
    history = anthropic(*(said("user", str(number)) for number in range(100)))
    for _ in range(3):
        count(history, Accounting(meter, "w"), cache=cache)

    assert len(meter.measured) == 100


def test_a_message_that_is_asked_for_again_and_again_stays_in_the_cache():
    cache, meter = CountCache(messages=10), Watched()
    accounting = Accounting(meter, "w")
    for number in range(100):
        count(anthropic(said("user", "always"), said("user", str(number))), accounting, cache=cache)

    assert meter.measured.count("always") == 1


ODD = [
    {"role": "user", "content": "\ud800"},
    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x" * 160}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": ""}]},
    {"role": "user", "content": None},
    {"role": "user", "content": []},
    {"role": "critic", "content": "hm"},
    {"role": "user", "content": [{"type": "text"}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{}, 3]}]},
    {"role": "user", "content": [{"type": "web_search_tool_result", "tool_use_id": "s"}]},
]


@given(st.lists(st.sampled_from(ODD), max_size=6), st.booleans())
def test_odd_messages_are_counted_and_none_below_zero(messages, is_reported):
    usage = Usage(100) if is_reported else None

    counted = count(anthropic(*messages), accounting_for("claude-opus-5"), usage=usage)

    assert 0 <= counted.low <= counted.likely <= counted.tokens
    assert len(counted.sizes) == len(messages)
    assert min(counted.sizes, default=0) >= 0
