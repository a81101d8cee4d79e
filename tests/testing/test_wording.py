import json

import pytest

from headgate.check import check
from headgate.testing import wording_anthropic, wording_gemini, wording_openai
from tests.check import test_anthropic, test_gemini, test_openai_chat, test_openai_responses

SAYS = {
    "anthropic": ("messages", wording_anthropic.refusal, test_anthropic.BROKEN),
    "openai-chat": ("messages", wording_openai.chat_refusal, test_openai_chat.BROKEN),
    "openai-responses": ("input", wording_openai.responses_refusal, test_openai_responses.BROKEN),
    "gemini": ("contents", wording_gemini.refusal, test_gemini.BROKEN),
}
BROKEN = [
    pytest.param(dialect, {key: history}, id=f"{dialect}: {name}")
    for dialect, (key, _, table) in SAYS.items()
    for name, (history, _) in table.items()
]


def refusal(dialect, body):
    _, say, _ = SAYS[dialect]
    return say(check(json.dumps(body).encode(), dialect), body)


@pytest.mark.parametrize(("dialect", "body"), BROKEN)
def test_every_broken_rule_is_put_into_words(dialect, body):
    refused = refusal(dialect, body)

    assert refused.status == 400
    assert len(refused.message) > 20
    assert "None" not in refused.message


CALL = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
ASKED = {"role": "user", "content": "go"}
CALLED = {"role": "assistant", "content": [CALL]}
MARKED = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}


def after(*messages):
    return {"messages": [ASKED, *messages]}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            after({"role": "assistant", "content": [CALL, {**CALL, "id": "t2"}]}, ASKED),
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: "
            "t1, t2. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message.",
        ),
        (
            after(CALLED, {"role": "user", "content": [{"type": "text", "text": "a"}, RESULT]}),
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: "
            "t1. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message.",
        ),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [CALL, {"type": "text", "text": "I look."}]},
                    {"role": "user", "content": [RESULT]},
                ]
            },
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
            "t1. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message.",
        ),
        (
            after(
                {"role": "assistant", "content": [CALL, CALL]},
                {"role": "user", "content": [RESULT]},
            ),
            "messages.1.content.1: `tool_use` ids must be unique",
        ),
        (
            after(CALLED, {"role": "user", "content": [RESULT, RESULT]}),
            "messages.2.content.1: each tool_use must have a single result. Found multiple "
            "`tool_result` blocks with id: t1",
        ),
        (
            after(
                {"role": "assistant", "content": [{**CALL, "id": "a.b"}]},
                {"role": "user", "content": [{**RESULT, "tool_use_id": "a.b"}]},
            ),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            after(
                {"role": "assistant", "content": [{**CALL, "input": "{}"}]},
                {"role": "user", "content": [RESULT]},
            ),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            after({"role": "assistant", "content": "I will "}),
            "messages: final assistant content cannot end with trailing whitespace",
        ),
        (
            {"messages": [{"role": "user", "content": [MARKED] * 5}]},
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (
            {
                "thinking": {"type": "enabled", "budget_tokens": 1024},
                **after(CALLED, {"role": "user", "content": [RESULT]}),
            },
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a "
            "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). "
            "We recommend you include thinking blocks from previous turns. To avoid this "
            "requirement, disable `thinking`.",
        ),
        (
            {"tools": [], **after(CALLED, {"role": "user", "content": [RESULT]})},
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        ),
    ],
)
def test_anthropic_is_quoted(body, said):
    assert refusal("anthropic", body).message == said


def test_a_misplaced_compaction_has_its_stable_code():
    summary = {"type": "compaction", "content": "so far"}

    late = refusal("anthropic", after({"role": "assistant", "content": [summary]}, ASKED))
    twice = refusal("anthropic", {"messages": [{"role": "user", "content": [summary, summary]}]})

    assert late.code == "compaction_block_misplaced"
    assert twice.code == "compaction_block_ambiguous"


GO = {"role": "user", "parts": [{"text": "go"}]}
GEMINI_CALL = {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]}
GEMINI_RESULT = {"functionResponse": {"name": "ls", "response": {}}}


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (
            [
                GO,
                {"role": "model", "parts": [{"text": "a"}]},
                {"role": "user", "parts": [GEMINI_RESULT]},
            ],
            "Please ensure that function response turn comes immediately after a function call "
            "turn.",
        ),
        (
            [GO, GEMINI_CALL],
            "Please ensure that the number of function response parts is equal to the number of "
            "function call parts of the function call turn.",
        ),
        (
            [GEMINI_CALL, {"role": "user", "parts": [GEMINI_RESULT]}],
            "Please ensure that function call turn comes immediately after a user turn or after a "
            "function response turn.",
        ),
        ([GO, GO], "Please ensure that multiturn requests alternate between user and model."),
        ([{"role": "system", "parts": [{"text": "a"}]}], "Please use a valid role: user, model."),
    ],
)
def test_gemini_is_quoted(contents, said):
    assert refusal("gemini", {"contents": contents}).message == said
