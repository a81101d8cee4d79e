"""`headgate store gc`: remove what is kept too long or too much, compress what is left over."""

from __future__ import annotations

import os
import re
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headgate.cli.opening import chosen
from headgate.cli.output import say, show_record, show_table
from headgate.cli.parser import Parser
from headgate.cli.progress import Progress, size
from headgate.cli.store_ls import age, many
from headgate.retention import WORDS, Retention
from headgate.spill.private import state_folder

if TYPE_CHECKING:
    from headgate.spill.house import House

USAGE = "[--older-than AGE] [--total SIZE] [--dry-run] [--no-compress] [--json]"

SAYS = """\
Remove what is kept for too long or is too much, of all sessions, as the policy's retention says;
what a live history refers to goes last, and each leaves a tombstone that says so to its session.
Then compress what no live history refers to; reading it back does not change. Writing removes by
itself what it needs room for; compressing is done only here. It is safe while agents run.
"""

EXAMPLES = """\
  headgate store gc --dry-run                       what would go, and why
  headgate store gc --older-than 12h --total 2GB    stricter than the policy, this once
  HEADGATE_RETENTION='{ age_s = 86400 }' headgate store gc
"""

AGES = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
SIZES = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def parser() -> Parser:
    """How it is called."""
    made = Parser("store gc", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument(
        "--older-than", type=seconds, metavar="AGE", help="not used for so long: 45min, 12h, 7d"
    )
    made.add_argument(
        "--total", type=size_bytes, metavar="SIZE", help="keep at most this much: 500MB, 2GB"
    )
    made.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")
    made.add_argument("--no-compress", action="store_true", help="only remove")
    made.add_json("one object for each original, and one for the whole")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    from headgate.spill.house import House

    asked = parser().parse_args(words)
    house = House(state_folder(os.environ))
    if not os.path.isdir(house.state.path):
        say(f"nothing is kept under {house.state.path}")
        return 0
    done = put_in_order(house, retention_for(asked), asked)
    if asked.json:
        for deed in done.deeds:
            show_record(deed.record)
        show_record(done.summary)
        return 0
    if done.deeds:
        show_table(
            ["session", "ref", " bytes", " unused", "what"], [deed.row for deed in done.deeds]
        )
    say(in_words(done))
    return 0


def retention_for(asked: Namespace) -> Retention:
    """The policy's word, or what the flags say instead of it."""
    retention = chosen(None).retention
    if asked.older_than is not None:
        live_s = min(retention.live_s, asked.older_than)
        retention = replace(retention, age_s=asked.older_than, live_s=live_s)
    if asked.total is not None:
        retention = replace(retention, total_bytes=asked.total)
    return retention


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done with one original."""

    session: str
    ref: str
    before_bytes: int
    unused_s: int | None
    what: str
    after_bytes: int

    @property
    def row(self) -> list[str]:
        """As a line of the table."""
        unused = "" if self.unused_s is None else age(self.unused_s)
        return [self.session, self.ref, f"{self.before_bytes:,}", unused, self.what]

    @property
    def record(self) -> dict[str, object]:
        """As one object."""
        return {
            "session": self.session,
            "ref": self.ref,
            "bytes": self.before_bytes,
            "unused_s": self.unused_s,
            "what": self.what,
            "after_bytes": self.after_bytes,
        }


@dataclass(frozen=True, slots=True)
class Done:
    """What was done with all of them."""

    deeds: tuple[Deed, ...]
    removed: int
    left_bytes: int
    left: int
    dry: bool

    @property
    def freed_bytes(self) -> int:
        """How much less is on the disk."""
        return sum(deed.before_bytes - deed.after_bytes for deed in self.deeds)

    @property
    def summary(self) -> dict[str, object]:
        """The whole as one object."""
        return {
            "removed": self.removed,
            "compressed": len(self.deeds) - self.removed,
            "freed_bytes": self.freed_bytes,
            "left": self.left,
            "left_bytes": self.left_bytes,
            "dry_run": self.dry,
        }


def put_in_order(house: House, retention: Retention, asked: Namespace) -> Done:
    """Remove, then compress."""
    from headgate.spill.compress import compress

    swept = house.sweep(retention, dry=asked.dry_run)
    for skipped in swept.skipped:
        say(f"left alone: {skipped}")
    now_ns = time.time_ns()
    deeds = [
        Deed(
            one.session,
            one.ref,
            one.size_bytes,
            max(now_ns - one.used_ns, 0) // 10**9,
            f"removed: {WORDS[one.why]}",
            0,
        )
        for one in swept.removed
    ]
    removed, left = len(deeds), swept.left
    if not asked.dry_run and not asked.no_compress:
        with Progress() as progress:
            for done in compress(house, retention):
                progress.tick()
                what = f"compressed to {size(done.after_bytes)}"
                deed = Deed(done.session, done.ref, done.before_bytes, None, what, done.after_bytes)
                deeds.append(deed)
                left = left.plus(done.after_bytes - done.before_bytes, 0)
    return Done(tuple(deeds), removed, left.bytes, left.count, asked.dry_run)


def in_words(done: Done) -> str:
    """What was done, in one line."""
    would = "would be " if done.dry else ""
    return (
        f"{done.removed:,} {would}removed, {len(done.deeds) - done.removed:,} compressed, "
        f"{size(done.freed_bytes)} {would}freed; {many(done.left)}, "
        f"{size(done.left_bytes)} {would}left"
    )


def seconds(value: str) -> int:
    """An age: a whole number and its unit."""
    found = re.fullmatch(r"([0-9]{1,9}) ?(s|min|h|d)", value)
    if not found:
        raise ArgumentTypeError(f"{value!r}; it takes a number and s, min, h or d, as in 12h")
    return int(found[1]) * AGES[found[2]]


def size_bytes(value: str) -> int:
    """A size: a whole number and its unit, or of bytes."""
    found = re.fullmatch(r"([0-9]{1,15}) ?(|B|kB|MB|GB|TB)", value)
    if not found or not int(found[1]):
        raise ArgumentTypeError(f"{value!r}; it takes a number and kB, MB, GB or TB, as in 2GB")
    return int(found[1]) * SIZES[found[2]]
