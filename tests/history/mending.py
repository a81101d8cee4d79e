"""What every repair test does: repair, and let the independent judge look at the outcome."""

from __future__ import annotations

import json
from typing import Any

from headgate.check import check
from headgate.dialects import dialect_named
from headgate.history.repair import repair
from tests.histories import KEYS


def mended(dialect: str, messages: list[dict[str, Any]], **body: Any) -> tuple[Any, list[str]]:
    """The messages after a repair, and the kinds of its fixes; valid, and repaired only once."""
    value = {**body, KEYS[dialect]: messages} if body else messages
    raw = json.dumps(value).encode()
    spoken = dialect_named(dialect)
    repaired = repair(spoken.read(raw))
    out = spoken.write(repaired.history)
    assert repaired.gave_up == ""
    assert check(out, dialect) == []
    assert repair(spoken.read(out)).fixes == ()
    value = json.loads(out)
    return (value[KEYS[dialect]] if body else value), [fix.kind for fix in repaired.fixes]


def given_up(dialect: str, messages: list[dict[str, Any]]) -> str:
    """Why a history goes out as it came."""
    raw = json.dumps(messages).encode()
    spoken = dialect_named(dialect)
    repaired = repair(spoken.read(raw))
    assert repaired.fixes == ()
    assert spoken.write(repaired.history) is raw
    return repaired.gave_up
