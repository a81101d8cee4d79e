"""What the items of a list are called that have no room: a short row for each, the names once.

A page shows the first items whole. Of a list of alike objects a reader mostly wants to know first
which there are, so the others are named by what tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headgate.shape.strings import head_of, quoted
from headgate.shape.values import Value

OTHERS_SHARE = 0.4
"""What part of a list's room its others may take."""

LEAST_ITEMS = 8
LEAST_ROWS = 3
"""A shorter list is shown well enough by its first items."""

MOST_SHOWN = 0.7
"""Where more than this part of the items is shown, the others are few."""

SAMPLES = 24
USUAL = 0.8
"""Items that are looked at for what they have in common, and how many of them must have it."""

SHORT_BYTES = 100
LONGEST_BYTES = 120
"""A value that names something is this short, and cut where it is not."""

STATE_BYTES = 16
"""How long a word is that tells a few states apart: `open`, `closed`."""

DATED = re.compile(rb'"?\d{4}-\d\d-\d\d|"?\d{10,}')
LINKED = re.compile(rb'"(?:https?:)?/|"[^" ]{25,}"')
"""Values that tell items apart and name none: a time, an address, a long key."""

SCALAR = b'"-0123456789'


@dataclass(frozen=True, slots=True)
class Others:
    """The keys by which the items of a list are called."""

    value: Value
    names: tuple[str, ...]

    def rows(self, numbers: Iterable[int], room_bytes: int) -> list[bytes]:
        """A row for each of these items, as many as there is room for."""
        left = room_bytes - len(self.table([]))
        rows: list[bytes] = []
        for number in numbers:
            members = _members(self.value.item(number))
            row = b"[%d,%b]" % (number, b",".join(_short(members.get(n)) for n in self.names))
            left -= len(row) + 1
            if left < 0:
                break
            rows.append(row)
        return rows if len(rows) >= LEAST_ROWS else []

    def table(self, rows: Sequence[bytes]) -> bytes:
        """The rows with their names above them."""
        columns = b",".join(map(quoted, ("index", *self.names)))
        return b'{"columns":[%b],"rows":[%b]}' % (columns, b",".join(rows))


def others_of(value: Value) -> Others | None:
    """How the items of a list are called; None where they are few, or nothing tells them apart."""
    total = len(value.items)
    if total < LEAST_ITEMS:
        return None
    step = max(total // SAMPLES, 1)
    samples = [value.item(number) for number in range(0, total, step)][:SAMPLES]
    found = [_members(one) for one in samples if one.kind == "object"]
    if len(found) < USUAL * len(samples):
        return None
    columns = {name: [one[name] for one in found if name in one] for name in found[0]}
    usual = {n: c for n, c in columns.items() if len(c) >= USUAL * len(found) and _is_short(c)}
    apart = {n: c for n, c in usual.items() if len(set(c)) >= USUAL * len(c) and _names_it(c)}
    shortest = sorted(apart, key=lambda name: sum(map(len, apart[name])))
    worded = [name for name in shortest if _has_words(apart[name])]
    chosen = {*shortest[:1], *(worded[:1] or shortest[1:2])}
    chosen |= {*[name for name in usual if _is_state(usual[name])][:1]} if chosen else set()
    return Others(value, tuple(name for name in usual if name in chosen)) if chosen else None


def _members(item: Value) -> Mapping[str, bytes]:
    if item.kind != "object":
        return {}
    return dict(zip(item.names, (bytes(raw) for _, raw in item.members), strict=True))


def _short(raw: bytes | None) -> bytes:
    if raw is None:
        return b"null"
    if len(raw) <= LONGEST_BYTES:
        return raw
    return b'"%b\xe2\x80\xa6"' % head_of(raw[1:-1], LONGEST_BYTES) if raw[:1] == b'"' else b"null"


def _is_short(column: Sequence[bytes]) -> bool:
    scalars = [raw for raw in column if raw[:1] in SCALAR]
    return len(scalars) == len(column) and sum(map(len, column)) <= SHORT_BYTES * len(column)


def _names_it(column: Sequence[bytes]) -> bool:
    odd = sum(bool(DATED.match(raw) or LINKED.match(raw)) for raw in column)
    return odd <= (1 - USUAL) * len(column)


def _has_words(column: Sequence[bytes]) -> bool:
    return 2 * sum(b" " in raw for raw in column) >= len(column)


def _is_state(column: Sequence[bytes]) -> bool:
    few = 1 < len(set(column)) <= len(column) // 3
    return few and all(raw[:1] == b'"' and len(raw) <= STATE_BYTES for raw in column)
