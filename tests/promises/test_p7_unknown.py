"""P7: unknown fields and blocks survive unchanged, thinking and signatures above all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.history.repair import repair
from tests.dialects.scripts import DIALECTS, broken, render, scripts, written
from tests.histories import round_of, user

ODD = ['"\\ud83d\\u0041"', "NaN", "1.50", "-0", "1e2", '"\\u0041"', "[" * 3_000 + "]" * 3_000]
"""Values whose spelling a reader that builds objects would lose, or choke on."""


def unknown_of(dialect, number):
    """An element that no provider has today."""
    if dialect == "gemini":
        return {"role": "user", "parts": [{"novel": number}]}
    if dialect == "openai-responses":
        return {"type": "novel_item", "n": number}
    return {"role": "user", "content": [{"type": "novel_block", "n": number}]}


@pytest.mark.proves("P7", "H4")
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_unknown_elements_come_through_a_repair_in_their_order(name, data):
    items = data.draw(broken(render(data.draw(scripts(thinking=False)), name), name))
    for number in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(items)))
        items.insert(place, unknown_of(name, number))
    body = data.draw(written(items, name))
    dialect = dialect_named(name)
    before = _novel(dialect.read(body))

    repaired = repair(dialect.read(body))

    assert repaired.gave_up == ""
    assert _novel(repaired.history) == before
    assert len(before) >= 1


def _novel(history):
    """The bytes of what no provider has, as a block or an element."""
    return [
        part.raw for message in history.messages for part in message.parts if b'"novel' in part.raw
    ]


@pytest.mark.proves("P7", "H4")
@pytest.mark.parametrize(
    "odd", ODD, ids=["half", "NaN", "zero", "minus", "power", "escape", "deep"]
)
@pytest.mark.parametrize("name", DIALECTS)
def test_a_message_that_is_rebuilt_keeps_the_spelling_of_its_other_fields(name, odd):
    dialect = dialect_named(name)
    items = user(name, "x") + round_of(name, 1, "r")
    items[-1]["x_unknown"] = "HERE"
    text = json.dumps(items, indent=1).replace('"HERE"', odd)
    last = dialect.read(text.encode()).messages[-1]

    rebuilt = dialect.with_parts(last, [dialect.with_text(part, "new") for part in last.parts])

    assert rebuilt.raw == last.raw.replace(b'"r"', b'"new"')
    assert odd.encode() in rebuilt.raw


@pytest.mark.proves("H4")
@given(data=st.data())
def test_beside_thinking_only_blank_texts_and_halves_of_server_tools_may_go(data):
    items = data.draw(broken(render(data.draw(scripts()), "anthropic"), "anthropic"))
    if data.draw(st.booleans()):
        for item in items:
            if item["role"] == "assistant":
                item["content"].insert(0, {"type": "text", "text": "\n\n"})
    dialect = dialect_named("anthropic")
    history = dialect.read(json.dumps(items).encode())

    repaired = repair(history).history

    after = {message.at: message for message in repaired.messages}
    for message in history.messages:
        if message.has_thinking:
            assert _that_must_stay(after[message.at]) == _that_must_stay(message)


def _that_must_stay(message):
    blank = b'{"type": "text", "text": "\\n\\n"}'
    return [
        part.raw
        for part in message.parts
        if part.raw != blank and part.kind not in ("server_call", "server_result")
    ]
