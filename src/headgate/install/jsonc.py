"""Edits of JSON text that leave everything else as it was: comments, order, spaces.

Reads JSON with comments and trailing commas, as editors and agent CLIs do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headgate.errors import RequestError

SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
PLAIN = re.compile(r"[-+.0-9A-Za-z]+")
INDENT = re.compile(r"\n([ \t]+)\"")


DEEPEST = 64
"""A configuration is not nested deeper than this."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value in the text, from `start` up to `stop`."""

    value: object
    start: int
    stop: int
    members: dict[str, Node] = field(default_factory=dict)
    """Of an object."""
    items: list[Node] = field(default_factory=list)
    """Of an array."""


def load(text: str) -> object:
    """The value of a text; an empty one is an empty object."""
    return _root(text).value


def put(text: str, path: Sequence[str | int], value: object) -> str:
    """The text with `value` at a path of keys; objects on the way are made."""
    node = _root(text)
    text = text if text.strip() else "{}\n"
    for depth, key in enumerate(path):
        if isinstance(key, int):
            node = node.items[key]
            continue
        if not isinstance(node.value, dict):
            raise RequestError(f"{_dotted(path[:depth]) or 'the file'} is no object")
        if key not in node.members:
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _added(text, node, f"{json.dumps(key)}: ", value)
        node = node.members[key]
    return text[: node.start] + _written(value, text, node.start) + text[node.stop :]


def append(text: str, path: Sequence[str], item: object) -> str:
    """The text with an item more at the end of the array at a path; the array is made."""
    node = _root(text)
    for key in path:
        if key not in node.members:
            return put(text, path, [item])
        node = node.members[key]
    if not isinstance(node.value, list):
        raise RequestError(f"{_dotted(path)} is no list")
    return _added(text, node, "", item)


def take(text: str, path: Sequence[str | int]) -> str:
    """The text without what stands at a path, and without the comma that this leaves over."""
    parent, node = _root(text), _root(text)
    for key in path:
        parent, node = node, node.items[key] if isinstance(key, int) else node.members[key]
    parts = list(parent.members.values()) or parent.items
    before = [part for part in parts if part.stop < node.start]
    comma = _skip(text, before[-1].stop) if before else parent.start
    start = _skip(text, comma + 1)
    spaces = len(text[:start]) - len(text[:start].rstrip())
    after = _skip(text, node.stop)
    if text.startswith(",", after):
        spare = 0 if spaces else len(text[after + 1 :]) - len(text[after + 1 :].lstrip())
        return text[: start - spaces] + text[after + 1 + spare :]
    if before:
        return text[:comma] + text[comma + 1 : start - spaces] + text[node.stop :]
    return text[: start - spaces] + text[node.stop :].lstrip()


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path))


def _added(text: str, node: Node, name: str, value: object) -> str:
    """The text with an element more at the end of an object or an array."""
    parts = list(node.members.values()) or node.items
    last = parts[-1].stop if parts else node.start + 1
    indent = _indent_at(text, node.start) + _step(text)
    if parts and "\n" not in text[node.start : node.stop]:
        return f"{text[:last]}, {name}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    written = _indented(value, indent, _step(text))
    tail = text[last : node.stop - 1]
    if not parts:
        rest = f"\n{_indent_at(text, node.start)}" if not tail.strip() else tail
        return f"{text[:last]}\n{indent}{name}{written}{rest}{text[node.stop - 1 :]}"
    comma = "" if _has_comma(tail) else ","
    at = last + (tail.index(",") + 1 if not comma else 0)
    return f"{text[:at]}{comma}\n{indent}{name}{written}{text[at:]}"


def _has_comma(tail: str) -> bool:
    """Whether a trailing comma stands after the last element, outside of comments."""
    return tail[SKIP.match(tail).end() :].startswith(",")  # type: ignore[union-attr]  # matches always


def _written(value: object, text: str, at: int) -> str:
    return _indented(value, _indent_at(text, at), _step(text))


def _indented(value: object, indent: str, step: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"\n{indent}".join(lines)


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _step(text: str) -> str:
    found = INDENT.search(text)
    return found[1] if found else "  "


def _root(text: str) -> Node:
    start = _skip(text, 0)
    if start == len(text):
        return Node({}, 0, 2)
    node = _node(text, start, 0)
    rest = _skip(text, node.stop)
    if rest != len(text):
        raise _refused(text, rest)
    return node


def _node(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise RequestError(f"the file is nested deeper than {DEEPEST} levels")
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _array(text, at, depth)
    found = STRING.match(text, at) or PLAIN.match(text, at)
    if found is None:
        raise _refused(text, at)
    try:
        return Node(json.loads(found[0]), at, found.end())
    except ValueError:
        raise _refused(text, at) from None


def _object(text: str, start: int, depth: int) -> Node:
    members: dict[str, Node] = {}
    at = _skip(text, start + 1)
    while not text.startswith("}", at):
        name = STRING.match(text, at)
        colon = _skip(text, name.end()) if name else at
        if name is None or not text.startswith(":", colon):
            raise _refused(text, at)
        member = _node(text, _skip(text, colon + 1), depth + 1)
        members[json.loads(name[0])] = member
        at = _next(text, member.stop, "}")
    value = {key: member.value for key, member in members.items()}
    return Node(value, start, at + 1, members=members)


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at = _skip(text, start + 1)
    while not text.startswith("]", at):
        items.append(_node(text, at, depth + 1))
        at = _next(text, items[-1].stop, "]")
    return Node([item.value for item in items], start, at + 1, items=items)


def _next(text: str, at: int, close: str) -> int:
    """Where the next element starts, or the closing bracket stands."""
    at = _skip(text, at)
    if text.startswith(",", at):
        return _skip(text, at + 1)
    if not text.startswith(close, at):
        raise _refused(text, at)
    return at


def _skip(text: str, at: int) -> int:
    found = SKIP.match(text, at)
    return found.end() if found else at


def _refused(text: str, at: int) -> RequestError:
    line = text.count("\n", 0, at) + 1
    found = repr(text[at : at + 20]) if at < len(text) else "its end"
    return RequestError(f"the file is no JSON: line {line} has {found}")
