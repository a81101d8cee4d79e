"""The look back at a repair must see what a repair could have done wrong."""

import json

import pytest

from headgate.check import check
from headgate.dialects import DIALECTS, dialect_named
from headgate.history.sound import unsound
from tests.histories import calls, results, round_of, said, user

every_dialect = pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])

A, B = ("a", "grep", {}), ("b", "grep", {})


def wrong(name, items, *, pending=False):
    dialect = dialect_named(name)
    history = dialect.read(json.dumps(items).encode())
    return unsound(history, dialect.rules, pending=pending)


@every_dialect
def test_a_valid_history_is_sound(name):
    steps = (
        round_of(name, 1, "x", "y") + said(name, "ok") + user(name, "?") + round_of(name, 2, "z")
    )

    assert wrong(name, user(name, "go") + steps) is None


@every_dialect
@pytest.mark.parametrize(
    "broken",
    [
        lambda name: calls(name, A) + user(name, "?"),
        lambda name: calls(name, A),
        lambda name: results(name, ("a", "grep", "x")),
        lambda name: said(name, "x") + results(name, ("a", "grep", "x")),
        lambda name: calls(name, A) + results(name, ("b", "grep", "x")),
        lambda name: calls(name, A) + results(name, ("a", "grep", "x"), ("a", "grep", "y")),
        lambda name: calls(name, A, B) + results(name, ("a", "grep", "x")),
        lambda name: results(name, ("a", "grep", "x")) + calls(name, A),
    ],
    ids=["missing", "end", "head", "orphan", "other", "second", "one of two", "before"],
)
def test_a_broken_pair_is_seen(name, broken):
    items = user(name, "go") + broken(name)

    assert wrong(name, items) is not None
    assert check(json.dumps(items).encode(), name) != []


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "gemini"])
def test_a_result_in_the_wrong_place_is_seen(name):
    items = user(name, "go") + calls(name, A) + user(name, "?") + results(name, ("a", "grep", "x"))

    assert wrong(name, items) is not None


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("id_", ["", "x" * 41, "a.b"])
def test_an_id_that_is_refused_is_seen(name, id_):
    items = user(name, "go") + calls(name, (id_, "grep", {})) + results(name, (id_, "grep", "x"))
    refused = {"anthropic": ("", "a.b"), "openai-chat": ("", "x" * 41), "openai-responses": ("",)}

    assert (wrong(name, items) is not None) == (id_ in refused[name])


def test_an_id_that_comes_back_is_seen_where_it_must_not():
    def twice(name):
        return wrong(name, user(name, "go") + round_of(name, 1, "x") + round_of(name, 1, "x"))

    assert twice("anthropic") == "the id 'call_1_0' is used twice"
    assert twice("openai-chat") is None
    assert twice("openai-responses") is None


@every_dialect
def test_calls_may_wait_at_the_end_and_nowhere_else(name):
    assert wrong(name, user(name, "go") + calls(name, A, B), pending=True) is None
    before = user(name, "go") + calls(name, A) + user(name, "?") + calls(name, B)
    assert wrong(name, before, pending=True) is not None
