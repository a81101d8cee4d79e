import json

import pytest

from headgate.dialects import dialect_named
from headgate.history.words import last_words

HISTORIES = {
    "anthropic": [
        {"role": "user", "content": "first"},
        {"role": "user", "content": [{"type": "text", "text": "where is the ☃ bug?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
    ],
    "openai-chat": [
        {"role": "user", "content": "where is the ☃ bug?"},
        {"role": "assistant", "content": "looking"},
    ],
    "openai-responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "where is the ☃ bug?"}]},
        {"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "where is the ☃ bug?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "t", "response": {"output": "x"}}}],
        },
    ],
}


@pytest.mark.proves("S4")
@pytest.mark.parametrize("dialect", HISTORIES)
def test_the_last_words_are_the_users_and_no_result_is_among_them(dialect):
    history = dialect_named(dialect).read(json.dumps(HISTORIES[dialect]).encode())

    assert last_words(history) == "where is the ☃ bug?"


def test_of_a_long_text_both_ends_count():
    said = "start " + "x" * 10_000 + " end"
    body = json.dumps([{"role": "user", "content": said}]).encode()

    words = last_words(dialect_named("openai-chat").read(body))

    assert words.startswith("start x")
    assert words.endswith("x end")
    assert len(words) == 2_001


def test_a_message_without_a_word_is_passed_over():
    image = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    said = [{"role": "user", "content": "what is this?"}, {"role": "user", "content": [image]}]

    history = dialect_named("anthropic").read(json.dumps(said).encode())

    assert last_words(history) == "what is this?"


def test_nothing_said_is_no_words():
    history = dialect_named("openai-chat").read(b'[{"role": "assistant", "content": "hi"}]')

    assert last_words(history) == ""
