import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.check import DIALECTS, RULES, Violation, check, recognise_dialect
from headgate.errors import HistoryError
from tests.check.histories import (
    assistant,
    chat_calls,
    function_call,
    said,
    text,
    tool,
    tool_result,
    tool_use,
    turn,
    user,
)

KEYS = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}


def test_a_violation_says_rule_place_and_what_was_found():
    [violation] = check(b'[{"role": "user", "content": " "}]', "anthropic")

    assert violation == Violation("A8", "messages[0].content", "the text is only white space")
    assert violation.kind == "empty or blank text"
    assert str(violation) == (
        "messages[0].content: the text is only white space (A8: empty or blank text)"
    )


def test_what_a_reader_meets_first_comes_first():
    history = [user(text("")), assistant(tool_use("a b")), user(tool_result("x")), user(" ")]

    places = [violation.where for violation in check(json.dumps(history).encode(), "anthropic")]

    assert places == [
        "messages[0].content[0]",
        "messages[1].content[0]",
        "messages[1].content[0]",
        "messages[2].content[0]",
        "messages[3].content",
    ]


def test_long_values_are_not_repeated_in_full():
    body = json.dumps([user("a"), assistant(tool_use("x" * 100_000 + "."))]).encode()

    assert all(len(violation.found) < 200 for violation in check(body, "anthropic"))


@pytest.mark.parametrize(
    ("history", "dialects"),
    [
        ([user("hi")], ["anthropic", "openai-chat"]),
        ([user("hi"), assistant("hello")], ["anthropic", "openai-chat"]),
        ({"messages": [user(text("hi"))]}, ["anthropic", "openai-chat"]),
        ([user("hi"), assistant(tool_use("t1"))], ["anthropic"]),
        ([user("hi"), chat_calls("c1"), tool("c1")], ["openai-chat"]),
        ([{"role": "system", "content": "s"}, user("hi")], ["openai-chat"]),
        ([user("hi"), {"role": "assistant", "content": None}], ["openai-chat"]),
        ({"system": "s", "messages": [user("hi")]}, ["anthropic"]),
        ({"messages": [user("hi")], "tools": [{"name": "a", "input_schema": {}}]}, ["anthropic"]),
        ({"messages": [user("hi")], "tools": [{"function": {"name": "a"}}]}, ["openai-chat"]),
        ({"messages": [user("hi")], "model": "claude-opus-5"}, ["anthropic"]),
        ({"messages": [user("hi")], "model": "gpt-5"}, ["openai-chat"]),
        ({"messages": [user("hi"), chat_calls("c1")], "model": "claude-opus-5"}, ["openai-chat"]),
        ({"messages": [tool("c1"), user(tool_result("t1"))]}, ["anthropic", "openai-chat"]),
        ([said("user")], ["openai-responses"]),
        ([function_call("c1")], ["openai-responses"]),
        ({"input": "hi"}, ["openai-responses"]),
        ([turn("user", {"text": "hi"})], ["gemini"]),
        ({"contents": []}, ["gemini"]),
        ({"input": [], "contents": []}, ["openai-responses", "gemini"]),
        ([], []),
        ({}, []),
        ([1, "a", None], []),
        ([{"a": 1}], []),
        ({"messages": "hi"}, []),
        ("messages", []),
    ],
)
def test_a_dialect_is_recognised_by_what_only_it_has(history, dialects):
    assert recognise_dialect(json.dumps(history).encode()) == dialects


def test_without_a_dialect_the_recognised_one_judges():
    body = json.dumps([user("hi"), chat_calls("c1")]).encode()

    assert [violation.rule for violation in check(body)] == ["C1"]


@pytest.mark.parametrize(
    ("body", "dialect", "said"),
    [
        (b"", "anthropic", "the body is empty"),
        (b" \n", None, "the body is empty"),
        (b"{", None, "not JSON: Expecting property name enclosed in double quotes at line 1, "),
        (b'[\n{"role": }]', "gemini", "not JSON: Expecting value at line 2, column 10"),
        (b'["\xff"]', "gemini", "byte 0xff at 2 is not UTF-8"),
        (b'{"a": "NaN", "b": -Infinity}', "gemini", "-Infinity at character 18 is not JSON"),
        (b"7", "anthropic", "the body is 7; a history is an array or an object"),
        (b'"hi"', None, "this is no history: neither an array of messages, nor any of contents, "),
        (b"{}", None, "this is no history"),
        (b"{}", "gemini", "the body has no 'contents', where gemini keeps its history"),
        (b'{"input": []}', "anthropic", "keeps its history; it has input"),
        (b'{"messages": {}}', "anthropic", "messages is an object; a history is an array"),
        (b'{"messages": "x"}', "openai-chat", "messages is 'x'; a history is an array"),
        (b"[]", "cohere", "no dialect 'cohere'; there are anthropic, openai-chat, "),
        (b'[{"role": "user"}]', None, "this fits anthropic and openai-chat; name the dialect"),
        (b"[" * 100_000, "anthropic", "the body is nested too deep to be a request"),
        (b'{"a":' * 100_000, None, "the body is nested too deep to be a request"),
    ],
)
def test_what_is_no_history_is_said_in_one_line(body, dialect, said):
    with pytest.raises(HistoryError) as raised:
        check(body, dialect)

    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "half", [b"\\ud83d", b"\\uDE00", b"\xed\xa0\xbd"], ids=["high", "low", "raw"]
)
def test_half_a_surrogate_pair_is_found_wherever_it_stands(dialect, half):
    body = b'{"%s": [{"x": [{"y": "a%s"}]}]}' % (KEYS[dialect].encode(), half)

    places = [v.where for v in check(body, dialect) if v.rule == "A22"]

    assert places == [f"{KEYS[dialect]}[0].x[0].y"]


def test_half_a_surrogate_pair_in_a_key_of_a_bare_array_is_found():
    [violation] = [v for v in check(b'[{"\\ud83d": 1}]', "gemini") if v.rule == "A22"]

    assert violation.where == "contents[0], a key"


def test_a_whole_surrogate_pair_is_one_character():
    assert check(b'[{"role": "user", "content": "\\ud83d\\ude00"}]', "anthropic") == []


def test_a_body_over_the_providers_size_is_found():
    body = json.dumps([user("x" * (32 * 1024 * 1024))]).encode()

    assert [v.rule for v in check(body, "anthropic")] == ["A22"]
    assert check(body, "openai-chat") == []


def test_a_number_too_long_to_read_is_not_our_business():
    assert (
        check(
            b'{"messages": [{"role": "user", "content": "a"}], "x": %s}' % (b"9" * 9_000),
            "anthropic",
        )
        == []
    )


def test_many_messages_are_judged_one_by_one():
    history = [user("a") if n % 2 == 0 else assistant("b") for n in range(100_000)]

    assert check(json.dumps(history).encode(), "anthropic") == []
    assert [v.where for v in check(json.dumps([*history, user("c")]).encode(), "anthropic")] == [
        "messages"
    ]


WORDS = st.sampled_from(
    [
        *("role", "content", "type", "text", "parts", "id", "call_id", "tool_use_id", "name"),
        *("tool_calls", "function", "arguments", "input", "functionCall", "functionResponse"),
        *("response", "source", "cache_control", "signature", "caller", "summary", "output"),
        *("user", "assistant", "model", "system", "tool", "tool_use", "tool_result", "thinking"),
        *("server_tool_use", "web_search_tool_result", "mcp_tool_result", "image", "document"),
        *("function_call", "function_call_output", "reasoning", "message", "compaction", "ttl"),
        *("t1", "t2", "", "ephemeral", "citations", "fallback", "tools", "messages", "contents"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS | st.text(string.printable, max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=40,
)


@given(history=st.lists(VALUES, max_size=6), beside=st.dictionaries(WORDS, VALUES, max_size=4))
def test_wrong_types_in_any_field_are_violations_and_no_crash(history, beside):
    for dialect, key in KEYS.items():
        for value in (history, {**beside, key: history}):
            found = check(json.dumps(value).encode(), dialect, pending=len(history) % 2 == 0)

            assert all(violation.rule in RULES for violation in found)
            assert all(violation.where and violation.found for violation in found)


def judged_or_refused(body):
    try:
        return check(body, "anthropic")
    except HistoryError as error:
        return str(error)


@given(body=st.binary(max_size=200))
def test_any_bytes_are_judged_or_refused_in_one_line(body):
    outcome = judged_or_refused(body)

    assert isinstance(outcome, list) or "\n" not in outcome
