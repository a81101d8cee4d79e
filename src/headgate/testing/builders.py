"""Builders for tests: results and texts in one short call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from headgate.types import NOTHING, Amount, ToolResult


def result(
    tool: str,
    content: object,
    *,
    call_id: str | None = None,
    is_error: bool = False,
    arguments: Mapping[str, object] = NOTHING,
    declared: Amount | None = None,
) -> ToolResult:
    """A result of `tool`; the call's id follows from tool and content where none is given."""
    made = hashlib.sha256(f"{tool}\0{content!r}".encode("utf-8", "backslashreplace")).hexdigest()[
        :12
    ]
    return ToolResult.of(
        tool,
        content,
        call_id=call_id or f"call_{made}",
        is_error=is_error,
        arguments=arguments,
        declared=declared,
    )


def lines(count: int, **odd: str) -> str:
    """A log of `count` alike lines; `n7="…"` puts another text in line 7."""
    made = [f"10:00:{i % 60:02} INFO worker {i} is fine" for i in range(1, count + 1)]
    for name, text in odd.items():
        made[int(name.removeprefix("n")) - 1] = text
    return "\n".join(made)
