"""JSON as Python values, where a tree of them is wanted and not slices.

Python 3.12 and 3.13 count how deep C code calls itself and do not look at how much stack it takes:
in a thread with a stack of 2 MB a text nested some thousand levels deep would end the process. So
there the levels are counted before; before 3.12 and since 3.14 the interpreter itself takes care.
"""

from __future__ import annotations

import sys
from itertools import accumulate
from typing import Final

import msgspec

from headgate.slices import ONE_STRING, NotJson

DEEPEST: Final = 1_000
"""How deep values may be nested; Python before 3.12 bears about as much."""

MUST_COUNT: Final = (3, 12) <= sys.version_info < (3, 14)

BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def value_of(raw: bytes | str) -> object:
    """The value of a JSON text; `NotJson` where it is none, or nested too deep for one."""
    try:
        data = raw.encode() if isinstance(raw, str) else raw
        if is_too_deep(data):
            raise RecursionError(f"nested deeper than {DEEPEST:,} levels")
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise NotJson(str(error)) from error


def is_too_deep(data: bytes) -> bool:
    """Whether making values of a JSON text could take more stack than there is."""
    return MUST_COUNT and levels_in(bytes(data)) > DEEPEST


def levels_in(data: bytes) -> int:
    """How deep a JSON text is nested; where it has few brackets, their number, which is more."""
    most = data.count(b"[") + data.count(b"{")
    if most <= DEEPEST:
        return most
    brackets = ONE_STRING.sub(b"", data).translate(None, BUT_BRACKETS)
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)
