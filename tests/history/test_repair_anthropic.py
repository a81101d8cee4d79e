import json

import pytest

from headgate.check import check
from headgate.dialects import anthropic
from headgate.history.repair import repair
from tests.history.mending import given_up, mended

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}
MARK = {"cache_control": {"type": "ephemeral"}}


def text(said, **more):
    return {"type": "text", "text": said, **more}


def use(id_, tool="grep", **input_):
    return {"type": "tool_use", "id": id_, "name": tool, "input": input_}


def result(id_, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


GO = {"role": "user", "content": "go"}


@pytest.mark.proves("H1")
def test_a_missing_result_goes_before_the_text_in_the_same_message():
    items, kinds = mended("anthropic", [GO, assistant(use("a")), {"role": "user", "content": "?"}])

    assert kinds == ["missing"]
    assert [block["type"] for block in items[2]["content"]] == ["tool_result", "text"]
    assert items[2]["content"][0]["is_error"] is True
    assert items[2]["content"][1] == text("?")


@pytest.mark.proves("H1")
def test_failure_6_a_mixed_message_keeps_its_text_and_loses_its_orphan():
    items, kinds = mended("anthropic", [user(result("old"), text("next"))])

    assert kinds == ["orphan"]
    assert items == [user(text("next"))]


@pytest.mark.proves("H1")
def test_results_over_several_messages_are_gathered_in_the_order_of_their_calls():
    split = [user(result("b", "2")), user(result("a", "1"), text("done")), user(text("so?"))]

    items, kinds = mended("anthropic", [GO, assistant(use("a"), use("b")), *split])

    assert kinds == ["moved"]
    assert items[2] == user(result("a", "1"), result("b", "2"))
    assert items[3] == user(text("done"))
    assert items[4] == user(text("so?"))


@pytest.mark.proves("H3")
def test_results_in_another_order_than_their_calls_are_left_alone():
    messages = [GO, assistant(use("a"), use("b")), user(result("b"), result("a"), text("x"))]

    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H1")
@pytest.mark.parametrize("other", [text("look"), IMAGE])
def test_results_after_other_blocks_are_put_before_them(other):
    items, kinds = mended("anthropic", [GO, assistant(use("a")), user(other, result("a"))])

    assert kinds == ["moved"]
    assert items[2] == user(result("a"), other)


@pytest.mark.proves("H3")
def test_fragments_of_one_response_are_one_step():
    messages = [GO, assistant(use("a")), assistant(use("b")), user(result("a"), result("b"))]

    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_text_behind_a_call_is_put_before_it():
    items, kinds = mended("anthropic", [GO, assistant(use("a"), text("wait")), user(result("a"))])

    assert kinds == ["moved"]
    assert items[1] == assistant(text("wait"), use("a"))


@pytest.mark.proves("H1")
def test_text_in_a_message_behind_the_call_is_joined_before_it():
    broken = [GO, assistant(use("a")), {"role": "assistant", "content": "wait"}, user(result("a"))]

    items, kinds = mended("anthropic", broken)

    assert kinds == ["moved"]
    assert items == [GO, assistant(text("wait"), use("a")), user(result("a"))]


@pytest.mark.proves("H1")
def test_an_id_that_comes_back_gets_the_same_suffix_on_both_sides():
    again = [assistant(use("a")), user(result("a", "1"))]

    items, kinds = mended("anthropic", [GO, *again, *again, *again])

    assert kinds == ["renamed", "renamed"]
    assert [block["id"] for item in items for block in item["content"] if "id" in block] == [
        "a",
        "a_2",
        "a_3",
    ]


@pytest.mark.proves("H1")
def test_a_suffix_that_is_taken_is_passed_over():
    calls = [assistant(use("a_2")), user(result("a_2")), assistant(use("a")), user(result("a"))]

    items, _ = mended("anthropic", [GO, *calls, assistant(use("a")), user(result("a"))])

    assert items[-1] == user(result("a_3"))


@pytest.mark.proves("H1")
def test_an_id_with_letters_that_are_refused_is_made_legal_on_both_sides():
    items, kinds = mended(
        "anthropic", [GO, assistant(use("functions.bash:0")), user(result("functions.bash:0"))]
    )

    assert kinds == ["renamed"]
    assert items[1] == assistant(use("functions_bash_0"))
    assert items[2] == user(result("functions_bash_0"))


@pytest.mark.proves("H4", "H3")
def test_failure_12_a_message_with_thinking_is_never_changed_to_mend_its_ids():
    again = [assistant(THOUGHT, use("a")), user(result("a"))]

    assert given_up("anthropic", [GO, *again, *again]) == (
        "an assistant message with thinking would have to be changed"
    )


@pytest.mark.proves("H4", "H1")
def test_a_missing_result_beside_thinking_is_made_without_touching_it():
    spoken = assistant(THOUGHT, text("x"), use("a"))

    items, kinds = mended("anthropic", [GO, spoken, user(text("?"))])

    assert kinds == ["missing"]
    assert items[1] == spoken


@pytest.mark.proves("H3", "H4")
def test_failure_13_thinking_without_text_is_left_alone():
    omitted = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    messages = [GO, assistant(omitted, use("a")), user(result("a"))]

    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H1")
@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\u00a0", "\u200b", "\t\u3000"])
def test_failure_18_a_text_that_shows_nothing_is_taken_out(blank):
    spoken = assistant(text(blank), THOUGHT, text("x"), use("a"))

    items, kinds = mended("anthropic", [GO, spoken, user(result("a"), text(blank, **MARK))])

    assert kinds == ["blank", "blank"]
    assert items[1] == assistant(THOUGHT, text("x"), use("a"))
    assert items[2] == user(result("a"))


@pytest.mark.proves("H1", "P6")
def test_behind_words_of_the_system_the_assistant_is_not_taken_out():
    note = {"role": "system", "content": "Be brief."}

    items, kinds = mended("anthropic", [GO, note, assistant(text(" ")), GO])

    assert kinds == ["blank", "empty"]
    assert items == [GO, note, assistant(text("(no content)")), GO]


@pytest.mark.proves("H1")
@pytest.mark.parametrize("nothing", [{"text": None}, {}])
def test_a_text_that_is_not_there_is_taken_out(nothing):
    items, kinds = mended("anthropic", [user({"type": "text", **nothing}, text("x"))])

    assert (items, kinds) == ([user(text("x"))], ["blank"])


@pytest.mark.proves("P7")
def test_what_is_no_block_is_not_taken_for_a_text():
    odd = {"tool_use_id": "a", "content": None}
    history = anthropic.read(json.dumps([user(result("x"), odd, text("y"))]).encode())

    mended_ = repair(history)

    assert [fix.kind for fix in mended_.fixes] == ["orphan"]
    assert json.loads(anthropic.write(mended_.history)) == [user(odd, text("y"))]


@pytest.mark.proves("H1")
def test_a_message_of_the_user_that_would_be_empty_says_so():
    items, kinds = mended(
        "anthropic", [{"role": "user", "content": " "}, assistant(text("x")), user(), GO]
    )

    assert kinds == ["blank", "empty", "empty"]
    assert items == [
        user(text("(no content)")),
        assistant(text("x")),
        user(text("(no content)")),
        GO,
    ]


@pytest.mark.proves("H1")
def test_an_empty_message_behind_another_of_the_user_is_taken_out():
    items, kinds = mended("anthropic", [GO, {"role": "user", "content": ""}, GO])

    assert (items, kinds) == ([GO, GO], ["empty"])


@pytest.mark.proves("H1")
def test_an_empty_message_of_the_assistant_is_taken_out_but_for_the_last():
    items, kinds = mended("anthropic", [GO, assistant(), GO, assistant()])

    assert (items, kinds) == ([GO, GO, assistant()], ["empty"])


@pytest.mark.proves("H1")
def test_white_space_at_the_very_end_goes_and_elsewhere_stays():
    spoken = {"role": "assistant", "content": " I will \n"}

    items, kinds = mended("anthropic", [GO, spoken, GO, spoken])

    assert kinds == ["blank"]
    assert items == [GO, spoken, GO, {"role": "assistant", "content": " I will"}]


@pytest.mark.proves("H1")
@pytest.mark.parametrize("model", ["claude-opus-4-6-20260101", "us.anthropic.claude-sonnet-5-v1:0"])
def test_a_model_that_refuses_to_go_on_from_itself_is_asked_by_the_user(model):
    items, kinds = mended(
        "anthropic", [GO, assistant(text("partial"))], model=model, max_tokens=1, tools=[]
    )

    assert kinds == ["tail"]
    assert items[-1] == user(text("Continue."))


@pytest.mark.proves("H3")
@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-3-5-sonnet", ""])
def test_a_history_may_end_with_the_assistant_where_that_is_allowed(model):
    messages = [GO, assistant(text("partial"))]

    assert mended("anthropic", messages, model=model) == (messages, [])


@pytest.mark.proves("H1")
def test_failure_20_an_image_in_an_error_is_moved_behind_the_results():
    wrong = result("a", [text("bad"), IMAGE], is_error=True)

    items, kinds = mended(
        "anthropic", [GO, assistant(use("a"), use("b")), user(wrong, result("b"))]
    )

    assert kinds == ["hoisted"]
    assert items[2] == user(result("a", [text("bad")], is_error=True), result("b"), IMAGE)


@pytest.mark.proves("H1")
def test_an_error_of_nothing_but_an_image_says_that_it_had_no_text():
    items, _ = mended(
        "anthropic", [GO, assistant(use("a")), user(result("a", [IMAGE], is_error=True))]
    )

    assert items[2] == user(result("a", "(the error came without text)", is_error=True), IMAGE)


@pytest.mark.proves("H3", "H4")
def test_an_image_in_a_result_that_is_no_error_stays():
    messages = [GO, assistant(use("a")), user(result("a", [IMAGE, text(" ")]))]

    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_an_empty_text_inside_of_a_result_is_taken_out():
    items, kinds = mended(
        "anthropic", [GO, assistant(use("a")), user(result("a", [text(""), text("x")]))]
    )

    assert (items[2], kinds) == (user(result("a", [text("x")])), ["blank"])


@pytest.mark.proves("H1")
@pytest.mark.parametrize(
    ("given_", "mended_"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ('{"path": "a', {"_raw": '{"path": "a'}),
        (None, {}),
        ([1], {"_raw": [1]}),
    ],
)
def test_an_input_that_is_no_object_becomes_one(given_, mended_):
    call = {"type": "tool_use", "id": "a", "name": "edit", "input": given_}

    items, kinds = mended("anthropic", [GO, assistant(call), user(result("a"))])

    assert kinds == ["content"]
    assert items[1]["content"][0]["input"] == mended_


SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
MCP = {"type": "mcp_tool_use", "id": "mcp_1", "name": "x", "server_name": "s", "input": {}}


@pytest.mark.proves("H1", "H4")
@pytest.mark.parametrize("half", [SEARCH, FOUND, MCP], ids=["call", "result", "connector"])
def test_failure_17_half_of_a_server_tool_is_taken_out(half):
    items, kinds = mended("anthropic", [GO, assistant(THOUGHT, text("x"), half), GO])

    assert kinds == ["server"]
    assert items[1] == assistant(THOUGHT, text("x"))


@pytest.mark.proves("H1", "P6")
@pytest.mark.parametrize("none", [{"id": ""}, {"id": None}, {}], ids=str)
def test_what_a_server_tool_did_without_an_id_is_taken_out(none):
    asked = {**{key: value for key, value in SEARCH.items() if key != "id"}, **none}
    found = {**FOUND, "tool_use_id": ""}

    items, kinds = mended("anthropic", [GO, assistant(text("x"), asked, found, SEARCH, FOUND), GO])

    assert kinds == ["server", "server"]
    assert items[1] == assistant(text("x"), SEARCH, FOUND)


@pytest.mark.proves("H3", "H4")
@pytest.mark.parametrize(
    "messages",
    [
        [GO, assistant(SEARCH, FOUND, text("x")), GO],
        [GO, assistant(text("x"), SEARCH)],
        [GO, assistant(SEARCH), assistant(FOUND, text("x")), GO],
        [GO, assistant(SEARCH), GO, assistant(FOUND, text("x")), GO],
    ],
    ids=["whole", "still running", "in two messages", "answered a turn later"],
)
def test_what_a_server_tool_did_or_still_does_is_left_alone(messages):
    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H3", "H4")
def test_code_that_waits_for_a_call_of_the_client_still_runs():
    code = {"type": "server_tool_use", "id": "srv_9", "name": "code_execution", "input": {}}
    call = {**use("a"), "caller": {"type": "code_execution_20250825", "tool_id": "srv_9"}}
    messages = [GO, assistant(code, call), user(result("a"))]

    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H3", "H4")
def test_half_of_a_server_tool_before_thinking_cannot_be_taken_out():
    assert given_up("anthropic", [GO, assistant(SEARCH, THOUGHT, text("x")), GO]) == (
        "half of a server tool's pair stands before thinking"
    )


@pytest.mark.proves("H1")
def test_thinking_that_was_lost_is_switched_off_for_the_request():
    messages = [GO, assistant(use("a")), user(result("a"))]
    raw = json.dumps({"thinking": {"type": "enabled"}, "messages": messages}).encode()

    repaired = repair(anthropic.read(raw))

    out = anthropic.write(repaired.history)
    assert out == raw.replace(b'{"type": "enabled"}', b'{"type":"disabled"}')
    assert [(fix.kind, fix.where) for fix in repaired.fixes] == [("thinking", "thinking")]
    assert check(out, "anthropic") == []


@pytest.mark.proves("H3", "H4")
def test_a_thread_that_the_provider_keeps_is_not_rewritten():
    raw = json.dumps({"thread": "th_1", "messages": [user(result("old"))]}).encode()
    history = anthropic.read(raw)

    assert repair(history).history is history


@pytest.mark.proves("H1")
def test_a_result_must_repeat_the_toolset_of_its_call():
    call = {**use("a"), "toolset_name": "t"}

    items, kinds = mended("anthropic", [GO, assistant(call), user(result("a"))])

    assert kinds == ["matched"]
    assert items[2]["content"][0]["toolset_name"] == "t"


@pytest.mark.proves("H1", "H4")
def test_what_many_agents_did_at_once_is_mended_at_once():
    broken = [
        user(result("gone"), text("")),
        assistant(text(""), use("a"), use("a"), text("tail")),
        user(text("between")),
        user(result("a", [IMAGE], is_error=True)),
        assistant(SEARCH, text("and")),
        user(result("a", "late")),
    ]

    items, kinds = mended("anthropic", broken)

    assert sorted(set(kinds)) == [
        *("blank", "duplicate", "empty", "hoisted", "late", "moved", "orphan", "server")
    ]
    assert items[1] == assistant(text("tail"), use("a"))
