"""Lists of alike objects as tables: each key once, the values in rows. Nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.marker import Marker
from headgate.shape.showing import free_key
from headgate.shape.strings import quoted
from headgate.slices import NotJson, items, kind_of, members, names_of

LEAST_ITEMS = 4
"""In a shorter list the words around the table take more than the keys."""

TABLE_KEY = "_table"
"""Says that an object is a table of ours."""


def as_tables(raw: bytes, marker: Marker) -> bytes | None:
    """Compact JSON with its list of alike objects, or those of its members, as tables.

    None where there is no such list.
    """
    try:
        if kind_of(raw) == "array":
            return _table(raw, marker)
        if kind_of(raw) != "object":
            return None
        found = False
        texts: list[bytes] = []
        for key, value in members(raw):
            table = _table(bytes(value), marker) if kind_of(bytes(value)) == "array" else None
            found = found or table is not None
            texts.append(b"%b:%b" % (bytes(key), value if table is None else table))
        return b"{%b}" % b",".join(texts) if found else None
    except NotJson:
        return None


def _table(raw: bytes, marker: Marker) -> bytes | None:
    found = items(raw)
    if len(found) < LEAST_ITEMS or kind_of(bytes(found[0])) != "object":
        return None
    objects = [bytes(one).strip() for one in found]
    if not all(one.startswith(b"{") for one in objects):
        return None
    parts = [members(one) for one in objects]
    keys = [bytes(key) for key, _ in parts[0]]
    if not keys or len(set(keys)) < len(keys) or any(_keys(part) != keys for part in parts):
        return None
    rows = b",".join(b"[%b]" % b",".join(bytes(value) for _, value in part) for part in parts)
    words = f"{len(objects):,} objects, each a row; the keys stand once, as columns"
    name = quoted(free_key(TABLE_KEY, names_of(keys)))
    note = quoted(marker.aside(words))
    return b'{%b:%b,"columns":[%b],"rows":[%b]}' % (name, note, b",".join(keys), rows)


def _keys(part: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    return [bytes(key) for key, _ in part]
