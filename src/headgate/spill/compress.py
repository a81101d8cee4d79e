"""Compress originals that no live history refers to; whoever reads them through us sees no change.

Their plain files go: who opens those is an agent, and no agent's history refers to them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from headgate.errors import StoreError
from headgate.retention import Need, Retention
from headgate.spill.house import House
from headgate.spill.index import Kept
from headgate.spill.objects import entries
from headgate.spill.pack import deflated, packed_bytes
from headgate.spill.shelf import Shelf
from headgate.types import Ref

LEAST_BYTES: Final = 8_192
"""Less saves no block of a disk worth the work."""

WORTH: Final = 0.9
"""What does not shrink to this part stays as it is."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """An original that was compressed."""

    session: str
    ref: Ref
    before_bytes: int
    after_bytes: int


def compress(house: House, retention: Retention) -> Iterator[Compressed]:
    """Compress what may be compressed, one original after the other."""
    for shelf in house.shelves():
        try:
            there = entries(shelf.objects.folder)
            originals = shelf.held(shelf.contents(), retention, house.clock())
        except StoreError:
            continue
        for held in originals:
            kept = shelf.index.find(held.ref)
            if kept is None or held.wanted or held.ref not in there:
                continue
            # What is damaged, or goes meanwhile, is for others to tell.
            with suppress(StoreError):
                if kept.length >= LEAST_BYTES and _shrinks(shelf, kept):
                    yield from _compressed(house, retention, shelf, kept, there[held.ref])


def _shrinks(shelf: Shelf, kept: Kept) -> bool:
    """Whether it looks as if it will get shorter: its middle says more than its head."""
    at = kept.length // 2 // kept.chunk_bytes * kept.chunk_bytes
    chunk = shelf.objects.read(kept, at, at + kept.chunk_bytes) or b""
    return bool(chunk) and len(deflated(chunk)) < len(chunk) * WORTH


def _compressed(
    house: House, retention: Retention, shelf: Shelf, kept: Kept, was: os.stat_result
) -> list[Compressed]:
    temp = shelf.objects.begin()
    granted = packed_bytes(kept.length, kept.chunk_bytes)
    try:
        if house.reserved(shelf, retention, temp, Need(shelf.name, granted, 0), granted):
            return []
        try:
            after = shelf.objects.pack(kept, temp)
        except StoreError:
            house.release(shelf, granted, 0, temp)
            raise
        if not house.packed(shelf, kept.ref, temp, was, unused_bytes=granted - after):
            return []
        return [Compressed(shelf.name, kept.ref, kept.length, after)]
    finally:
        temp.discard()
