"""What to do when a provider refuses a history as too long, step by step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from headgate.ageing import Ageing
from headgate.policy import Policy
from headgate.types import Amount

Step = Literal["tighten", "compact"]

CODES: Final = frozenset({"context_length_exceeded", "request_too_large", "prompt_too_long"})

WORDING: Final = re.compile(
    r"prompt is too long|context (length|window|limit)|maximum context|too many (input )?tokens"
    r"|input (length|token count)",
    re.IGNORECASE,
)
"""What providers say that have no code for it."""

NEARLY_FULL: Final = 0.9
"""A request this near to the window, as far as we can count, is refused for its length."""


@dataclass(frozen=True, slots=True)
class Overflowed:
    """The provider refused the history as too long; a step down the ladder follows, or the end."""

    step: Step | None
    """What is done about it; None: nothing is left to do."""
    tokens: int
    """Of the history that was refused, as far as we can count."""
    error: str


def ladder(policy: Policy) -> list[tuple[Step, Ageing]]:
    """How results age in place of the policy's way, step by step."""
    tighten = replace(policy.ageing, high=0.0, weigh=False)
    compact = replace(
        tighten,
        low=0.0,
        least=Amount(policy.minimum, policy.unit),
        keep_last=1,
        spared=tuple(spared for spared in policy.ageing.spared if spared == "pinned"),
    )
    return [("tighten", tighten), ("compact", compact)]


def is_overflow(error: BaseException, tokens: int, window_tokens: int | None) -> bool:
    """Whether an error of any provider's client says that the request was too long."""
    if is_too_large(error) or _codes(error) & CODES:
        return True
    if getattr(error, "status_code", None) not in (400, 422):
        return False
    is_full = window_tokens is not None and tokens >= window_tokens * NEARLY_FULL
    return is_full or bool(WORDING.search(str(error)))


def is_too_large(error: BaseException) -> bool:
    """Whether a request had too many bytes, which says nothing about the window."""
    return getattr(error, "status_code", None) == 413


def _codes(error: BaseException) -> set[object]:
    """Every code in an error: providers have them in different places."""
    found: set[object] = {getattr(error, "code", None)}
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping):
        details = inner.get("details")
        found |= {inner.get("code"), inner.get("type")}
        found |= {details.get("error_code")} if isinstance(details, Mapping) else set()
    return {code for code in found if isinstance(code, str)}
