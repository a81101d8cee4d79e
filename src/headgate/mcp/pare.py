"""Make a structured value smaller and leave it what it is: objects, arrays and strings stay such.

Strings keep their beginning, arrays their first items, objects what their schema requires and then
the rest in order. One member is added: the marker, which says what is missing and how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.marker import OMITTED_KEY, Ask, Marker
from headgate.mcp.form import KEPT_CHARS, Form
from headgate.mcp.wire import written
from headgate.shape.jsonpath import path_of
from headgate.shape.jsons import MARKER_PART
from headgate.shape.shaper import Room

CUT = " …"
"""Where a string was cut; how much is missing stands in the marker."""

MOST_SCALE = 1 << 20
"""At this scale nothing that could fit a context is cut."""

ITEM_CHARS = 32
"""An item or a member, roughly; to measure each would cost more than the whole shortening."""

CHARS_PER_TOKEN = 3
"""Of JSON, roughly: how much is missing, in tokens."""


@dataclass(slots=True)
class _Cut:
    """The largest thing that was left out so far."""

    weight: int = 0
    path: str = "$"

    def note(self, weight: int, steps: tuple[str | int | slice, ...]) -> None:
        if weight > self.weight:
            self.weight, self.path = weight, path_of(steps)


def pare(value: Mapping[str, object], room: Room, marker: Marker, form: Form) -> dict[str, object]:
    """The most of an object that fits the room, marker included.

    What its schema requires stays even where that does not fit: the client would refuse less.
    """
    total = len(written(value))
    best = _pared(value, 0, total, room, marker, form)
    low, high = 0, 1
    while high <= MOST_SCALE:
        wider = _pared(value, high, total, room, marker, form)
        if not room.fits(written(wider)):
            break
        best, low, high = wider, high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        tried = _pared(value, middle, total, room, marker, form)
        if room.fits(written(tried)):
            best, low = tried, middle
        else:
            high = middle
    return best


def _pared(
    value: Mapping[str, object], scale: int, total: int, room: Room, marker: Marker, form: Form
) -> dict[str, object]:
    cut = _Cut()
    pared = _object(value, scale, form, (), cut)
    if not cut.weight:
        return pared
    name = OMITTED_KEY
    while name in value:
        name = f"_{name}"
    missing = max(total - len(written(pared)), 1)
    words = marker.long(missing, total, "chars", missing // CHARS_PER_TOKEN, Ask("path", cut.path))
    if room.size(words) * MARKER_PART > room.limit:
        words = marker.short(missing, total, "chars")
    return {name: words, **pared}


def _smaller(
    value: object, scale: int, form: Form, steps: tuple[str | int, ...], cut: _Cut
) -> object:
    if isinstance(value, str):
        return _string(value, scale, steps, cut)
    if isinstance(value, list):
        return _array(value, scale, form, steps, cut)
    if isinstance(value, dict):
        return _object(value, scale, form, steps, cut)
    return value


def _string(value: str, scale: int, steps: tuple[str | int, ...], cut: _Cut) -> str:
    most = max(KEPT_CHARS, KEPT_CHARS * scale // 4)
    if len(value) <= most:
        return value
    cut.note(len(value) - most, steps)
    return value[: most - len(CUT)] + CUT


def _array(
    value: list[object], scale: int, form: Form, steps: tuple[str | int, ...], cut: _Cut
) -> list[object]:
    if len(value) > scale:
        cut.note(ITEM_CHARS * (len(value) - scale), (*steps, slice(scale, len(value))))
    kept = value[:scale]
    return [_smaller(item, scale, form.items, (*steps, i), cut) for i, item in enumerate(kept)]


def _object(
    value: Mapping[str, object], scale: int, form: Form, steps: tuple[str | int, ...], cut: _Cut
) -> dict[str, object]:
    optional = [name for name in value if name not in form.required]
    dropped = set(optional[2 * scale :])
    for name in dropped:
        cut.note(_weight(value[name]), (*steps, name))
    return {
        name: _smaller(each, scale, form.of(name), (*steps, name), cut)
        for name, each in value.items()
        if name not in dropped
    }


def _weight(value: object) -> int:
    """About how many characters are lost with a value: enough to tell the largest loss."""
    if isinstance(value, str):
        return len(value)
    return ITEM_CHARS * (len(value) if isinstance(value, list | dict) else 1)
