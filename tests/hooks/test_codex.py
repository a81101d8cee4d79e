from headgate import utf8_bytes
from headgate.hooks import codex
from headgate.hooks.heard import Heard, Shown
from tests.hooks import events
from tests.hooks.events import SESSION


def test_the_output_of_a_command_is_heard():
    assert codex.hear(events.codex("out")) == Heard(
        session=SESSION,
        call_id="call_01",
        tool="Bash",
        arguments={"command": "make"},
        texts={(): "out"},
        most=utf8_bytes(9_900),
    )


def test_the_texts_of_an_mcp_result_are_heard_with_its_error_flag():
    response = {
        "content": [{"type": "text", "text": "a"}, {"type": "image", "data": "AAAA"}],
        "structuredContent": {"b": "c"},
        "isError": True,
    }

    heard = codex.hear(events.codex(response, tool="mcp__x__y"))

    assert heard is not None
    assert (heard.texts, heard.is_error) == ({(0, "text"): "a"}, True)


def test_a_patch_and_another_event_are_none_of_ours():
    assert codex.hear(events.codex("done", tool="apply_patch")) is None
    assert codex.hear(events.codex("x", hook_event_name="PreToolUse")) is None


def test_the_answer_blocks_and_its_reason_is_all_text():
    event = events.codex(
        {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    )
    heard = codex.hear(event)
    assert heard is not None

    answer = codex.answer(event, Shown({(0, "text"): "short"}, heard))

    assert answer == {"decision": "block", "reason": "short\nb"}
