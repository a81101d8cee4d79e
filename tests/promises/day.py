"""A day of traffic on a small disk: agents admit, send and forget, and are killed all the time.

Run by `test_day.py` as `python -m tests.promises.day FOLDER SESSIONS ROUNDS SEED`. A round is a
part of the day. In it some sessions work, each in a process of its own that may be killed at any
moment, while this process looks at the disk. It prints one JSON object.
"""

import json
import os
import random
import re
import select
import signal
import string
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from headgate import Gate, Policy, ToolResult, tokens
from headgate.errors import RefGone, RefNotFound
from headgate.events import Event, SweepFailed
from headgate.retention import Retention
from headgate.spill.compress import compress
from headgate.spill.house import House
from headgate.spill.private import session_name
from tests.spill.housing import on_disk

START = 1_800_000_000 * 10**9
DAY_NS = 86_400 * 10**9

LIMITS = Retention(
    age_s=12 * 3_600,
    live_s=24 * 3_600,
    result_bytes=30_000,
    session_bytes=300_000,
    session_count=40,
    total_bytes=2_200_000,
    total_count=500,
    free_bytes=200_000,
)
POLICY = Policy(result=tokens(300), batch=None, retention=LIMITS)
REF = re.compile(r"r_[a-z2-7]{12}")
AT_ONCE = 4
LEFT_BYTES = (4_096, 0, 150_000)
"""What others leave free when they fill the disk, in turn."""


def text_of(dice: random.Random, call: str) -> str:
    """A result: small ones mostly, some large, some no clean text; no line like another."""
    size = int(10 ** dice.uniform(2.5, 4.6))
    colour = "\x1b[31m" * dice.randrange(2)
    seed, text = dice.random(), ""
    words = random.Random(seed)
    while len(text) < size:
        word = "".join(words.choices(string.ascii_lowercase, k=9))
        text += f"{call} {word} {colour}INFO step of the work\n"
    return text[:size]


def turn(
    gate: Gate, dice: random.Random, messages: list[dict], call: str, ever: Path
) -> list[dict]:
    """One request of an agent: the model called tools, their results came, old ones go."""
    calls = [f"{call}_{i}" for i in range(dice.randint(1, 3))]
    batch = [ToolResult.of("bash", text_of(dice, each), call_id=each) for each in calls]
    uses = [{"type": "tool_use", "id": each, "name": "bash", "input": {}} for each in calls]
    seen = gate.admit(batch)
    with ever.open("a") as file:
        stored = [shown.verdict.ref for shown in seen if shown.verdict.fate == "spilled"]
        file.write("".join(f"{ref}\n" for ref in stored))
    answers = [
        {"type": "tool_result", "tool_use_id": shown.call_id, "content": shown.text}
        for shown in seen
    ]
    first, rounds = messages[:1], messages[1:]
    most = 2 * dice.randint(2, 6)
    if not first or len(rounds) > most:
        first = [{"role": "user", "content": f"what was before {call} is summed up here"}]
    return [
        *first,
        *rounds[-most:],
        {"role": "assistant", "content": uses},
        {"role": "user", "content": answers},
    ]


def work(folder: Path, session: str, seed: int, now_ns: int, turns: int, said: int = -1) -> None:
    """Some turns of one session; what was sent is noted before and after, and then said."""
    dice, notes = random.Random(seed), folder / "notes" / session_name(session)
    ticks = iter(range(now_ns, now_ns + 10**15, 10**6))
    events: list[Event] = []
    gate = Gate(
        POLICY,
        session=session,
        state=folder / "state",
        clock=lambda: next(ticks),
        hooks=[events.append],
    )
    messages = json.loads(notes.read_text()) if notes.exists() else []
    if notes.with_suffix(".next").exists():
        # Killed while a history was sent that may have dropped these: they may be gone since.
        sent = json.loads(notes.with_suffix(".next").read_text())
        excuse(notes, set(refs_in(messages)) - set(refs_in(sent)))
    for number in range(turns):
        ever = notes.with_suffix(".ever")
        messages = turn(gate, dice, messages, f"c{seed}_{number}", ever)
        noted(notes.with_suffix(".next"), messages)
        gate.prepare(json.dumps({"messages": messages}).encode(), dialect="anthropic")
        if any(isinstance(event, SweepFailed) for event in events):
            # The disk was too full even to note what this history refers to.
            excuse(notes, set(refs_in(messages)))
        noted(notes, messages)
        notes.with_suffix(".next").unlink()
        if said >= 0:
            os.write(said, b".")


def excuse(notes: Path, refs: set[str]) -> None:
    """Note refs of a history that the store could not know to be live."""
    with notes.with_suffix(".excused").open("a") as file:
        file.write("".join(f"{ref}\n" for ref in sorted(refs)))


def noted(path: Path, messages: list[dict]) -> None:
    temp = path.with_suffix(f".{os.getpid()}")
    temp.write_text(json.dumps(messages))
    temp.rename(path)


def refs_in(messages: list[dict]) -> list[str]:
    return sorted(set(REF.findall(json.dumps(messages))))


@dataclass
class Day:
    """What is seen of the day from outside."""

    folder: Path
    sessions: list[str]
    dice: random.Random
    kills: int = 0
    fills: int = 0
    compressed: int = 0
    turns: int = 0
    most_bytes: int = 0
    over: list[str] = field(default_factory=list)

    def round(self, number: int, now_ns: int) -> None:
        # Not by dice: how often those are thrown hangs on how fast the machine is, and by chance
        # the disk would be full all day.
        full, third = number % 3 == 1, number // 3
        with self.nearly_full(LEFT_BYTES[third % 3]) if full else nullcontext():
            for first in range(0, len(self.sessions), AT_ONCE):
                names = self.sessions[first : first + AT_ONCE]
                self.watch([name for name in names if self.dice.random() < 0.6], now_ns)

    def watch(self, names: list[str], now_ns: int) -> None:
        """Let some sessions work at the same time; half of them die in the middle of a turn."""
        hears = dict(self.fork(name, now_ns) for name in names)
        turns_left = {hear: self.dice.choice([1, 1, 2, 3, 9, 9, 9, 9]) for hear in hears}
        while hears:
            ready, _, _ = select.select(hears, [], [], 0.02)
            self.look()
            if self.dice.random() < 0.1:
                house = House(self.folder / "state", clock=lambda: now_ns)
                house.sweep(LIMITS)
                self.compressed += len(list(compress(house, LIMITS)))
            for hear in ready:
                said = os.read(hear, 64)
                turns_left[hear] -= len(said)
                if said and turns_left[hear] <= 0:
                    os.kill(hears[hear], signal.SIGKILL)
                    turns_left[hear] = 99
                    self.kills += 1
                if not said:
                    os.waitpid(hears.pop(hear), 0)
                    os.close(hear)

    @contextmanager
    def nearly_full(self, left_bytes: int) -> Iterator[None]:
        """Others fill the disk, if it is one of our own."""
        filler = self.folder / "state" / "filler"
        if os.path.ismount(self.folder / "state"):
            disk = os.statvfs(self.folder / "state")
            filler.touch(mode=0o600)
            free = disk.f_bavail * disk.f_frsize
            filler.write_bytes(bytes(max(free - left_bytes, 0)))
            self.fills += 1
        yield
        filler.unlink(missing_ok=True)

    def fork(self, session: str, now_ns: int) -> tuple[int, int]:
        """Begin to work in a process of its own, which says a word after each turn."""
        seed, turns = self.dice.randrange(10**9), self.dice.randint(1, 4)
        self.turns += turns
        hear, said = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                work(self.folder, session, seed, now_ns, turns, said)
            except BaseException as error:  # noqa: BLE001  # told to the parent, which fails
                (self.folder / "failed").write_text(f"{session}: {error!r}")
            os._exit(0)
        os.close(said)
        return hear, child

    def look(self) -> None:
        """Whether the limits hold at this moment."""
        with House(self.folder / "state").usage.locked():
            # Nothing comes or goes meanwhile: else what went is counted with what came.
            size = on_disk(self.folder / "state")
        self.most_bytes = max(self.most_bytes, size)
        if size > LIMITS.total_bytes:
            self.over.append(f"{size} bytes in all")
        for folder in (self.folder / "state" / "sessions").glob("*"):
            count = len({path.name[:14] for path in folder.glob("objects/r_*")})
            if count > LIMITS.session_count:
                self.over.append(f"{count} originals in {folder.name}")


def ended(folder: Path, sessions: list[str]) -> dict[str, object]:
    """What is there at the end: every ref ever shown, and those that live histories refer to."""
    live_lost, untold, ever, there, live_bytes = [], [], 0, 0, 0
    for name in sessions:
        notes = folder / "notes" / session_name(name)
        gate = Gate(POLICY, session=name, state=folder / "state")
        live = live_refs(notes)
        for ref in set(lines_of(notes.with_suffix(".ever"))):
            ever += 1
            try:
                content = gate.original(ref)
                there += 1
                live_bytes += len(content) if ref in live else 0
            except RefNotFound as error:
                if not isinstance(error, RefGone):
                    untold.append(f"{name} {ref}")
                if ref in live:
                    live_lost.append(f"{name} {ref}: {error}")
    return {
        "live_lost": live_lost,
        "untold": untold,
        "ever": ever,
        "there": there,
        "live_bytes": live_bytes,
    }


def live_refs(notes: Path) -> set[str]:
    """What the last history that was surely sent refers to; all were sent on this one day."""
    if not notes.exists():
        return set()
    live = set(refs_in(json.loads(notes.read_text())))
    if notes.with_suffix(".next").exists():
        # Killed while this one was sent: it may count already, and what it dropped with it.
        live &= set(refs_in(json.loads(notes.with_suffix(".next").read_text())))
    return live - set(lines_of(notes.with_suffix(".excused")))


def lines_of(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def main(folder: Path, sessions: int, rounds: int, seed: int) -> dict[str, object]:
    names = [f"agent-{i}" if i % 3 else f"Agent {i}" for i in range(sessions)]
    (folder / "notes").mkdir()
    day = Day(folder, names, random.Random(seed))
    (folder / "warm" / "notes").mkdir(parents=True)
    work(folder / "warm", "warm", 0, START, 2)  # what every child would load for itself
    for number in range(rounds):
        day.round(number, START + DAY_NS * number // rounds)
    failed = folder / "failed"
    return {
        "kills": day.kills,
        "fills": day.fills,
        "compressed": day.compressed,
        "turns": day.turns,
        "most_bytes": day.most_bytes,
        "over": day.over[:5],
        "failed": failed.read_text() if failed.exists() else "",
        **ended(folder, names),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))))
