"""Halves of surrogate pairs, which no UTF-8 can carry: each becomes U+FFFD, in the same place.

An escape is six bytes for six, a raw half three for three, so nothing else moves.
"""

from __future__ import annotations

import re

from headgate.dialects.history import History, Message
from headgate.history.report import Case, Fix, Unrepairable

_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""Every escape from left to right, so that an escaped backslash is never taken for one."""

_RAW_HALF = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")


def without_halves(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Replace halves of surrogate pairs in the messages and in what stands beside them."""
    has_raw = b"\xed" in history.body and _RAW_HALF.search(history.body) is not None
    fixes: list[Fix] = []
    messages: list[Message] = []
    for old in history.messages:
        raw = _mended(old.raw) if old.is_odd or has_raw else old.raw
        if raw == old.raw:
            messages.append(old)
            continue
        if old.has_thinking:
            raise Unrepairable("half of a surrogate pair stands beside thinking")
        messages.append(case.dialect.message(raw, old.at))
        what = "half of a surrogate pair becomes U+FFFD"
        fixes.append(Fix("surrogate", history.where(old), what))
    if fixes:
        history = history.with_messages(tuple(messages))
    return _settings_mended(history, fixes)


def _settings_mended(history: History, fixes: list[Fix]) -> tuple[History, list[Fix]]:
    for name, raw in history.settings.items():
        mended = _mended(raw) if rb"\u" in raw or b"\xed" in raw else raw
        if mended != raw:
            history = history.with_setting(name, mended)
            fixes.append(Fix("surrogate", name, "half of a surrogate pair becomes U+FFFD"))
    return history, fixes


def _mended(raw: bytes) -> bytes:
    mended = _ESCAPES.sub(lambda found: rb"\ufffd" if found["half"] else found[0], raw)
    return _RAW_HALF.sub(b"\xef\xbf\xbd", mended)
