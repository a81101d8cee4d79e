import json
import random
from itertools import pairwise

import pytest

from headgate.dialects import dialect_named
from headgate.endpoint import UrlEndpoint
from headgate.history.calibrate import Observation, observe, uncalibrated
from headgate.history.count import (
    Accounting,
    accounting_for,
    count,
    observation,
)
from headgate.history.makeup import Makeup
from headgate.history.usage import Usage, usage_of
from headgate.measure.estimates import RoundedMeter
from headgate.measure.models import Counting, counted_as
from headgate.testing import Call, Provider
from tests.history.counting import ROUGH, answered, anthropic, called, said


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
