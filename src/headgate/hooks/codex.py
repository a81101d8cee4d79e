"""Codex: a `PostToolUse` hook that blocks gives its reason to the model in place of the output.

`updatedToolOutput` is ignored, and `updatedMCPToolOutput` refused. The hook fires for failing
commands too. Codex has cut the output to its own limit by then, and says so in it; and it cuts the
answer of a hook as well, so an answer is made to fit.
"""

from __future__ import annotations

from headgate.hooks.heard import Answer, Event, Heard, Shown, object_at, text_at, texts_in
from headgate.toolnames import class_of
from headgate.types import utf8_bytes

MOST = utf8_bytes(9_900)
"""Codex cuts a longer answer at 2,500 tokens of four bytes, and writes it where others can read."""


def hear(event: Event) -> Heard | None:
    """Read a `PostToolUse` event."""
    tool = text_at(event, "tool_name")
    if event.get("hook_event_name") != "PostToolUse" or class_of(tool) == "write":
        return None
    response = event.get("tool_response")
    content = object_at(event, "tool_response").get("content", response)
    return Heard(
        session=text_at(event, "session_id"),
        call_id=text_at(event, "tool_use_id"),
        tool=tool,
        arguments=object_at(event, "tool_input"),
        texts={place: text for place, text in texts_in(content).items() if text.strip()},
        is_error=object_at(event, "tool_response").get("isError") is True,
        most=MOST,
    )


def answer(event: Event, shown: Shown) -> Answer:
    """The text in place of the output."""
    return {"decision": "block", "reason": shown.text}
