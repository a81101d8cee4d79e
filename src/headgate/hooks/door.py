"""The quick look at an event: is there anything in it that a rule could change?

A hook runs after every tool call, and nearly every result is short and clean. So this is decided on
the bytes, without a vocabulary, without a policy, and without loading anything but `json`. It errs
to one side only: what it is not sure of is looked at properly.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; a hook cannot wait for `typing` to load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ERROR_BYTES = 4_000
RESULT_BYTES = 8_000
READ_BYTES = 25_000
"""The limits of the default policy in tokens. No token is shorter than a byte, so what has fewer
bytes than its limit has tokens surely fits."""

OVERHEAD = 4
"""What the wire adds around a result, as the default policy has it."""

READERS = ("Read", "read", "read_file", "read_many_files", "view")
"""Tools of these CLIs that are of class *read*."""

ELSEWHERE = (b"persistedOutputPath", b'"whole"')
"""What is said where an event holds only a part of a result, and the rest is in a file."""

ASKED = (b'"max_tokens"', b'"max_lines"', b'"chunk_lines"')
"""Arguments with which a call asks for a limit of its own, by the default policy."""

OUR_FILE = b"/r_"
"""How the file of an original is named where an agent reads it: that is noted."""

LEFT_ALONE = ("HEADGATE_STATE_DIR", "HEADGATE_SESSION", "HEADGATE_DEBUG")
"""Variables that say nothing about a policy."""


def surely_whole(raw: bytes, environ: Mapping[str, str]) -> bool:
    """Whether this event holds nothing that would be shortened or made readable."""
    if not is_default(environ) or any(sign in raw for sign in (*ELSEWHERE, *ASKED, OUR_FILE)):
        return False
    if len(raw) <= ERROR_BYTES - OVERHEAD and _plain(raw):
        return True
    if len(raw) > 2 * READ_BYTES:
        return False
    import json

    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(event, dict) and _fits(event)


def is_default(environ: Mapping[str, str]) -> bool:
    """Whether nobody asked for another policy than the default one."""
    return not any(
        name.startswith("HEADGATE_") and name not in LEFT_ALONE and environ[name]
        for name in environ
    )


def _plain(raw: bytes) -> bool:
    """Whether JSON text holds only what may be shown as it is, seen without reading it.

    An escape that is no line end, tab, quote or backslash may be anything, so it is no.
    """
    try:
        text = raw.decode().strip()
    except UnicodeDecodeError:
        return False
    if not text.isprintable() or _imitates(text):
        return False
    at = text.find("\\")
    while at >= 0:
        if text[at + 1 : at + 2] not in ("n", "t", '"', "\\", "/"):
            return False
        at = text.find("\\", at + 2)
    return True


def _fits(event: Mapping[str, object]) -> bool:
    response = event.get("tool_response")
    texts = list(_texts(response))
    tool = event.get("tool_name")
    most = READ_BYTES if tool in READERS else RESULT_BYTES
    if _failed(event):
        most = ERROR_BYTES
    if sum(len(text.encode("utf-8", "replace")) + OVERHEAD for text in texts) > most:
        return False
    return all(map(_clean, texts))


def _failed(event: Mapping[str, object]) -> bool:
    """Whether anything at all speaks of a failure."""
    response = event.get("tool_response")
    if isinstance(response, dict) and (response.get("error") or response.get("isError")):
        return True
    return bool(event.get("is_error") or event.get("error"))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _clean(text: str) -> bool:
    """Whether a reader gets the text as it is: nothing hidden in it, nothing that looks like us."""
    shown = text.replace("\n", "").replace("\t", "")
    return shown.isprintable() and not _imitates(text)


def _imitates(text: str) -> bool:
    """Whether something could be taken for the end of a marker."""
    at = text.find("]")
    while at >= 0:
        if text[max(at - 5, 0) : at].startswith("#"):
            return True
        at = text.find("]", at + 1)
    return False
