import pytest

from tests.check.histories import (
    ASKED,
    EPHEMERAL,
    HOUR,
    SEARCH,
    assistant,
    found,
    text,
    thinking,
    tool_result,
    tool_use,
    user,
)


def test_five_marks_are_one_too_many_wherever_they_stand():
    body = {
        "cache_control": {"type": "ephemeral"},
        "tools": [{"name": "ls", "input_schema": {}, **EPHEMERAL}],
        "system": [{**text("s"), **EPHEMERAL}],
        "messages": [
            user({**text("a"), **EPHEMERAL}),
            assistant(tool_use("t1")),
            user(tool_result("t1", [{**text("b"), **EPHEMERAL}])),
        ],
    }

    assert found(body, "anthropic") == [("A17", "cache_control")]
    assert found({**body, "cache_control": None}, "anthropic") == []


def test_a_longer_mark_stands_before_a_shorter_one():
    body = {
        "system": [{**text("s"), **EPHEMERAL}],
        "messages": [user({**text("a"), **HOUR})],
    }

    assert found(body, "anthropic") == [("A17", "messages[0].content[0]")]
    assert found({**body, "system": [{**text("s"), **HOUR}]}, "anthropic") == []


def test_a_mark_is_ephemeral_and_not_on_an_empty_text():
    body = {
        "system": [{**text("s"), "cache_control": {"type": "ephemeral", "ttl": "1d"}}],
        "messages": [user({**text(""), **EPHEMERAL})],
    }

    assert found(body, "anthropic") == [
        ("A17", "system[0]"),
        ("A8", "messages[0].content[0]"),
        ("A17", "messages[0].content[0]"),
    ]


def test_a_blank_system_block_is_found():
    assert found({"system": [text(" ")], "messages": [ASKED]}, "anthropic") == [("A8", "system[0]")]
    assert found({"system": "", "messages": [ASKED]}, "anthropic") == []


LOOP = [ASKED, assistant(tool_use("t1")), user(tool_result("t1"))]


def test_with_manual_thinking_the_turn_under_way_starts_with_it():
    manual = {"type": "enabled", "budget_tokens": 1024}

    def judged(*messages):
        return found({"thinking": manual, "messages": list(messages)}, "anthropic")

    assert judged(*LOOP) == [("A11", "messages[1].content[0]")]
    assert judged(*LOOP, assistant("done"), user("next")) == []
    assert judged(ASKED, assistant(thinking(), tool_use("t1")), user(tool_result("t1"))) == []


def test_only_the_first_step_of_a_turn_needs_its_thinking():
    body = {
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            *[ASKED, assistant(thinking(), tool_use("t1")), user(tool_result("t1"))],
            *[assistant(tool_use("t2")), user(tool_result("t2"))],
        ],
    }

    assert found(body, "anthropic") == []


def test_without_thinking_the_last_message_holds_none():
    body = {"thinking": {"type": "disabled"}, "messages": [ASKED, assistant(thinking())]}

    assert found(body, "anthropic") == [("A11", "messages[1].content[0]")]


@pytest.mark.parametrize(
    "model",
    [
        *("claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-5-5", "claude-fable-5-1"),
        *("anthropic/claude-sonnet-4.6", "us.anthropic.claude-opus-4-6-v1"),
    ],
)
def test_newer_models_refuse_an_assistant_at_the_end(model):
    history = [ASKED, assistant("The answer is")]

    assert found({"model": model, "messages": history}, "anthropic") == [("A20", "messages[1]")]
    assert found(history, "anthropic", model=model) == [("A20", "messages[1]")]


@pytest.mark.parametrize("model", ["claude-haiku-4-5-20251001", "claude-sonnet-4-5", "novelty"])
def test_other_models_continue_an_assistant_at_the_end(model):
    body = {"model": model, "messages": [ASKED, assistant("The answer is")]}

    assert found(body, "anthropic") == []


def test_a_paused_turn_and_a_pending_call_are_no_prefill():
    searching = {"model": "claude-opus-5", "messages": [ASKED, assistant(text("a"), SEARCH)]}
    calling = {"model": "claude-opus-5", "messages": [ASKED, assistant(tool_use("t1"))]}

    assert found(searching, "anthropic") == []
    assert found(calling, "anthropic", pending=True) == []


def test_a_forced_tool_is_refused_by_the_model_that_refuses_it():
    body = {"tool_choice": {"type": "any"}, "messages": [ASKED]}

    assert found({**body, "model": "claude-fable-5-1"}, "anthropic") == [("A21", "tool_choice")]
    assert found({**body, "model": "claude-opus-5"}, "anthropic") == []


def test_a_whole_request_defines_the_tools_its_history_used():
    whole = {"model": "claude-opus-5", "max_tokens": 9, "messages": LOOP}

    assert found(whole, "anthropic") == [("A19", "tools")]
    assert found({**whole, "tools": [{"name": "ls", "input_schema": {}}]}, "anthropic") == []
    assert found({"tools": [], "messages": LOOP}, "anthropic") == [("A19", "tools")]
    assert found({"messages": LOOP}, "anthropic") == []


def test_no_two_tools_have_one_name():
    tools = [{"name": "ls", "input_schema": {}}, {"name": "ls", "input_schema": {}}]

    assert found({"tools": tools, "messages": [ASKED]}, "anthropic") == [("A19", "tools[1]")]
