"""One of many processes on one session; run by `test_p13_many_processes.py`.

`python -m tests.promises.many STATE NAME CALLS` says that it is ready, waits for a line on
stdin, decides every call in an order of its own, and prints as JSON which verdicts stood.
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


def main(state: Path, name: str, calls: int) -> None:
    store = LocalStore(state, "s", name_by="call")
    ledger = Ledger(Journal(session_folder(state, "s") / "ledger"))
    stood: dict[str, str | None] = {}
    order = list(range(calls))
    random.Random(name).shuffle(order)
    print("ready", flush=True)
    sys.stdin.readline()
    for i in order:
        about = keep(store, b"content %d\n" % i, call_id=f"c{i}")
        ours = verdict(f"c{i}", f"decided by {name}", ref=about.ref)
        # Every third call comes in a batch of two, so that batches meet single ones.
        batch = [(key(f"c{i}"), ours)]
        if i % 3 == 0 and i + 1 < calls:
            batch.append((key(f"c{i + 1}"), verdict(f"c{i + 1}", f"decided by {name}")))
        for wanted, stands in zip(batch, ledger.record(batch, time_ns=i), strict=True):
            stood.setdefault(wanted[0].call_id, stands.text)
            if stood[wanted[0].call_id] != stands.text:
                raise AssertionError(f"{wanted[0].call_id} changed to {stands.text}")
    repairs = [*ledger.take_repairs(), *store.take_repairs()]
    print(json.dumps({"stood": stood, "failure": ledger.take_failure(), "repairs": len(repairs)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
