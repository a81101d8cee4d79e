import json

import pytest

from headgate import Gate, Policy, tokens
from headgate.check import check
from headgate.dialects import openai_responses as responses
from headgate.history.repair import repair
from tests.history.mending import given_up, mended

GO = {"role": "user", "content": "go"}
LONG = "0" * 40


def call(id_, tool="grep", **more):
    return {"type": "function_call", "call_id": id_, "name": tool, "arguments": "{}", **more}


def out(id_, output="ok", **more):
    return {"type": "function_call_output", "call_id": id_, "output": output, **more}


def thought(id_, **more):
    return {"type": "reasoning", "id": id_, "summary": [], **more}


def said(text="x", **more):
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, **more}


@pytest.mark.proves("H1")
def test_failure_2_a_missing_result_goes_behind_the_calls_of_its_step():
    items, kinds = mended("openai-responses", [GO, call("a"), call("b"), said(), out("a"), GO])

    assert kinds == ["missing"]
    assert [item.get("call_id") for item in items] == [None, "a", "b", "b", None, "a", None]
    assert items[3]["output"].startswith("Error: This call was interrupted")


@pytest.mark.proves("H1")
@pytest.mark.parametrize("nothing", [{"output": None}, {}])
def test_a_result_without_output_says_nothing(nothing):
    empty = {"type": "function_call_output", "call_id": "a", **nothing}

    items, kinds = mended("openai-responses", [GO, call("a"), empty])

    assert kinds == ["content"]
    assert items[2] == out("a", "")


@pytest.mark.proves("H1")
@pytest.mark.parametrize(
    ("given", "spelled"), [(None, "{}"), ({"path": "ä"}, '{"path": "\\u00e4"}'), ([1], "[1]")]
)
def test_arguments_that_are_no_text_are_written_as_one(given, spelled):
    items, kinds = mended("openai-responses", [GO, call("a") | {"arguments": given}, out("a")])

    assert kinds == ["content"]
    assert items[1] == call("a") | {"arguments": spelled}


@pytest.mark.proves("H1")
def test_a_message_whose_content_is_null_says_nothing():
    items, kinds = mended("openai-responses", [GO, {"role": "assistant", "content": None}, GO])

    assert kinds == ["content"]
    assert items[1] == {"role": "assistant", "content": ""}


@pytest.mark.proves("P7", "P24")
@pytest.mark.parametrize("entry", [1, "text", {"stdout": 1}, {"stdout": "x", "stderr": []}])
def test_an_output_of_a_shell_in_a_form_nobody_knows_is_left_alone(entry, state):
    shell = {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}}
    answer = {"type": "shell_call_output", "call_id": "s", "output": [entry]}
    body = json.dumps([GO, shell, answer]).encode()

    gate = Gate(Policy(result=tokens(128)), state=state)
    assert gate.prepare(body, dialect="openai-responses").body == body


@pytest.mark.proves("H1")
def test_an_approval_that_nobody_asked_for_is_taken_out():
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x", "arguments": "{}"}
    given = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    stray = {**given, "approval_request_id": "mcpr_2"}

    items, kinds = mended("openai-responses", [GO, asked, given, stray, GO])

    assert kinds == ["orphan"]
    assert items == [GO, asked, given, GO]


@pytest.mark.proves("H1")
def test_every_kind_of_call_is_answered_in_its_own_way():
    shell = {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}}
    patch = {"type": "apply_patch_call", "call_id": "p", "operation": {}}
    local = {"type": "local_shell_call", "call_id": "l", "action": {}}
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "n", "input": ""}

    items, kinds = mended("openai-responses", [GO, shell, patch, local, custom, GO])

    assert kinds == ["missing"] * 4
    assert [item["type"] for item in items[5:9]] == [
        "shell_call_output",
        "apply_patch_call_output",
        "local_shell_call_output",
        "custom_tool_call_output",
    ]
    assert items[5]["output"][0]["outcome"] == {"type": "timeout"}
    assert items[6]["status"] == "failed"


@pytest.mark.proves("H3")
def test_a_screenshot_cannot_be_made_up():
    lost = {"type": "computer_call", "call_id": "a", "action": {}}

    assert given_up("openai-responses", [GO, lost, GO]) == (
        "the result of computer_call 'a' is a screenshot"
    )


@pytest.mark.proves("H3")
def test_results_may_stand_anywhere_behind_their_calls():
    messages = [GO, call("a"), said(), call("b"), GO, out("b"), said(), out("a"), GO]

    assert mended("openai-responses", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_an_id_that_is_called_again_is_the_later_call_s():
    broken = [GO, call("a"), GO, call("a"), out("a", "second"), GO]

    items, kinds = mended("openai-responses", broken)

    assert kinds == ["missing"]
    assert [item.get("output", "")[:6] for item in items] == [
        "",
        "",
        "Error:",
        "",
        "",
        "second",
        "",
    ]


@pytest.mark.proves("H1")
def test_a_result_of_the_wrong_kind_is_made_to_fit():
    custom = {"type": "custom_tool_call", "call_id": "a", "name": "n", "input": ""}

    items, kinds = mended("openai-responses", [GO, custom, out("a")])

    assert kinds == ["matched"]
    assert items[2] == {**out("a"), "type": "custom_tool_call_output"}


@pytest.mark.proves("H3")
@pytest.mark.parametrize("held", ["previous_response_id", "conversation"])
def test_a_result_may_answer_a_call_that_the_provider_keeps(held):
    messages = [out("a"), GO]

    assert mended("openai-responses", messages, **{held: "x_1"}) == (messages, [])


@pytest.mark.proves("H1")
def test_a_result_may_answer_a_call_that_is_only_referred_to():
    body = json.dumps([said(), {"type": "item_reference", "id": "fc_1"}, out("c1")]).encode()

    repaired = repair(responses.read(body))

    assert (repaired.fixes, responses.write(repaired.history)) == ((), body)


@pytest.mark.proves("H1")
def test_a_call_that_the_provider_keeps_is_not_sent_again():
    items, kinds = mended(
        "openai-responses", [call("a", id="fc_1"), out("a")], previous_response_id="resp_1"
    )

    assert (items, kinds) == ([out("a")], ["item"])


@pytest.mark.proves("H1", "H4")
@pytest.mark.parametrize("tail", [[], [GO], [out("a"), GO]], ids=["end", "user", "result"])
def test_failure_15_reasoning_without_what_it_produced_goes(tail):
    start = [GO, call("a"), out("a")] if not tail or tail == [GO] else [GO, call("a")]

    items, kinds = mended("openai-responses", [*start, thought("rs_1"), *tail])

    assert kinds == ["reasoning"]
    assert items == [*start, *tail]


@pytest.mark.proves("H1")
def test_reasoning_before_a_call_that_is_taken_out_goes_with_it():
    twin = [thought("rs_1"), call("a"), thought("rs_2"), call("a"), out("a"), GO]

    items, kinds = mended("openai-responses", [GO, *twin])

    assert sorted(kinds) == ["duplicate", "reasoning"]
    assert items == [GO, thought("rs_1"), call("a"), out("a"), GO]


@pytest.mark.proves("H3", "H4")
@pytest.mark.parametrize(
    "item",
    [
        thought("rs_1", encrypted_content="x"),
        {"type": "reasoning", "summary": []},
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
    ],
    ids=["encrypted", "without id", "encrypted without id"],
)
def test_reasoning_that_is_not_looked_up_may_stand_alone(item):
    messages = [GO, item, GO, thought("rs_2"), said()]

    assert mended("openai-responses", messages, store=False) == (messages, [])


@pytest.mark.proves("H1")
def test_stored_reasoning_before_an_item_without_its_id_goes():
    known = thought(f"rs_{LONG}", encrypted_content="x")

    items, kinds = mended("openai-responses", [GO, known, said(), GO], model="m")

    assert (items, kinds) == ([GO, said(), GO], ["reasoning"])


@pytest.mark.proves("H1")
@pytest.mark.parametrize(
    ("item", "mended_"),
    [
        (call("a", id="call_1"), call("a")),
        (said(id="item_1"), said()),
        (
            {"type": "custom_tool_call", "call_id": "a", "id": "x", "name": "n", "input": ""},
            {"type": "custom_tool_call", "call_id": "a", "name": "n", "input": ""},
        ),
    ],
)
def test_failure_16_an_id_that_cannot_be_the_providers_is_taken_out(item, mended_):
    kind = (
        "custom_tool_call_output" if item["type"].startswith("custom") else "function_call_output"
    )
    answer = [{**out("a"), "type": kind}] if "call_id" in item else []

    items, kinds = mended("openai-responses", [GO, item, *answer, GO])

    assert (items, kinds) == ([GO, mended_, *answer, GO], ["item"])


@pytest.mark.proves("H1")
def test_an_item_that_comes_twice_goes_without_its_id_and_reasoning_goes():
    step = [thought("rs_1"), call("a", id="fc_1"), out("a")]

    items, kinds = mended("openai-responses", [GO, *step, *step, GO])

    assert kinds == ["item", "item"]
    assert items == [GO, *step, call("a"), out("a"), GO]


@pytest.mark.proves("H1")
@pytest.mark.parametrize("more", [{"model": "gpt-5-mini"}, {"reasoning": {"effort": "high"}}])
def test_a_call_whose_reasoning_is_lost_goes_without_its_id(more):
    items, kinds = mended("openai-responses", [GO, call("a", id=f"fc_{LONG}"), out("a")], **more)

    assert (items, kinds) == ([GO, call("a"), out("a")], ["item"])


@pytest.mark.proves("H3")
@pytest.mark.parametrize("more", [{"model": "gpt-4.1"}, {"reasoning": {"effort": "none"}}])
def test_a_call_of_a_model_that_does_not_reason_keeps_its_id(more):
    messages = [GO, call("a", id=f"fc_{LONG}"), out("a")]

    assert mended("openai-responses", messages, **more) == (messages, [])


@pytest.mark.proves("H1")
def test_failure_9_where_calls_must_stand_together_messages_go_before_them():
    step = [said("one"), call("a"), said("two"), call("b"), out("a"), out("b"), GO]

    items, kinds = mended("openai-responses", step, model="deepseek-chat")

    assert kinds == ["moved"]
    assert items == [said("one"), said("two"), call("a"), call("b"), out("a"), out("b"), GO]
    assert mended("openai-responses", step, model="gpt-4.1") == (step, [])


@pytest.mark.proves("H4", "P7")
def test_items_that_are_not_known_stay_where_they_are():
    odd = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    raw = json.dumps([odd, call("a"), {"type": "novel", "x": 1}, GO]).encode()

    repaired = repair(responses.read(raw))

    after = responses.write(repaired.history)
    assert check(after, "openai-responses") == []
    assert [item["type"] for item in json.loads(after)[:4]] == [
        "compaction",
        "function_call",
        "function_call_output",
        "novel",
    ]
