"""What the tests of prepared histories share: a small policy, and a request in any dialect."""

import json

import pytest

from headgate import Policy, tokens
from headgate.ageing import Ageing
from headgate.testing import lines
from tests.histories import DIALECTS, body, round_of, user

SMALL = Policy(
    result=tokens(400), batch=tokens(700), batch_window_share=1.0, classes={}, repeats=False
)
MODEL = "gpt-4o"

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def prepared(gate, dialect, messages, **more):
    return gate.prepare(body(dialect, messages), dialect=dialect, model=MODEL, **more)


def texts(sent: bytes) -> str:
    return json.dumps(json.loads(sent), ensure_ascii=False)


def long_story(dialect: str, rounds: int) -> list[dict]:
    messages = user(dialect, "look")
    for number in range(rounds):
        messages += round_of(dialect, number, lines(60 + number))
    return messages


AGEING = SMALL.replace(
    result=tokens(4_000),
    batch=tokens(8_000),
    ageing=Ageing(high=0.75, low=0.4, keep_last=1, least=tokens(300)),
)
