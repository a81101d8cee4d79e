"""An exception in words that a model may read.

Clients put the whole address they asked into their messages; what is secret in it stays here.
"""

from __future__ import annotations

import re
import traceback
from typing import Final

USER: Final = re.compile(r"(?<=://)[^\s/?#@'\"]+@")
"""Name and password before a host."""

SECRET: Final = re.compile(
    r"([?&;][\w.-]*(?:key|token|secret|passw|signature|sig|auth|credential)[\w.-]*=)[^\s&;#'\"]+",
    re.IGNORECASE,
)
"""A part of a query that is named as secrets are."""

HIDDEN: Final = "[secret]"

LINE_CHARS: Final = 500


def in_words(error: BaseException) -> str:
    """What it is, what it says, its notes, and what it was made of, each on a line."""
    said = message_of(error)
    words = f"{type(error).__name__}: {said}" if said else type(error).__name__
    notes = [without_secrets(str(note)) for note in getattr(error, "__notes__", ())]
    if isinstance(error, BaseExceptionGroup):
        notes += [in_words(each) for each in error.exceptions]
    return "\n".join([words, *notes])


def line_of(text: str) -> str:
    """The first line of a text, as far as a line of a log should go."""
    first = text.partition("\n")[0]
    return first if len(first) <= LINE_CHARS else f"{first[:LINE_CHARS]}…"


def message_of(error: BaseException) -> str:
    """What an exception says of itself; one that cannot say it says nothing."""
    try:
        return without_secrets(str(error).strip())
    except Exception:  # noqa: BLE001  # not ours, and asked in the middle of answering for it
        return ""


def traceback_of(error: BaseException) -> str:
    """Where an exception came from, for a log."""
    return without_secrets("".join(traceback.format_exception(error)).rstrip())


def without_secrets(text: str) -> str:
    """A text with what is secret in its addresses left out."""
    if "://" not in text and "?" not in text:
        return text
    return SECRET.sub(rf"\g<1>{HIDDEN}", USER.sub(f"{HIDDEN}@", text))
