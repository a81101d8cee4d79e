"""One of many processes on one session; run by `test_p13_many_processes.py`.

`python -m tests.promises.many STATE NAME RACED CALLS` says that it is ready, waits for a line on
stdin, decides every call, and prints as JSON which verdicts stood.
"""

import json
import random
import sys
from pathlib import Path

from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.spill.local import LocalStore
from headgate.spill.private import session_folder
from tests.spill.keeping import keep, key, verdict


class Process:
    """One process: what it saw of each call, which must not change."""

    def __init__(self, state: Path, name: str) -> None:
        self.name = name
        self.store = LocalStore(state, "s", name_by="call")
        self.ledger = Ledger(Journal(session_folder(state, "s") / "ledger"))
        self.stood: dict[str, str | None] = {}

    def decide(self, *calls: str, ref: str | None = None) -> None:
        batch = [(key(call), verdict(call, f"decided by {self.name}", ref=ref)) for call in calls]
        for call, stands in zip(calls, self.ledger.record(batch, time_ns=1), strict=True):
            if self.stood.setdefault(call, stands.text) != stands.text:
                raise AssertionError(f"{call} changed to {stands.text}")

    def race(self, calls: int) -> None:
        """Decide in the same order as everybody else, so that all want the same line at once."""
        for i in range(0, calls, 2):
            self.decide(f"race-{i}", f"race-{i + 1}")

    def wander(self, calls: int) -> None:
        """Keep and decide in an order of one's own, so that everybody meets the others' work."""
        order = list(range(calls))
        random.Random(self.name).shuffle(order)
        for i in order:
            about = keep(self.store, b"content %d\n" % i, call_id=f"c{i}")
            self.decide(f"c{i}", ref=about.ref)


def main(state: Path, name: str, raced: int, calls: int) -> None:
    process = Process(state, name)
    print("ready", flush=True)
    sys.stdin.readline()
    process.race(raced)
    process.wander(calls)
    repairs = [*process.ledger.take_repairs(), *process.store.take_repairs()]
    failure = process.ledger.take_failure()
    print(json.dumps({"stood": process.stood, "failure": failure, "repairs": len(repairs)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
