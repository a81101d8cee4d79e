"""Cache marks in order: one for an hour may not stand behind one for five minutes.

Such a mark then lasts as long as the one before it: what is cached stays cached, for less long.
"""

from __future__ import annotations

from dataclasses import dataclass

from headgate.dialects.anthropic import part as part_of
from headgate.dialects.anthropic import with_parts
from headgate.dialects.history import History
from headgate.dialects.spans import Piece, fields_of, items_of, rebuilt_list, replaced_fields
from headgate.history.marks import MARK, may_be_marked
from headgate.history.report import Case, Fix

LONG = b'"1h"'

WHAT = "a cache mark for an hour behind one for five minutes lasts as long as that one"


@dataclass(slots=True)
class Walk:
    """Over the marks of a request, in the order in which the provider reads them."""

    is_short: bool = False
    """Whether a mark for five minutes was passed."""

    def over(self, block: bytes) -> bytes:
        """The block with its marks, those inside of it first, none longer than one before it."""
        if block[:1] != b"{" or MARK.encode() not in block:
            return block
        fields = fields_of(block)
        changes: dict[str, bytes | None] = {}
        content, mark = fields.get("content", b""), fields.get(MARK, b"")
        if content[:1] == b"[":
            pieces: list[Piece] = [
                (place, self.over(bytes(item))) for place, item in enumerate(items_of(content))
            ]
            changes["content"] = rebuilt_list(content, pieces)
        if mark[:1] == b"{":
            changes[MARK] = self.lasting(mark)
        return replaced_fields(block, changes)

    def within(self, held: bytes) -> bytes:
        """A list of blocks, each so."""
        if held[:1] != b"[":
            return held
        items = [bytes(item) for item in items_of(held)]
        mended = [self.over(item) for item in items]
        return rebuilt_list(held, list(enumerate(mended))) if mended != items else held

    def lasting(self, mark: bytes) -> bytes:
        """A mark that is none longer than those before it."""
        is_long = fields_of(mark).get("ttl") == LONG
        if is_long and self.is_short:
            return replaced_fields(mark, {"ttl": None})
        self.is_short = self.is_short or not is_long
        return mark


def in_order(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Let no mark last longer than one before it: in tools, system, messages, for all of them."""
    if LONG not in history.body:
        return history, []
    walk = Walk()
    fixes: list[Fix] = []
    for name in ("tools", "system"):
        history = _with_setting(history, name, walk.within(history.settings.get(name, b"")), fixes)
    history = _in_messages(history, walk, fixes)
    mark = history.settings.get(MARK, b"")
    if mark[:1] == b"{":
        history = _with_setting(history, MARK, walk.lasting(mark), fixes)
    return history, fixes


def _with_setting(history: History, name: str, value: bytes, fixes: list[Fix]) -> History:
    if value == history.settings.get(name, b""):
        return history
    fixes.append(Fix("cache", name, WHAT))
    return history.with_setting(name, value)


def _in_messages(history: History, walk: Walk, fixes: list[Fix]) -> History:
    messages = list(history.messages)
    before = len(fixes)
    for number, old in enumerate(history.messages):
        parts = list(old.parts)
        for place, given in enumerate(old.parts):
            raw = walk.over(given.raw) if may_be_marked(given) else given.raw
            if raw != given.raw:
                parts[place] = part_of(raw, given.at)
        if any(new is not given for new, given in zip(parts, old.parts, strict=True)):
            messages[number] = with_parts(old, parts)
            fixes.append(Fix("cache", history.where(old), WHAT))
    return history.with_messages(tuple(messages)) if len(fixes) > before else history
