"""JSON read as slices of its own bytes: one level at a time, no objects for what lies deeper.

The fast way is msgspec's `Raw`. It refuses what tools write all the same: NaN and Infinity, lone
surrogate escapes, depths beyond the interpreter's stack; and of equal keys it keeps one. There a
scanner of our own takes over, without recursion. Both ways give the same slices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Literal, TypeAlias

import msgspec

JsonKind = Literal["object", "array", "string", "number", "literal"]
Depth = Literal["plain", "deep"]
Slice: TypeAlias = msgspec.Raw
"""A value's bytes, not copied: `bytes(slice)` copies them, `len(slice)` does not."""

_KINDS: dict[int, JsonKind] = {
    ord("{"): "object",
    ord("["): "array",
    ord('"'): "string",
    **dict.fromkeys(b"tfnNI", "literal"),
    **dict.fromkeys(b"0123456789-", "number"),
}

_SPACE = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRICT_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_CONSTANT = rb"NaN|-?Infinity"
_SCALAR = rb"(?:%b|%b|%b|true|false|null)" % (_STRICT_STRING, _CONSTANT, _NUMBER)

_SPACES = re.compile(_SPACE)
_TOKENS = re.compile(rb'[^ \t\r\n"]++|' + _STRING, re.DOTALL)
ONE_STRING = re.compile(_STRING, re.DOTALL)
_ONE_SCALAR = re.compile(rb"[^ \t\r\n,\]}]++")
_ITEM_END = re.compile(_SPACE + rb"([,\]])" + _SPACE)
_MEMBER_END = re.compile(_SPACE + rb"([,}])" + _SPACE)
_KEY = re.compile(_SPACE + b"(" + _STRING + b")" + _SPACE + b":" + _SPACE, re.DOTALL)
_BRACKETS = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+([\[{]++|[\]}]++)", re.DOTALL)

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_BARE_CONSTANT = re.compile(rb"(?<![\w.+-])(?:" + _CONSTANT + rb")(?![\w.+-])")

_WHOLE = msgspec.json.Decoder(msgspec.Raw)
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


WRITTEN_BYTES = 16 << 20
"""An object up to this size is written anew, as its first members are: faster than searching."""

COMPARED_BYTES = 1 << 20
"""Copied at a time to be compared."""


class NotJson(ValueError):
    """The bytes are no JSON; they are to be taken as text."""


def kind_of(raw: bytes) -> JsonKind:
    """What a JSON value is, by its first byte."""
    start = _spaces(raw, 0)
    if start == len(raw) or raw[start] not in _KINDS:
        raise NotJson(f"no JSON value begins with {raw[:20]!r}")
    return _KINDS[raw[start]]


def is_json(data: bytes) -> bool:
    """Whether `data`, valid UTF-8, is one JSON text: of any depth, NaN and Infinity allowed."""
    return depth_of(data) is not None


def depth_of(data: bytes, turns: int | None = None) -> Depth | None:
    """Whether a JSON text can be read fast, or is too deep for that; None if it is no JSON.

    Of one that is too deep, `turns` says how often it may turn between down and up to be checked;
    with none it is not checked at all.
    """
    try:
        _WHOLE.decode(data)
    except RecursionError:
        return "deep" if turns == 0 or _is_deep_json(data, turns) else None
    except msgspec.DecodeError:
        tame = _tamed(data)
        return None if tame is data else depth_of(tame, turns)
    return "plain"


def compact(raw: bytes) -> bytes:
    """The same JSON without the whitespace between its tokens."""
    try:
        return msgspec.json.format(raw, indent=-1)
    except (RecursionError, msgspec.DecodeError):
        return b"".join(_TOKENS.findall(raw))


def items(raw: bytes) -> list[Slice]:
    """The items of a valid JSON array."""
    try:
        return _ARRAY.decode(raw)
    except RecursionError:
        return _cut(raw, _scan_items(raw))
    except msgspec.DecodeError as error:
        tame = _tamed(raw)
        if tame is raw:
            raise NotJson(f"no JSON array: {error}") from error
    return _cut(raw, _spans(raw, items(tame)))


def count_items(raw: bytes) -> int | None:
    """How many items an array has; None if it is none, or too deep to tell cheaply."""
    try:
        return len(_ARRAY.decode(raw))
    except RecursionError:
        return None
    except msgspec.DecodeError:
        tame = _tamed(raw)
        return None if tame is raw else count_items(tame)


def members(raw: bytes) -> list[tuple[bytes, Slice]]:
    """The members of a valid JSON object, keys as written, equal keys one after the other."""
    try:
        read = _OBJECT.decode(raw)
    except (RecursionError, UnicodeDecodeError):  # too deep, or keys that are no UTF-8
        raw = bytes(raw)
        return _cut_members(raw, _scan_members(raw))
    except msgspec.DecodeError as error:
        raw = bytes(raw)
        tame = _tamed(raw)
        if tame is raw:
            raise NotJson(f"no JSON object: {error}") from error
        return _cut_members(raw, _named_spans(raw, [len(value) for _, value in members(tame)]))
    # Written in one go: a name with a line end in it was written otherwise, and is seen below.
    keys = ('"' + '"\n"'.join(read) + '"').encode().split(b"\n")
    plain = list(zip(keys, read.values(), strict=False))
    if len(raw) <= WRITTEN_BYTES and _written(bytes(raw), plain) == bytes(raw):
        return plain
    spans = _member_spans(memoryview(raw), read.values())
    return _cut_members(raw, _scan_members(bytes(raw)) if spans is None else spans)


def _written(raw: bytes, plain: Sequence[tuple[bytes, bytes]]) -> bytes:
    """An object of these members, with space where it stands around the first of them."""
    first = _KEY.match(raw, _spaces(raw, 0) + 1)
    if first is None:
        return b"{}"
    after = _MEMBER_END.match(raw, first.end() + len(plain[0][1]))
    between = after[0] if after else b","
    colon = raw[first.end(1) : first.end()]
    texts = [key + colon + value for key, value in plain]
    inside = raw.rstrip()[:-1].rstrip()
    return raw[: first.start(1)] + between.join(texts) + raw[len(inside) :]


def names_of(keys: Sequence[bytes]) -> list[str]:
    """The names that keys as written stand for."""
    joined = b"\n".join(keys)
    if b"\\" in joined or not keys:
        return [key_text(key) for key in keys]
    # No key that is written without an escape holds a line end.
    return joined[1:-1].decode(errors="replace").split('"\n"')


def key_text(key: bytes) -> str:
    """The name that a key as written stands for."""
    if b"\\" not in key:
        return key[1:-1].decode(errors="replace")
    return str(json.loads(key.decode(errors="replace")))


def _tamed(data: bytes) -> bytes:
    """`data` with NaN, Infinity and surrogate escapes written over, every byte in its place.

    The very same object where there is nothing to write over. What stands inside of strings may be
    written over too: only lengths are read from the answer.
    """
    tame = data
    if b"NaN" in data or b"Infinity" in data:
        tame = _BARE_CONSTANT.sub(lambda found: b"1" * len(found[0]), tame)
    if b"\\u" in data:
        tame = _SURROGATE.sub(rb"\\u0020", tame)
    return data if tame == data else tame


_Span: TypeAlias = tuple[int, int]
_MemberSpan: TypeAlias = tuple[int, int, int, int]


def _cut(raw: bytes, spans: Iterable[_Span]) -> list[Slice]:
    view = memoryview(raw)
    return [msgspec.Raw(view[start:stop]) for start, stop in spans]


def _cut_members(raw: bytes, spans: Iterable[_MemberSpan]) -> list[tuple[bytes, Slice]]:
    view = memoryview(raw)
    return [
        (bytes(view[key_start:key_stop]), msgspec.Raw(view[start:stop]))
        for key_start, key_stop, start, stop in spans
    ]


def _spaces(raw: bytes | memoryview, at: int) -> int:
    found = _SPACES.match(raw, at)
    return found.end() if found else at


def _spans(raw: bytes, values: Iterable[bytes]) -> Iterator[_Span]:
    """Where values of known lengths stand in an array."""
    at = _spaces(raw, _spaces(raw, 0) + 1)
    for value in values:
        stop = at + len(value)
        yield at, stop
        at = _after(_ITEM_END, raw, stop)


def offsets(raw: bytes, values: Sequence[bytes]) -> list[int]:
    """Where each of an array's items begins.

    Where separators are of one length, as in all JSON that a program wrote, nothing is searched.
    """
    if len(values) < 2:
        return [start for start, _ in _spans(raw, values)]
    (first, stop), (second, _) = islice(_spans(raw, values), 2)
    lengths = (len(value) + second - stop for value in values)
    *starts, end = accumulate(lengths, initial=first)
    last = _ITEM_END.match(raw, end - second + stop)
    if last and last[1] == b"]" and all(map(raw.startswith, values, starts)):
        return starts
    return [start for start, _ in _spans(raw, values)]


def following(raw: bytes, at: int, values: Iterable[bytes]) -> list[int]:
    """Where items of an array begin that follow one which ends at `at`."""
    starts: list[int] = []
    for value in values:
        starts.append(_after(_ITEM_END, raw, at))
        at = starts[-1] + len(value)
    return starts


def _member_spans(view: memoryview, values: Iterable[Slice]) -> list[_MemberSpan] | None:
    """Where members with these values stand; None if others stand there: a key came twice."""
    spans: list[_MemberSpan] = []
    at = _spaces(view, 0) + 1
    for value in values:
        key = _KEY.match(view, at)
        if key is None:
            return None
        start, stop = key.end(), key.end() + len(value)
        # A value followed by its delimiter cannot be the start of another value.
        end = _MEMBER_END.match(view, stop)
        if end is None or not _same(view[start:stop], memoryview(value)):
            return None
        spans.append((*key.span(1), start, stop))
        at = end.end()
    ended = not spans or view[_spaces(view, spans[-1][3])] == ord("}")
    return spans if ended else None


def _same(one: memoryview, other: memoryview) -> bool:
    """Whether two views of equal length hold the same: views alone compare byte by byte, slowly."""
    steps = range(0, len(one), COMPARED_BYTES)
    return all(
        bytes(one[at : at + COMPARED_BYTES]) == bytes(other[at : at + COMPARED_BYTES])
        for at in steps
    )


def _named_spans(raw: bytes, lengths: Iterable[int]) -> Iterator[_MemberSpan]:
    at = _spaces(raw, 0) + 1
    for length in lengths:
        key = _KEY.match(raw, at)
        if key is None:
            raise NotJson(f"no key at byte {at}")
        yield (*key.span(1), key.end(), key.end() + length)
        at = _after(_MEMBER_END, raw, key.end() + length)


def _after(pattern: re.Pattern[bytes], raw: bytes, at: int) -> int:
    found = pattern.match(raw, at)
    if found is None:
        raise NotJson(f"no delimiter at byte {at}")
    return found.end()


def _scan_items(raw: bytes) -> Iterator[_Span]:
    at = _spaces(raw, _spaces(raw, 0) + 1)
    while at < len(raw) and raw[at] != ord("]"):
        stop = end_of(raw, at)
        yield at, stop
        at = _after(_ITEM_END, raw, stop)


def _scan_members(raw: bytes) -> Iterator[_MemberSpan]:
    at = _spaces(raw, _spaces(raw, 0) + 1)
    while at < len(raw) and raw[at] == ord('"'):
        key = _KEY.match(raw, at)
        if key is None:
            raise NotJson(f"no key at byte {at}")
        stop = end_of(raw, key.end())
        yield (*key.span(1), key.end(), stop)
        at = _after(_MEMBER_END, raw, stop)


def end_of(raw: bytes, at: int) -> int:
    """Where the value that begins at `at` ends; inside of it only brackets are looked at."""
    opening = raw[at : at + 1]
    if opening in (b"[", b"{"):
        return _closing(raw, at)
    found = (ONE_STRING if opening == b'"' else _ONE_SCALAR).match(raw, at)
    if found is None:
        raise NotJson(f"no JSON value at byte {at}")
    return found.end()


def _closing(raw: bytes, at: int) -> int:
    depth, start = 0, at
    # Matched from where the last one ended: a search would try every byte of an open string.
    while (found := _BRACKETS.match(raw, at)) is not None:
        first, at = found.span(1)
        if raw[first] in b"[{":
            depth += at - first
        elif at - first >= depth:
            return first + depth
        else:
            depth -= at - first
    raise NotJson(f"what opens at byte {start} is never closed")


_FLAT = rb"%b(?:%b|\[%b\]|\{%b\})%b" % (_SPACE, _SCALAR, _SPACE, _SPACE, _SPACE)
_NAME = _SPACE + _STRICT_STRING + _SPACE + b":"
_NAMES = rb"%b(?:%b,%b)*+" % (_NAME, _FLAT, _NAME)
_OBJECTS = rb"(?:%b\{%b)++" % (_SPACE, _NAMES)
_ITEMS = rb"(?:\[(?=[\[{])|%b%b\[|(?:%b,)++(?:%b)?+%b\[|%b\[)*+(?:(?:%b,)*+%b)?+" % (
    *(_OBJECTS, _SPACE, _FLAT, _OBJECTS, _SPACE, _SPACE, _FLAT, _OBJECTS),
)
_MEMBER = rb"(?:%b)?+(?:%b\[%b)?+" % (_OBJECTS, _SPACE, _ITEMS)
"""A value that opens nothing; then what leads on into containers, from where an item or a member's
value is expected, however deep, past every flat value on the way."""

_DOWN = {
    0: re.compile(_MEMBER),
    ord("["): re.compile(_ITEMS),
    ord("{"): re.compile(_NAMES + _MEMBER),
}
_FLAT_REST = {
    0: re.compile(_FLAT),
    ord("["): re.compile(rb"%b(?:,%b)*+" % (_FLAT, _FLAT)),
    ord("{"): re.compile(rb"%b(?:,%b%b)*+" % (_FLAT, _NAME, _FLAT)),
}
"""By the open container: the way down from it, and the flat values after that."""

_UP = re.compile(rb"[ \t\r\n\]}]*+(,?)")
_BUT_OPENING = bytes(set(range(256)) - set(b'[]{}"'))
_BUT_CLOSING = b" \t\r\n,"
_CLOSED_BY = bytes.maketrans(b"[{", b"]}")


def _is_deep_json(data: bytes, turns: int | None = None) -> bool:
    """Check a JSON text with a stack of our own: down as far as it goes, up again, and so on.

    After so many turns it is given up, and no JSON: nobody writes what is as deep and as tangled.
    """
    at, top, opened = 0, 0, bytearray()
    while turns is None or turns > 0:
        turns = None if turns is None else turns - 1
        way = _DOWN[top].match(data, at)
        if way is None:
            return False
        opened += _opened(way[0])
        top, at = opened[-1] if opened else 0, way.end()
        flat = _FLAT_REST[top].match(data, at)
        up = _UP.match(data, flat.end() if flat else at)
        closed = up[0].translate(None, _BUT_CLOSING) if up else b""
        if flat is None and (data[at - 1 : at] != b"[" or not closed):
            return False
        if up is None or closed != opened[: -len(closed) - 1 : -1].translate(_CLOSED_BY):
            return False
        del opened[len(opened) - len(closed) :]
        if not opened:
            return up.end() == len(data) and not up[1]
        if not up[1]:
            return False
        top, at = opened[-1], up.end()
    return False


def _opened(way: bytes) -> bytes:
    """The containers that are open at the end of a way down; it goes past empty ones."""
    brackets = way.translate(None, _BUT_OPENING).replace(b'""', b"")
    if b'"' in brackets or b"\\" in way:
        brackets = ONE_STRING.sub(b"", way).translate(None, _BUT_OPENING)
    return brackets.replace(b"[]", b"").replace(b"{}", b"")
