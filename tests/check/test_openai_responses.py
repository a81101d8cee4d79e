import pytest

from tests.check.histories import found, function_call, function_call_output, said

ASKED = said("user")
DONE = said("assistant", "output_text")
RS = "rs_0a4d512680f81369006a5364c645f481a1a979134e6d548de1"
FC = "fc_0a4d512680f81369006a5364c645f481a1a979134e6d548de1"
THOUGHT = {"type": "reasoning", "id": RS, "summary": []}
SEALED = {**THOUGHT, "encrypted_content": "gAAAA"}


def custom(call_id):
    return {"type": "custom_tool_call", "call_id": call_id, "name": "sql", "input": "select 1"}


VALID = {
    "messages with and without a type": [{"role": "user", "content": "hi"}, DONE, ASKED],
    "every role": [said("system"), said("developer"), ASKED, DONE],
    "parallel calls, results in another order": [
        *[ASKED, function_call("c1"), function_call("c2")],
        *[function_call_output("c2"), function_call_output("c1")],
    ],
    "a call_id that comes back after its result": [
        *[ASKED, function_call("c1"), function_call_output("c1")],
        *[function_call("c1"), function_call_output("c1")],
    ],
    "a custom call": [
        *[ASKED, custom("c1")],
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
    ],
    "a local shell, whose result names the call in its id": [
        *[ASKED, {"type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "action": {}}],
        {"type": "local_shell_call_output", "id": "c1", "output": "{}"},
    ],
    "a result with an image": [
        *[ASKED, function_call("c1")],
        function_call_output("c1", [{"type": "input_image", "image_url": "data:"}]),
    ],
    "a message between parallel calls": [
        *[ASKED, function_call("c1"), DONE, function_call("c2")],
        *[function_call_output("c1"), function_call_output("c2")],
    ],
    "reasoning before its call": [
        *[ASKED, THOUGHT, function_call("c1", id=FC), function_call_output("c1")],
    ],
    "reasoning without an id": [
        *[ASKED, {"type": "reasoning", "summary": [], "encrypted_content": "x"}],
        *[function_call("c1"), function_call_output("c1")],
    ],
    "sealed reasoning of a turn that was broken off": [ASKED, SEALED, ASKED],
    "a call with an id and no reasoning": [
        *[ASKED, function_call("c1", id=FC), function_call_output("c1")],
    ],
    "unknown items": [ASKED, {"type": "novelty", "id": "x"}, {"type": "web_search_call"}, DONE],
    "an approval": [
        *[ASKED, {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x"}],
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ],
    "a tool search": [
        *[ASKED, {"type": "tool_search_call", "call_id": "c1", "arguments": {}}],
        {"type": "tool_search_output", "call_id": "c1", "tools": []},
    ],
}


@pytest.mark.parametrize("history", VALID.values(), ids=VALID.keys())
def test_a_valid_history_is_left_alone(history):
    assert found(history, "openai-responses") == []
    assert found({"input": history, "store": False}, "openai-responses") == [
        # What is known by its id only cannot be looked up when nothing is stored.
        ("R4", f"input[{place}]")
        for place, item in enumerate(history)
        if item is THOUGHT
    ]


def test_an_input_of_plain_text_is_a_history():
    assert found({"model": "gpt-5", "input": "hi"}, "openai-responses") == []


BROKEN = {
    "a result for no call_id": (
        [{"type": "computer_call_output", "output": {}}],
        [("R2", "input[0]")],
    ),
    "a call_id that is a number": (
        [{"type": "function_call_output", "call_id": 1, "output": "x"}],
        [("R2", "input[0]")],
    ),
    "an id that is a number": (
        [{"type": "message", "id": 1, "role": "user", "content": "x"}],
        [("R5", "input[0]")],
    ),
    "no item but text": (["hi"], [("R7", "input[0]")]),
    "an item without type and role": ([{"content": "hi"}], [("R7", "input[0]")]),
    "a type that is no text": ([{"type": 7, "role": "user"}], [("R7", "input[0]")]),
    "a call without a result": ([ASKED, function_call("c1"), ASKED], [("R1", "input[1]")]),
    "a history that ends with a call": ([ASKED, custom("c1")], [("R1", "input[1]")]),
    "two calls under one id": (
        [ASKED, function_call("c1"), function_call("c1"), function_call_output("c1")],
        [("R1", "input[2]")],
    ),
    "two results for one call": (
        [ASKED, function_call("c1"), function_call_output("c1"), function_call_output("c1")],
        [("R1", "input[3]")],
    ),
    "a call without an id": (
        [ASKED, {"type": "function_call", "name": "ls", "arguments": "{}"}],
        [("R1", "input[1]")],
    ),
    "a result without a call": ([ASKED, function_call_output("c1"), ASKED], [("R2", "input[1]")]),
    "a result before its call": (
        [ASKED, function_call_output("c1"), function_call("c1")],
        [("R2", "input[1]"), ("R1", "input[2]")],
    ),
    "a result of another kind": (
        [ASKED, custom("c1"), function_call_output("c1")],
        [("R1", "input[1]"), ("R2", "input[2]")],
    ),
    "reasoning at the end": ([ASKED, THOUGHT], [("R3", "input[1]")]),
    "reasoning before a message of the user": ([ASKED, THOUGHT, ASKED], [("R3", "input[1]")]),
    "reasoning without a summary": (
        [ASKED, {"type": "reasoning", "id": "rs_1"}, DONE],
        [("R4", "input[1]")],
    ),
    "encrypted content that is no text": (
        [ASKED, {**THOUGHT, "id": "rs_1", "encrypted_content": 7}, DONE],
        [("R4", "input[1]")],
    ),
    "a call_id in the place of the id": (
        [ASKED, function_call("call_1", id="call_1"), function_call_output("call_1")],
        [("R5", "input[1]")],
    ),
    "one id for two items": (
        [ASKED, {**DONE, "id": "msg_1"}, ASKED, {**DONE, "id": "msg_1"}],
        [("R5", "input[3]")],
    ),
    "a result that is an object": (
        [ASKED, function_call("c1"), function_call_output("c1", {"a": 1})],
        [("R6", "input[2]")],
    ),
    "a part that no result holds": (
        [ASKED, function_call("c1"), function_call_output("c1", [{"type": "text"}])],
        [("R6", "input[2].output[0]")],
    ),
    "a result that is too long": (
        [ASKED, function_call("c1"), function_call_output("c1", "x" * 10_485_761)],
        [("R6", "input[2]")],
    ),
    "the role tool": ([{"role": "tool", "content": "x"}], [("R7", "input[0]")]),
    "a part of the assistant in a message of the user": (
        [said("user", "output_text")],
        [("R7", "input[0].content[0]")],
    ),
    "a part of the user in a message of the assistant": (
        [ASKED, said("assistant")],
        [("R7", "input[1].content[0]")],
    ),
    "content that is a number": ([{"role": "user", "content": 7}], [("R7", "input[0]")]),
    "arguments that are an object": (
        [ASKED, function_call("c1", arguments={}), function_call_output("c1")],
        [("R7", "input[1]")],
    ),
    "an approval nobody asked for": (
        [ASKED, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1"}],
        [("R9", "input[1]")],
    ),
}


@pytest.mark.parametrize(("history", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_found_in_its_place(history, expected):
    assert found(history, "openai-responses") == expected
    assert found({"input": history}, "openai-responses") == expected


@pytest.mark.parametrize(
    "history",
    [
        [ASKED, function_call("c1"), function_call("c2")],
        [ASKED, function_call("c1"), function_call("c2"), function_call_output("c1")],
        [ASKED, function_call("c1"), DONE, function_call("c2"), function_call_output("c2")],
    ],
)
def test_calls_that_wait_for_their_results_are_not_missing_them(history):
    assert found(history, "openai-responses", pending=True) == []


def test_only_the_last_step_may_wait():
    history = [ASKED, function_call("c1"), ASKED, function_call("c2")]

    assert found(history, "openai-responses", pending=True) == [("R1", "input[1]")]


@pytest.mark.parametrize(
    "state",
    [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}],
    ids=["previous_response_id", "conversation"],
)
def test_a_call_may_stand_in_what_the_provider_stored(state):
    assert found({**state, "input": [function_call_output("c1")]}, "openai-responses") == []


def test_a_call_may_be_named_by_reference():
    history = [{"type": "item_reference", "id": FC}, function_call_output("c1")]

    assert found(history, "openai-responses") == []


def test_a_stored_call_is_not_sent_again():
    history = [function_call("c1", id=FC), function_call_output("c1")]

    body = {"previous_response_id": "resp_1", "input": history}
    assert found(body, "openai-responses") == [("R5", "input[0]")]


def test_stored_reasoning_is_followed_by_the_very_item_it_produced():
    history = [ASKED, SEALED, {"role": "assistant", "content": "42"}, ASKED]

    assert found({"model": "gpt-5", "input": history}, "openai-responses") == [("R3", "input[1]")]
    assert found({"input": history, "store": False}, "openai-responses") == []
    assert found(history, "openai-responses") == []


CALLED = [ASKED, function_call("c1", id=FC), function_call_output("c1")]


@pytest.mark.parametrize(
    "fields", [{"model": "o4-mini"}, {"model": "gpt-5-2025-08-07", "reasoning": {"effort": "low"}}]
)
def test_where_a_model_reasons_its_call_comes_with_reasoning(fields):
    assert found({**fields, "input": CALLED}, "openai-responses") == [("R3", "input[1]")]
    assert found({**fields, "input": [ASKED, THOUGHT, *CALLED[1:]]}, "openai-responses") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "gpt-4.1"},
        {"model": "gpt-5.5", "reasoning": {"effort": "medium"}},
        {"model": "gpt-5", "reasoning": {"effort": "none"}},
    ],
)
def test_where_a_model_need_not_reason_its_call_may_come_alone(fields):
    assert found({**fields, "input": CALLED}, "openai-responses") == []


def test_a_server_that_wants_the_calls_of_a_step_together_is_known_by_its_model():
    history = VALID["a message between parallel calls"]

    body = {"model": "deepseek-chat", "input": history}
    assert found(body, "openai-responses") == [("R10", "input[3]")]
