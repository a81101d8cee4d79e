"""The caches of the providers, as far as their usage shows them.

`BreakpointCache` is Anthropic's: prefixes are kept where the client put `cache_control`, found
again up to twenty blocks before a breakpoint, and live for five minutes or an hour from their last
use. `PrefixCache` is OpenAI's and Gemini's: whatever prefix was seen before, in steps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from headgate.testing.prompts import Segment
from headgate.testing.replies import Usage

LOOK_BACK_BLOCKS = 20
HOUR_S = 3_600

IMPLICIT_LIFE_S = 600
"""Between five and ten minutes is what the providers say of prefixes nobody asked to keep."""

CHUNK_CHARS = 256
"""A shared prefix may end inside a long message; this is how finely it is seen."""


@dataclass(slots=True)
class _Entry:
    life_s: int
    until_s: float


class BreakpointCache:
    """Keeps prefixes where the request asks for it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, _Entry] = {}

    def bill(self, scope: str, segments: Sequence[Segment], least_tokens: int) -> Usage:
        """Look up and keep the prefixes of one request. `scope` parts models and settings.

        A prefix under `least_tokens` is not kept, and nothing says so, as with the provider.
        """
        chain = list(_chain(scope, segments))
        sums = list(accumulate(segment.tokens for segment in segments))
        marks = [
            place
            for place, segment in enumerate(segments)
            if segment.lives_s and sums[place] >= least_tokens
        ]
        hit = max((self._found(chain, mark) for mark in marks), default=-1)
        read = sums[hit] if hit >= 0 else 0
        written = {True: 0, False: 0}
        done = read
        for is_hour in (True, False):
            ends = [sums[m] for m in marks if (segments[m].lives_s >= HOUR_S) is is_hour]
            written[is_hour] = max(max(ends, default=0) - done, 0)
            done += written[is_hour]
        for mark in marks:
            self._keep(chain[mark], segments[mark].lives_s)
        if hit >= 0:
            self._touch(chain[hit])
        return Usage(
            input_tokens=sums[-1] if sums else 0,
            cache_read_tokens=read,
            cache_write_5m_tokens=written[False],
            cache_write_1h_tokens=written[True],
        )

    def _found(self, chain: Sequence[str], mark: int) -> int:
        """The nearest kept prefix at a breakpoint or in the blocks before it; -1: none."""
        now = self._clock()
        for place in range(mark, max(mark - LOOK_BACK_BLOCKS, -1), -1):
            entry = self._kept.get(chain[place])
            if entry is not None and entry.until_s > now:
                return place
        return -1

    def _keep(self, name: str, life_s: int) -> None:
        entry = self._kept.get(name)
        now = self._clock()
        if entry is not None and entry.until_s > now:
            life_s = max(life_s, entry.life_s)
        self._kept[name] = _Entry(life_s, now + life_s)

    def _touch(self, name: str) -> None:
        entry = self._kept[name]
        entry.until_s = self._clock() + entry.life_s


class PrefixCache:
    """Remembers every prefix it saw, without being asked."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen: dict[str, float] = {}

    def bill(
        self, scope: str, segments: Sequence[Segment], *, least_tokens: int, step_tokens: int
    ) -> Usage:
        """Look up and remember one request; what is read counts from `least_tokens`, in steps."""
        whole = sum(segment.tokens for segment in segments)
        now = self._clock()
        shared = 0.0
        is_shared = True
        for name, tokens in _chunks(scope, segments):
            is_shared = is_shared and self._seen.get(name, 0) > now
            shared += tokens if is_shared else 0
            self._seen[name] = now + IMPLICIT_LIFE_S
        read = min(int(shared + 0.5), whole) // step_tokens * step_tokens
        return Usage(whole, cache_read_tokens=read if read >= least_tokens else 0)


def _chain(scope: str, segments: Sequence[Segment]) -> Iterator[str]:
    name = scope
    for segment in segments:
        name = hashlib.sha256(f"{name}\n{segment.part}\n{segment.key}".encode()).hexdigest()
        yield name


def _chunks(scope: str, segments: Sequence[Segment]) -> Iterator[tuple[str, float]]:
    """Every prefix that is told apart, with the tokens it adds to the one before."""
    name = scope
    for segment in segments:
        pieces = [
            segment.key[start : start + CHUNK_CHARS]
            for start in range(0, len(segment.key), CHUNK_CHARS)
        ] or [""]
        for piece in pieces:
            name = hashlib.sha256(f"{name}\n{segment.part}\n{piece}".encode()).hexdigest()
            yield name, segment.tokens * len(piece) / max(len(segment.key), 1)
