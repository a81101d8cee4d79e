"""Gemini CLI: `AfterTool` can let another tool answer, and that answer goes to the model.

The text is put into a file under the project's temporary folder, which `read_file` may open, and
`read_file` is asked for it: so the model gets it as a result. Denying with a reason works as well,
but reaches the model as an error; it is kept for texts that `read_file` would cut.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from headgate.disk import Folder, create_once
from headgate.hooks.heard import Answer, Event, Heard, Shown, object_at, text_at, texts_in
from headgate.toolnames import class_of

FAILED = re.compile(r"^Exit Code: (?!0$)-?\d+$", re.MULTILINE)

MOST_LINES = 2_000
MOST_LINE_CHARS = 2_000
"""What `read_file` gives without cutting."""


def hear(event: Event) -> Heard | None:
    """Read an `AfterTool` event; an answer that we asked another tool for is let through."""
    tool = text_at(event, "tool_name")
    if event.get("hook_event_name") != "AfterTool" or class_of(tool) == "write":
        return None
    if event.get("original_request_name"):
        return None
    response = object_at(event, "tool_response")
    content = response.get("llmContent")
    parts = content if isinstance(content, list) else [content]
    if any(not isinstance(part, str) and not text_at(part, "text") for part in parts):
        return None
    texts = {place: text for place, text in texts_in(content).items() if text.strip()}
    failed = any(FAILED.search(text[-4_096:]) for text in texts.values())
    return Heard(
        session=text_at(event, "session_id"),
        call_id="",
        tool=tool,
        arguments=object_at(event, "tool_input"),
        texts=texts,
        is_error=bool(response.get("error")) or failed,
        files=_files(event),
    )


def answer(event: Event, shown: Shown) -> Answer:
    """Ask `read_file` for the text; where it would cut it, deny with it."""
    text = shown.text
    lines = text.split("\n")
    files = shown.heard.files
    if files is None or len(lines) >= MOST_LINES or max(map(len, lines)) >= MOST_LINE_CHARS:
        return {"decision": "deny", "reason": text}
    name = f"shown-{hashlib.sha256(text.encode()).hexdigest()[:16]}.txt"
    create_once(Folder(files, "the files folder").make(), name, text.encode(), durable=False)
    request = {"name": "read_file", "args": {"file_path": str(files / name)}}
    return {"hookSpecificOutput": {"hookEventName": "AfterTool", "tailToolCallRequest": request}}


def _files(event: Event) -> Path | None:
    """A folder of ours in the project's temporary folder, beside the chats."""
    transcript = text_at(event, "transcript_path")
    return Path(transcript).parent.parent / "headgate" if transcript else None
