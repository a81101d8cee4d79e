import base64
import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import DIALECTS, dialect_named
from headgate.endpoint import UrlEndpoint
from headgate.errors import HistoryError
from headgate.history.calibrate import Observation, observe, uncalibrated
from headgate.history.count import (
    Accounting,
    Share,
    accounting_for,
    count,
    first_fragment,
    observation,
    unreported,
)
from headgate.history.makeup import Makeup
from headgate.history.tally import CountCache
from headgate.history.usage import Usage, usage_of
from headgate.measure.estimates import RoundedMeter
from headgate.measure.meters import meter_for
from headgate.measure.models import Counting, counted_as
from headgate.testing import Call, Provider

ROUGH = Accounting(RoundedMeter(), "chars/4 rounded", message_tokens=0)
"""Four characters are a token and nothing else costs anything: counts can be done in the head."""


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


def anthropic(*messages, **settings):
    return dialect_named("anthropic").read(
        json.dumps({"model": "claude-opus-5", **settings, "messages": messages}).encode()
    )


def said(role, text, **more):
    return {"role": role, "content": [{"type": "text", "text": text}], **more}


def called(call_id, response_id="", tool="grep"):
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
    named = {"id": response_id} if response_id else {}
    return {"role": "assistant", "content": [block], **named}


def answered(call_id, content):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {"role": "user", "content": [block]}


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


BODIES = {
    "anthropic": {
        "model": "m",
        "system": [{"type": "text", "text": "s" * 40}],
        "tools": [],
        "messages": [
            said("user", "u" * 80),
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t" * 120, "signature": "x" * 999},
                    {"type": "text", "text": "a" * 160},
                    {"type": "tool_use", "id": "c", "name": "grep", "input": {}},
                ],
            },
            answered("c", "r" * 200),
        ],
    },
    "openai-chat": {
        "model": "m",
        "tools": [],
        "messages": [
            {"role": "system", "content": "s" * 40},
            {"role": "user", "content": "u" * 80},
            {
                "role": "assistant",
                "content": "a" * 160,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "grep", "arguments": "{}"},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "r" * 200},
        ],
    },
    "openai-responses": {
        "model": "m",
        "instructions": "s" * 40,
        "tools": [],
        "input": [
            {"role": "user", "content": "u" * 80},
            {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x" * 158},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "a" * 160}],
            },
            {"type": "function_call", "call_id": "c", "name": "grep", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "r" * 200},
        ],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "s" * 40}]},
        "tools": [],
        "contents": [
            {"role": "user", "parts": [{"text": "u" * 80}]},
            {
                "role": "model",
                "parts": [
                    {"text": "t" * 120, "thought": True},
                    {"text": "a" * 160},
                    {"functionCall": {"name": "grep", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "grep", "response": {"result": "r" * 200}}}
                ],
            },
        ],
    },
}


@pytest.mark.proves("A6")
@pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])
def test_every_dialect_is_counted_by_component(name):
    history = dialect_named(name).read(json.dumps(BODIES[name]).encode())

    shares = {(share.component, share.tool): share.tokens for share in count(history, ROUGH).shares}

    # Only chat hides its thinking; the sealed one is 160 bytes, of which 16 make 3 tokens.
    thinking = {} if name == "openai-chat" else {("thinking", ""): 30}
    assert shares == {
        ("system", ""): 10,
        ("tools", ""): 1,
        ("user", ""): 20,
        **thinking,
        ("assistant", ""): 40,
        ("calls", ""): 2,
        ("results", "grep"): 50,
    }


@pytest.mark.proves("A6")
def test_results_are_told_apart_by_their_tool_and_the_largest_comes_first():
    history = anthropic(
        called("a", tool="grep"),
        answered("a", "r" * 400),
        called("b", tool="read"),
        answered("b", "r" * 4_000),
        called("c", tool="grep"),
        answered("c", "r" * 40),
        answered("gone", "r" * 8),
    )

    shares = [share for share in count(history, ROUGH).shares if share.component == "results"]

    assert shares == [
        Share("results", 1_000, "read"),
        Share("results", 110, "grep"),
        Share("results", 2, "?"),
    ]


@pytest.mark.proves("A6")
def test_an_image_costs_its_fixed_price_wherever_it_stands():
    data = base64.b64encode(bytes(90_000)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    image = {"type": "image", "source": source}
    history = anthropic(
        {"role": "user", "content": [image, {"type": "document", "source": source}]},
        called("a"),
        answered("a", [{"type": "text", "text": "r" * 400}, image]),
    )

    shares = {share.component: share.tokens for share in count(history, ROUGH).shares}

    assert shares == {
        "images": 4_000,
        "documents": 2_000,
        "results": 100,
        "calls": 2,
        "user": 0,
        "assistant": 0,
    }


@pytest.mark.proves("A6")
def test_a_block_that_nobody_knows_costs_its_text_or_at_most_the_fixed_price():
    small = {"type": "novelty", "v": 1}
    large = {"type": "novelty", "data": "x" * 100_000}
    history = anthropic({"role": "user", "content": [small, large]})

    shares = {share.component: share.tokens for share in count(history, ROUGH).shares}

    assert shares == {"other": 2_000 + 7, "user": 0}


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


@pytest.mark.proves("A4")
def test_two_reports_in_a_row_are_an_observation():
    history = anthropic(said("user", "hi"), called("a"), answered("a", "r" * 400))
    accounting = Accounting(RoundedMeter(), "rough")
    before, after = Usage(1_000, output_tokens=50), Usage(200, 0, 1_000)

    seen = observation(history, accounting, before=before, answered=1, after=after)

    assert seen == Observation(Makeup(tokens=104, bytes=400, results=1), 150)


@pytest.mark.proves("A4")
@pytest.mark.parametrize(
    ("content", "after"),
    [
        ("r" * 400, 1_050),
        ("r" * 400, 900),
        ("r" * 40, 1_100),
        ([{"type": "image", "source": {}}, {"type": "text", "text": "r" * 400}], 3_000),
    ],
    ids=["no growth", "compacted", "too little", "an image"],
)
def test_what_says_nothing_about_text_is_no_observation(content, after):
    history = anthropic(called("a"), answered("a", content))
    before = Usage(1_000, output_tokens=50)

    assert observation(history, ROUGH, before=before, answered=0, after=Usage(after)) is None


def tool_loop(provider, model, rounds):
    """Each request of a loop with the usage it was answered with."""
    key = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
    post, chance = UrlEndpoint(provider.url, key), random.Random(5)
    settings = {"model": model, "max_tokens": 999, "tools": [{"name": "ls", "input_schema": {}}]}
    messages = [said("user", "Look around.")]
    for _ in range(rounds):
        body = json.dumps({**settings, "messages": messages}).encode()
        response = json.loads(post("/v1/messages", body)[1])
        yield dialect_named("anthropic").read(body), usage_of(response)
        listing = "\n".join(f"{chance.random():.6f} app-{n}.log" for n in range(40))
        messages.append({"role": "assistant", "content": response["content"]})
        messages.append(answered(response["content"][0]["id"], listing))


@pytest.mark.proves("A3", "A4")
def test_a_tool_loop_teaches_how_the_provider_counts():
    # As if the table were wrong: the stand-in bills 1.3 times o200k.
    model, off = "claude-haiku-4-5", []
    known = uncalibrated(Counting("o200k", 1.8, None, exact=False))
    with Provider(answer=lambda _: Call("ls", {"path": "/srv"})) as provider:
        asked = list(tool_loop(provider, model, rounds=25))
    for (_, before), (history, after) in pairwise(asked):
        accounting, at = accounting_for(model, known), len(history.messages) - 2
        counted = count(history, accounting, usage=before, answered=at)
        off.append(counted.estimated.likely / before.growth_to(after) - 1)
        seen = observation(history, accounting, before=before, answered=at, after=after)
        known = observe(known, seen)

    assert known.observations == len(off) == 24
    assert 0.3 < off[0] < 0.5
    assert all(abs(error) < 0.02 for error in off[-10:])


def test_a_wrong_calibration_changes_numbers_and_no_byte():
    history = anthropic(said("user", "u" * 400), called("a"), answered("a", "r" * 800))
    known = uncalibrated(counted_as("claude-opus-5"))
    for _ in range(50):
        known = observe(known, Observation(Makeup(tokens=1_000, bytes=4_000), 10_000_000))

    right = count(history, accounting_for("claude-opus-5"))
    wrong = count(history, accounting_for("claude-opus-5", known))

    assert wrong.tokens > 1.5 * right.tokens
    assert dialect_named("anthropic").write(history) == history.body


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
