"""Claude Code: `PostToolUse` takes `updatedToolOutput` in the very shape of `tool_response`.

A plain string for a tool that answers with an object is ignored without a word, so only texts are
exchanged and everything around them stays. Above 30,000 characters Claude Code keeps the whole in a
file of its own and tells its place; leaving those fields out of the answer takes over from it.
Only a file of its own is read: what an MCP server answers may have a field of that name too.
A failing command fires another event, which can replace nothing; Claude Code cuts that one itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headgate.hooks.heard import Answer, Event, Heard, Place, Shown, object_at, text_at, texts_in
from headgate.hooks.heard import with_texts as exchanged
from headgate.toolnames import class_of

LEAST_CHARS = 512
"""A shorter text in an answer is a name, a path or a state: it is not what fills a context."""

STREAMS: tuple[Place, ...] = (("stdout",), ("stderr",))
"""Output of a command is made readable however short it is."""

ELSEWHERE = ("persistedOutputPath", "persistedOutputSize")


def hear(event: Event) -> Heard | None:
    """Read a `PostToolUse` event."""
    tool = text_at(event, "tool_name")
    response = event.get("tool_response")
    if event.get("hook_event_name") != "PostToolUse" or class_of(tool) == "write":
        return None
    if isinstance(response, Mapping) and response.get("isImage"):
        return None
    texts = {
        place: text
        for place, text in texts_in(response).items()
        if text.strip() and (len(text) >= LEAST_CHARS or place in STREAMS)
    }
    return Heard(
        session=text_at(event, "session_id"),
        call_id=text_at(event, "tool_use_id"),
        tool=tool,
        arguments=object_at(event, "tool_input"),
        texts=dict(sorted(texts.items(), key=lambda item: item[0] not in STREAMS)),
        whole=_whole(event),
        files=_files(event),
    )


def answer(event: Event, shown: Shown) -> Answer:
    """The same response with other texts."""
    response = exchanged(event.get("tool_response"), shown.texts)
    if isinstance(response, dict):
        response = {key: value for key, value in response.items() if key not in ELSEWHERE}
    said = {"hookEventName": "PostToolUse", "updatedToolOutput": response}
    return {"hookSpecificOutput": said}


def _whole(event: Event) -> Path | None:
    """The file that Claude Code put a result into: one of its own, whatever a tool may name."""
    named = text_at(event, "tool_response", "persistedOutputPath")
    transcript = text_at(event, "transcript_path")
    if not named or not transcript:
        return None
    project = Path(transcript).parent.resolve()
    return Path(named) if Path(named).resolve().is_relative_to(project) else None


def _files(event: Event) -> Path | None:
    """Where Claude Code keeps large results of this session: it may read there without asking."""
    transcript = text_at(event, "transcript_path")
    return Path(transcript).with_suffix("") / "tool-results" if transcript else None
