import pytest

from tests.check.histories import assistant, chat_call, chat_calls, found, tool, user

ASKED = user("list the files")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}
TEXT = {"type": "text", "text": "ok"}

VALID = {
    "one question": [ASKED],
    "instructions": [{"role": "system", "content": "s"}, {"role": "developer", "content": "d"}],
    "calls and results in another order": [ASKED, chat_calls("c1", "c2"), tool("c2"), tool("c1")],
    "an id that comes back": [
        *[ASKED, chat_calls("c1"), tool("c1")],
        *[chat_calls("c1"), tool("c1"), assistant("done")],
    ],
    "a result of text parts": [ASKED, chat_calls("c1"), tool("c1", [TEXT])],
    "an empty result": [ASKED, chat_calls("c1"), tool("c1", "")],
    "arguments that are no JSON": [
        ASKED,
        {"role": "assistant", "content": "", "tool_calls": [chat_call("c1", arguments='{"a": ')]},
        tool("c1"),
    ],
    "a custom tool": [
        ASKED,
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "x"}}],
        },
        tool("c1"),
    ],
    "the deprecated function role": [
        ASKED,
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "ls", "arguments": "{}"},
        },
        {"role": "function", "name": "ls", "content": "ok"},
    ],
    "a refusal": [ASKED, {"role": "assistant", "content": None, "refusal": "no"}],
    "an image by the user": [user(TEXT, IMAGE)],
    "unknown fields": [{**ASKED, "novelty": 1}, {**assistant("a"), "reasoning_content": "hm"}],
}


@pytest.mark.parametrize("history", VALID.values(), ids=VALID.keys())
def test_a_valid_history_is_left_alone(history):
    assert found(history, "openai-chat") == []
    assert found({"model": "gpt-5", "messages": history}, "openai-chat") == []


def calling(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


BROKEN = {
    "no message at all": ([], [("C8", "messages")]),
    "no message but a number": ([7], [("C8", "messages[0]")]),
    "an unknown role": ([{"role": "model", "content": "x"}], [("C8", "messages[0]")]),
    "a role that is no text": ([{"role": ["user"], "content": "x"}], [("C8", "messages[0]")]),
    "a call without a result": (
        [ASKED, chat_calls("c1"), user("wait")],
        [("C1", "messages[1].tool_calls[0]")],
    ),
    "a history that ends with a call": (
        [ASKED, chat_calls("c1", "c2"), tool("c1")],
        [("C1", "messages[1].tool_calls[1]")],
    ),
    "an id twice in one message": (
        [ASKED, chat_calls("c1", "c1"), tool("c1")],
        [("C1", "messages[1].tool_calls[1]")],
    ),
    "a user between the results": (
        [ASKED, chat_calls("c1", "c2"), tool("c1"), user("look"), tool("c2")],
        [("C1", "messages[1].tool_calls[1]"), ("C2", "messages[4]")],
    ),
    "a later call of the same id without a result": (
        [ASKED, chat_calls("c1"), tool("c1"), chat_calls("c1"), ASKED],
        [("C1", "messages[3].tool_calls[0]")],
    ),
    "a result without a call": ([ASKED, tool("c1"), assistant("ok")], [("C2", "messages[1]")]),
    "a result for another call": (
        [ASKED, chat_calls("c1"), tool("c1"), tool("c9")],
        [("C2", "messages[3]")],
    ),
    "two results for one call": (
        [ASKED, chat_calls("c1"), tool("c1"), tool("c1")],
        [("C2", "messages[3]")],
    ),
    "a result without an id": (
        [ASKED, chat_calls("c1"), tool("c1"), {"role": "tool", "content": "x"}],
        [("C2", "messages[3]")],
    ),
    "an image in a result": (
        [ASKED, chat_calls("c1"), tool("c1", [TEXT, IMAGE])],
        [("C3", "messages[2].content[1]")],
    ),
    "a result that is null": ([ASKED, chat_calls("c1"), tool("c1", None)], [("C3", "messages[2]")]),
    "an assistant that says nothing": (
        [ASKED, {"role": "assistant", "content": None}],
        [("C4", "messages[1]")],
    ),
    "a user that says nothing": ([{"role": "user", "content": None}], [("C4", "messages[0]")]),
    "no part in the content": ([{"role": "user", "content": []}], [("C4", "messages[0]")]),
    "a part without a type": ([user({"text": "x"})], [("C4", "messages[0].content[0]")]),
    "an empty list of calls": (
        [ASKED, {"role": "assistant", "content": "a", "tool_calls": []}],
        [("C4", "messages[1]")],
    ),
    "arguments that are an object": (
        [ASKED, calling(chat_call("c1", arguments={})), tool("c1")],
        [("C5", "messages[1].tool_calls[0]")],
    ),
    "a call without a function": (
        [ASKED, calling({"id": "c1", "type": "function"}), tool("c1")],
        [("C5", "messages[1].tool_calls[0]")],
    ),
    "an id that is too long": (
        [ASKED, chat_calls("c" * 41), tool("c" * 41)],
        [("C6", "messages[1].tool_calls[0]")],
    ),
    "an empty id": ([ASKED, chat_calls(""), tool("")], [("C6", "messages[1].tool_calls[0]")]),
    "a name with a dot": (
        [ASKED, calling(chat_call("c1", "fs.ls")), tool("c1")],
        [("C6", "messages[1].tool_calls[0]")],
    ),
    "too many calls": (
        [ASKED, chat_calls(*[f"c{n}" for n in range(129)]), *[tool(f"c{n}") for n in range(129)]],
        [("C6", "messages[1]")],
    ),
}


@pytest.mark.parametrize(("history", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_found_in_its_place(history, expected):
    assert found(history, "openai-chat") == expected
    assert found({"messages": history}, "openai-chat") == expected


def test_calls_that_wait_for_their_results_are_not_missing_them():
    history = [ASKED, chat_calls("c1"), tool("c1"), chat_calls("c2", "c3"), tool("c3")]

    assert found(history, "openai-chat", pending=True) == []


def test_only_the_last_assistant_message_may_wait():
    history = [ASKED, chat_calls("c1"), user("b"), chat_calls("c2")]

    expected = [("C1", "messages[1].tool_calls[0]")]
    assert found(history, "openai-chat", pending=True) == expected


def test_a_request_defines_at_most_128_tools():
    tools = [{"type": "function", "function": {"name": f"t{n}"}} for n in range(129)]

    assert found({"tools": tools, "messages": [ASKED]}, "openai-chat") == [("C6", "tools")]
