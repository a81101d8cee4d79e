"""opencode: a plugin in JavaScript passes each result here and takes the text that comes back.

The event is ours: the plugin (`opencode.js` beside this file) writes it. Above 2,000 lines or 50 KB
opencode has put the whole into a file by then, and tells its place.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from headgate.hooks.heard import Answer, Event, Heard, Shown, object_at, text_at
from headgate.spill.private import digest_name
from headgate.toolnames import class_of

LITERAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A session that may name a folder itself."""


def hear(event: Event) -> Heard | None:
    """Read what the plugin says."""
    tool = text_at(event, "tool_name")
    text = text_at(event, "tool_response")
    if not text.strip() or class_of(tool) == "write":
        return None
    whole = text_at(event, "whole")
    session = text_at(event, "session_id")
    return Heard(
        session=session,
        call_id=text_at(event, "tool_use_id"),
        tool=tool,
        arguments=object_at(event, "tool_input"),
        texts={(): text},
        is_error=event.get("is_error") is True,
        whole=Path(whole) if whole else None,
        files=_files(session),
    )


def answer(event: Event, shown: Shown) -> Answer:
    """The text for the plugin."""
    return {"output": shown.text}


def _files(session: str) -> Path:
    """Where opencode keeps large results: it may read there without asking."""
    home = os.environ.get("HOME") or os.path.expanduser("~")
    below = os.environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
    name = session or "default"
    name = name if LITERAL.fullmatch(name) else digest_name(name)
    return Path(below, "opencode", "tool-output", "headgate", name)
