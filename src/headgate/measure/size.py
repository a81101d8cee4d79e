"""The size of a text in every unit at once."""

from __future__ import annotations

from headgate.measure.lengths import chars_in, line_ends_in
from headgate.measure.meters import meter_for
from headgate.measure.vocab import EXACT_BYTES
from headgate.types import Meter, Size

STANDARD_VOCAB = "o200k"
"""Tokens are told in this vocabulary where the policy itself counts in another unit."""

SEAM_TOKENS = 2
"""Two texts that are counted apart may count this much more as one."""


def size_of(content: str | bytes, meter: Meter) -> Size:
    """Measure a text, or its UTF-8: tokens by `meter`, estimated from 64 KB on, all else exact."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    by_tokens = meter if meter.unit == "tokens" else meter_for(STANDARD_VOCAB, "tokens")
    return Size(
        tokens=by_tokens.estimate(data),
        chars=meter.estimate(data) if meter.unit == "chars" else chars_in(data),
        bytes=meter.estimate(data) if meter.unit == "bytes" else len(data),
        lines=lines_in(data),
        exact=len(data) < EXACT_BYTES,
    )


def exact_size_of(text: str, meter: Meter) -> Size:
    """Measure a text to the last token, however large."""
    data = text.encode("utf-8", "backslashreplace")
    by_tokens = meter if meter.unit == "tokens" else meter_for(STANDARD_VOCAB, "tokens")
    return Size(
        tokens=by_tokens.count(text),
        chars=meter.count(text) if meter.unit == "chars" else chars_in(data),
        bytes=meter.count(text) if meter.unit == "bytes" else len(data),
        lines=lines_in(data),
    )


def lines_in(data: bytes) -> int:
    """How many lines, a last one without line end included; only `\\n` ends a line."""
    return line_ends_in(data) + (data[-1:] not in (b"", b"\n"))
