from pathlib import Path

import pytest

from headgate.hooks import claude_code
from headgate.hooks.heard import Heard, Shown
from tests.hooks import events
from tests.hooks.events import SESSION, bash

KEPT = f"/home/u/.claude/projects/-work/{SESSION}/tool-results/b1.txt"


def heard(event) -> Heard:
    found = claude_code.hear(event)
    assert found is not None
    return found


def test_the_streams_of_a_command_are_heard():
    assert heard(events.claude_code(bash("out", "err"))) == Heard(
        session=SESSION,
        call_id="toolu_01",
        tool="Bash",
        arguments={"command": "make", "description": "build"},
        texts={("stdout",): "out", ("stderr",): "err"},
        files=Path(f"/home/u/.claude/projects/-work/{SESSION}/tool-results"),
    )


def test_the_content_of_a_file_is_heard_and_its_name_is_not():
    file = {"filePath": "/work/a.py", "content": "x\n" * 400, "numLines": 400}

    texts = heard(events.claude_code({"type": "text", "file": file}, tool="Read")).texts

    assert texts == {("file", "content"): "x\n" * 400}


def test_the_texts_of_an_mcp_result_are_heard_and_its_images_are_not():
    blocks = [{"type": "text", "text": "y" * 600}, {"type": "image", "data": "A" * 9_000}]

    assert heard(events.claude_code(blocks, tool="mcp__x__y")).texts == {(0, "text"): "y" * 600}
    assert heard(events.claude_code("z" * 600, tool="mcp__x__y")).texts == {(): "z" * 600}


def test_what_claude_code_put_into_a_file_is_heard_from_there():
    response = bash("the start", persistedOutputPath=KEPT, persistedOutputSize=90_000)

    assert heard(events.claude_code(response)).whole == Path(KEPT)


@pytest.mark.parametrize(
    "named", ["/home/u/.ssh/id_rsa", "id_rsa", f"/home/u/.claude/projects/-work/{SESSION}/../../x"]
)
def test_a_file_that_is_not_claude_codes_own_is_never_read(named):
    response = bash("x" * 600, persistedOutputPath=named)

    assert heard(events.claude_code(response, tool="mcp__x__y")).whole is None


def test_a_write_an_image_and_another_event_are_none_of_ours():
    edited = {"originalFile": "x" * 9_000, "structuredPatch": []}
    assert claude_code.hear(events.claude_code(edited, tool="Edit")) is None
    assert claude_code.hear(events.claude_code(bash("A" * 900, isImage=True))) is None
    assert claude_code.hear(events.claude_code("x", hook_event_name="PreToolUse")) is None


def test_the_answer_has_the_shape_of_the_response():
    event = events.claude_code(
        bash("the start", "err", persistedOutputPath=KEPT, persistedOutputSize=90_000)
    )

    answer = claude_code.answer(event, Shown({("stdout",): "short"}, heard(event)))

    updated = {"stdout": "short", "stderr": "err", "interrupted": False, "isImage": False}
    assert answer == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": updated}
    }


def test_an_answer_to_blocks_is_blocks():
    blocks = [{"type": "text", "text": "y" * 600}, {"type": "image", "data": "AAAA"}]
    event = events.claude_code(blocks, tool="mcp__x__y")

    answer = claude_code.answer(event, Shown({(0, "text"): "short"}, heard(event)))

    updated = [{"type": "text", "text": "short"}, {"type": "image", "data": "AAAA"}]
    assert answer["hookSpecificOutput"]["updatedToolOutput"] == updated
