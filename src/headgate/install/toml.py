"""Edits of TOML text, line by line; whoever uses them checks the outcome by reading it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from headgate.errors import RequestError

Value: TypeAlias = str | bool | int | Sequence[str] | Mapping[str, str]

HEADER = re.compile(r"\s*\[")


def load(text: str) -> dict[str, object]:
    """The value of a text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"the file is no TOML: {error}") from error


def written(value: Value) -> str:
    """A value as TOML: the strings of JSON are strings of TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(key)} = {written(part)}" for key, part in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return f"[{', '.join(map(written, value))}]"


def put(text: str, table: Sequence[str], changes: Mapping[str, Value | None]) -> str:
    """The text with these keys of a table set, or taken out where they are None.

    A table written in another way than under a header of its own is refused: a line-wise edit of it
    would be a guess.
    """
    text = text if not text or text.endswith("\n") else f"{text}\n"
    lines = text.splitlines(keepends=True)
    first, last = _span(lines, table)
    body = lines[first:last]
    for key, value in changes.items():
        at, stop = _entry(body, key)
        new = [] if value is None else [f"{key} = {written(value)}\n"]
        if at is None:
            body[_end(body) : _end(body)] = new
        else:
            body[at:stop] = new
    edited = "".join([*lines[:first], *body, *lines[last:]])
    _check(text, edited, table, changes)
    return edited


def _name(table: Sequence[str]) -> str:
    bare = re.compile(r"[A-Za-z0-9_-]+")
    return ".".join(key if bare.fullmatch(key) else json.dumps(key) for key in table)


def _span(lines: Sequence[str], table: Sequence[str]) -> tuple[int, int]:
    """The lines of a table's own entries; of the top level, those before the first header."""
    headers = [n for n, line in enumerate(lines) if HEADER.match(line)]
    if not table:
        return 0, headers[0] if headers else len(lines)
    for n in headers:
        if _path(lines[n]) == list(table):
            return n + 1, next((m for m in headers if m > n), len(lines))
    raise RequestError(f"[{_name(table)}] is not written under a header of its own")


def _path(line: str) -> list[str]:
    """The keys of a header line."""
    try:
        value: object = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return []
    path: list[str] = []
    while isinstance(value, dict) and value:
        [(key, value)] = value.items()
        path.append(key)
    return path


def _entry(body: Sequence[str], key: str) -> tuple[int | None, int]:
    """The lines of one entry; a list may go over several."""
    for at, line in enumerate(body):
        if not re.match(rf"\s*(?:{re.escape(key)}|\"{re.escape(key)}\")\s*=", line):
            continue
        for stop in range(at + 1, len(body) + 1):
            try:
                tomllib.loads("".join(body[at:stop]))
            except tomllib.TOMLDecodeError:
                continue
            return at, stop
    return None, 0


def _end(body: Sequence[str]) -> int:
    """Where a new entry goes: before the empty lines and comments that lead to the next table."""
    end = len(body)
    while end and (not body[end - 1].strip() or body[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _check(
    text: str, edited: str, table: Sequence[str], changes: Mapping[str, Value | None]
) -> None:
    """Refuse an edit that changed anything else than it was to change."""
    expected = load(text)
    target: object = expected
    for key in table:
        target = target[key] if isinstance(target, dict) else None
    assert isinstance(target, dict)
    for key, value in changes.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = list(value) if isinstance(value, list | tuple) else value
    if load(edited) != expected:
        raise RequestError(f"[{_name(table)}] is written in a way that cannot be edited by line")
