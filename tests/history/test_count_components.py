import base64
import json

import pytest

from headgate.dialects import DIALECTS, dialect_named
from headgate.history.count import (
    Share,
    count,
)
from tests.history.counting import ROUGH, answered, anthropic, called, said

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
