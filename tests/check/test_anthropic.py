import pytest

from tests.check.histories import (
    ASKED,
    EPHEMERAL,
    SEARCH,
    assistant,
    found,
    text,
    thinking,
    tool_result,
    tool_use,
    user,
)

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}
HITS = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
REMOTE = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "server_name": "s", "input": {}}
REMOTE_RESULT = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": "ok"}
SUMMARY = {"type": "compaction", "content": "so far"}


def document(**more):
    return {"type": "document", "source": {"type": "text", "data": "x"}, **more}


VALID = {
    "one question": [ASKED],
    "a finished conversation": [ASKED, assistant("done")],
    "a call and its result": [ASKED, assistant(tool_use("t1")), user(tool_result("t1"))],
    "parallel results in another order": [
        ASKED,
        assistant(text("both"), tool_use("t1"), tool_use("t2")),
        user(tool_result("t2"), tool_result("t1"), text("and now?")),
    ],
    "results in one message and text in the next": [
        ASKED,
        assistant(tool_use("t1")),
        user(tool_result("t1")),
        user("go on"),
    ],
    "an assistant turn in two messages": [
        ASKED,
        assistant("I look."),
        assistant(tool_use("t1")),
        user(tool_result("t1")),
    ],
    "an assistant that speaks first": [assistant("hello"), ASKED],
    "a result without content": [
        ASKED,
        assistant(tool_use("t1"), tool_use("t2")),
        user({"type": "tool_result", "tool_use_id": "t1"}, tool_result("t2", "")),
    ],
    "a result of many blocks": [
        ASKED,
        assistant(tool_use("t1")),
        user(tool_result("t1", [text("a"), PNG, {"type": "tool_reference", "tool_name": "x"}])),
    ],
    "thinking, also without its text": [
        ASKED,
        assistant(thinking(), {**thinking(), "thinking": ""}, tool_use("t1")),
        user(tool_result("t1")),
    ],
    "redacted thinking": [ASKED, assistant({"type": "redacted_thinking", "data": "x"}, text("a"))],
    "a server tool": [ASKED, assistant(SEARCH, HITS, text("found"))],
    "a server tool that is still running": [ASKED, assistant(text("I search."), SEARCH)],
    "code that waits for a tool of the client": [
        ASKED,
        assistant(
            {**SEARCH, "name": "code_execution"},
            tool_use("t1", caller={"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}),
        ),
        user(tool_result("t1")),
    ],
    "a connector tool": [ASKED, assistant(REMOTE, REMOTE_RESULT, text("found"))],
    "a system message after the user": [
        ASKED,
        {"role": "system", "content": "be brief"},
        assistant("ok"),
        user("go on"),
        {"role": "system", "content": [text("be brief")]},
    ],
    "an unknown block": [ASKED, assistant({"type": "novelty", "x": 1}, text("a")), user("b")],
    "an unknown field": [{**ASKED, "novelty": 1}],
    "a fallback before everything": [ASKED, assistant({"type": "fallback"}, thinking(), text("a"))],
    "a compaction at the start": [user(SUMMARY, text("go on"))],
    "documents cited alike": [
        user(document(citations={"enabled": True}), document(citations={"enabled": True}))
    ],
    "an empty last assistant message": [ASKED, assistant()],
    "a toolset that is echoed": [
        ASKED,
        assistant(tool_use("t1", toolset_name="browser")),
        user(tool_result("t1", toolset_name="browser")),
    ],
}


@pytest.mark.parametrize("history", VALID.values(), ids=VALID.keys())
def test_a_valid_history_is_left_alone(history):
    assert found(history, "anthropic") == []
    assert found({"messages": history}, "anthropic") == []


BROKEN = {
    "no message at all": ([], [("A1", "messages")]),
    "no message but text": (["hi"], [("A1", "messages[0]")]),
    "an unknown role": ([{"role": "tool", "content": "x"}], [("A1", "messages[0]")]),
    "no role": ([{"content": "x"}], [("A1", "messages[0]")]),
    "no content": ([{"role": "user"}], [("A1", "messages[0]")]),
    "content of another type": ([{"role": "user", "content": 7}], [("A1", "messages[0]")]),
    "a block without a type": ([user({"text": "x"})], [("A1", "messages[0].content[0]")]),
    "a system message at the start": (
        [{"role": "system", "content": "x"}, ASKED],
        [("A1", "messages[0]"), ("A1", "messages[0]")],
    ),
    "a system message after the assistant": (
        [ASKED, assistant("a"), {"role": "system", "content": "x"}],
        [("A1", "messages[2]")],
    ),
    "an image in a system message": (
        [ASKED, {"role": "system", "content": [PNG]}],
        [("A1", "messages[1].content[0]")],
    ),
    "a call by the user": ([user(tool_use("t1"))], [("A1", "messages[0].content[0]")]),
    "a result by the assistant": (
        [ASKED, assistant(tool_result("t1"))],
        [("A1", "messages[1].content[0]")],
    ),
    "a call without a result": (
        [ASKED, assistant(tool_use("t1")), user("wait")],
        [("A2", "messages[1].content[0]")],
    ),
    "one of two calls without a result": (
        [ASKED, assistant(tool_use("t1"), tool_use("t2")), user(tool_result("t1"))],
        [("A2", "messages[1].content[1]")],
    ),
    "a history that ends with a call": (
        [ASKED, assistant(tool_use("t1"))],
        [("A2", "messages[1].content[0]")],
    ),
    "a result one turn late": (
        [ASKED, assistant(tool_use("t1")), user("a"), assistant("b"), user(tool_result("t1"))],
        [("A2", "messages[1].content[0]"), ("A3", "messages[4].content[0]")],
    ),
    "a result without a call": (
        [user(tool_result("t1")), assistant("ok"), ASKED],
        [("A3", "messages[0].content[0]")],
    ),
    "a result for an id that is no text": (
        [ASKED, assistant("a"), user({"type": "tool_result", "tool_use_id": ["t1"]})],
        [("A3", "messages[2].content[0]")],
    ),
    "an id used by two calls": (
        [ASKED, assistant(tool_use("t1"), tool_use("t1")), user(tool_result("t1"))],
        [("A4", "messages[1].content[1]")],
    ),
    "an id that comes back in a later turn": (
        [
            *[ASKED, assistant(tool_use("t1")), user(tool_result("t1"))],
            *[assistant(tool_use("t1")), user(tool_result("t1"))],
        ],
        [("A4", "messages[3].content[0]")],
    ),
    "two results for one call": (
        [ASKED, assistant(tool_use("t1")), user(tool_result("t1"), tool_result("t1"))],
        [("A4", "messages[2].content[1]")],
    ),
    "text before a result": (
        [ASKED, assistant(tool_use("t1")), user(text("so"), tool_result("t1"))],
        [("A5", "messages[2].content[1]")],
    ),
    "an image between two results": (
        [
            *[ASKED, assistant(tool_use("t1"), tool_use("t2"))],
            user(tool_result("t1"), PNG, tool_result("t2")),
        ],
        [("A5", "messages[2].content[2]")],
    ),
    "a message of the user before the results": (
        [ASKED, assistant(tool_use("t1")), user("wait"), user(tool_result("t1"))],
        [("A5", "messages[3].content[0]")],
    ),
    "text after a call": (
        [ASKED, assistant(tool_use("t1"), text("I look.")), user(tool_result("t1"))],
        [("A5", "messages[1].content[1]")],
    ),
    "results split over two messages": (
        [
            *[ASKED, assistant(tool_use("t1"), tool_use("t2"))],
            *[user(tool_result("t1")), user(tool_result("t2"))],
        ],
        [("A6", "messages[3].content[0]")],
    ),
    "an id with other characters": (
        [ASKED, assistant(tool_use("a.b:0")), user(tool_result("a.b:0"))],
        [("A7", "messages[1].content[0]")],
    ),
    "an empty id": (
        [ASKED, assistant(tool_use("")), user(tool_result(""))],
        [("A7", "messages[1].content[0]")],
    ),
    "a name with a space": (
        [ASKED, assistant(tool_use("t1", "l s")), user(tool_result("t1"))],
        [("A7", "messages[1].content[0]")],
    ),
    "input that is text": (
        [ASKED, assistant(tool_use("t1", input="{}")), user(tool_result("t1"))],
        [("A7", "messages[1].content[0]")],
    ),
    "an empty text": ([user(text(""))], [("A8", "messages[0].content[0]")]),
    "a blank text": ([user(text("a"), text(" \n\u00a0"))], [("A8", "messages[0].content[1]")]),
    "a text of a space that has no width": (
        [user(text("a"), text("\u200b"))],
        [("A8", "messages[0].content[1]")],
    ),
    "a blank message": ([user("  ")], [("A8", "messages[0].content")]),
    "an empty message": ([user("")], [("A8", "messages[0]")]),
    "a message without blocks": ([user(), ASKED], [("A8", "messages[0]")]),
    "an empty text in a result": (
        [ASKED, assistant(tool_use("t1")), user(tool_result("t1", [text("")]))],
        [("A8", "messages[2].content[0].content[0]")],
    ),
    "an empty compaction": (
        [user({"type": "compaction", "content": ""}, text("a"))],
        [("A8", "messages[0].content[0]")],
    ),
    "white space at the end of a prefill": (
        [ASKED, assistant("The answer is ")],
        [("A8", "messages[1].content")],
    ),
    "an image in an error": (
        [ASKED, assistant(tool_use("t1")), user(tool_result("t1", [PNG], is_error=True))],
        [("A9", "messages[2].content[0].content[0]")],
    ),
    "a result that is an object": (
        [ASKED, assistant(tool_use("t1")), user(tool_result("t1", {"a": 1}))],
        [("A10", "messages[2].content[0]")],
    ),
    "a block that no result holds": (
        [ASKED, assistant(tool_use("t1")), user(tool_result("t1", [{"type": "json"}, 7]))],
        [
            ("A10", "messages[2].content[0].content[0]"),
            ("A10", "messages[2].content[0].content[1]"),
        ],
    ),
    "another toolset than the call's": (
        [ASKED, assistant(tool_use("t1", toolset_name="browser")), user(tool_result("t1"))],
        [("A10", "messages[2].content[0]")],
    ),
    "thinking without a signature": (
        [ASKED, assistant({"type": "thinking", "thinking": "hm"}), user("b")],
        [("A11", "messages[1].content[0]")],
    ),
    "thinking with an empty signature": (
        [ASKED, assistant(thinking("")), user("b")],
        [("A11", "messages[1].content[0]")],
    ),
    "redacted thinking without data": (
        [ASKED, assistant({"type": "redacted_thinking"}), user("b")],
        [("A11", "messages[1].content[0]")],
    ),
    "a server result without its call": (
        [ASKED, assistant(HITS, text("found")), user("b")],
        [("A13", "messages[1].content[0]")],
    ),
    "a server call without an id": (
        [ASKED, assistant({**SEARCH, "id": ""}, {**HITS, "tool_use_id": ""}, text("done"))],
        [("A13", "messages[1].content[0]"), ("A13", "messages[1].content[1]")],
    ),
    "a server call without its result": (
        [ASKED, assistant(SEARCH, text("found")), user("b")],
        [("A13", "messages[1].content[0]")],
    ),
    "a server result by the user": (
        [ASKED, assistant(SEARCH), user(HITS)],
        [("A13", "messages[1].content[0]"), ("A13", "messages[2].content[0]")],
    ),
    "a server result that is text": (
        [ASKED, assistant(SEARCH, {**HITS, "content": "x"}), user("b")],
        [("A13", "messages[1].content[1]")],
    ),
    "a connector call without its result": (
        [ASKED, assistant(REMOTE, text("found")), user("b")],
        [("A14", "messages[1].content[0]")],
    ),
    "an image in a connector result": (
        [ASKED, assistant(REMOTE, {**REMOTE_RESULT, "content": [PNG]}), user("b")],
        [("A14", "messages[1].content[1].content[0]")],
    ),
    "a document cited, another not": (
        [user(document(citations={"enabled": True}), document())],
        [("A15", "messages[0].content[1]")],
    ),
    "a document from nowhere": (
        [user({"type": "document", "source": {"type": "ftp"}})],
        [("A15", "messages[0].content[0]")],
    ),
    "an image of a foreign type": (
        [user({"type": "image", "source": {"type": "base64", "media_type": "image/bmp"}})],
        [("A16", "messages[0].content[0]")],
    ),
    "an image without a source": ([user({"type": "image"})], [("A16", "messages[0].content[0]")]),
    "a mark on thinking": (
        [ASKED, assistant(thinking(**EPHEMERAL)), user("b")],
        [("A17", "messages[1].content[0]")],
    ),
    "a compaction later on": (
        [ASKED, assistant(SUMMARY), user("b")],
        [("A18", "messages[1].content[0]")],
    ),
    "two compactions": ([user(SUMMARY, SUMMARY)], [("A18", "messages[0].content[1]")]),
    "a call before a fallback": (
        [ASKED, assistant(thinking(), {"type": "fallback"}, text("a")), user("b")],
        [("A23", "messages[1].content[0]")],
    ),
}


@pytest.mark.parametrize(("history", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_found_in_its_place(history, expected):
    assert found(history, "anthropic") == expected
    assert found({"messages": history}, "anthropic") == expected


def test_calls_that_wait_for_their_results_are_not_missing_them():
    history = [ASKED, assistant(tool_use("t1"), tool_use("t2"))]

    assert found(history, "anthropic", pending=True) == []
    assert found([*history, user(tool_result("t1"))], "anthropic", pending=True) == []


def test_only_the_last_assistant_message_may_wait():
    history = [ASKED, assistant(tool_use("t1")), user("b"), assistant(tool_use("t2"))]

    assert found(history, "anthropic", pending=True) == [("A2", "messages[1].content[0]")]


def test_a_compaction_stands_anywhere_under_the_edit_that_allows_it():
    body = {
        "context_management": {"edits": [{"type": "compact_20260112"}]},
        "messages": [ASKED, assistant(SUMMARY, text("a")), user("b")],
    }

    assert found(body, "anthropic") == []
