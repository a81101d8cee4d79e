"""What people are told of a result that was shortened: beside the model's text, never in it."""

from __future__ import annotations

from headgate.policy import Policy
from headgate.rules import Told
from headgate.types import Verdict


def notice_of(verdict: Verdict, policy: Policy, path: str | None) -> str:
    """The policy's words for a shortened result; empty: it has none, or nothing was left out."""
    notice = policy.notice
    is_short = verdict.text is not None and verdict.after.bytes < verdict.before.bytes
    if not notice.form or not is_short:
        return ""
    says_where = path is not None and verdict.before.bytes > notice.where_from_bytes
    form = notice.form_where if says_where and notice.form_where else notice.form
    told = Told(
        bytes=verdict.before.bytes,
        lines=verdict.before.lines,
        # One line of what is shown says how many are not.
        missing_lines=max(verdict.before.lines - verdict.after.lines + 1, 0),
        half=(verdict.limit.count if verdict.limit else verdict.after.of(policy.unit)) / 2,
        where=path or "",
        missing_chars=max(verdict.before.chars - verdict.after.chars, 0),
    )
    return notice.fill(form, told)
