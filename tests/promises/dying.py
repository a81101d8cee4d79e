"""A process that keeps originals and records verdicts until it is killed, over and over.

Run by `test_p10_kill.py` as `python -m tests.promises.dying sweep|storm FOLDER ...`: this process
forks the ones that die, and looks at what they left. It prints one JSON object.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from headgate.errors import RefGone, StoreError
from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.refs import ref_of
from headgate.retention import EVERYTHING, Retention
from headgate.spill.compress import compress
from headgate.spill.house import House
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore
from headgate.spill.private import session_folder
from tests.spill.keeping import keep, key, session_path, verdict

SESSION = "s"


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: some time after so many words were said, so that a slow machine gets as far."""

    after_words: int
    wait_s: float


def content_of(i: int) -> bytes:
    """Bytes that are no text, a stream of more than one chunk, and small clean text, in turn."""
    kinds = (b"\xff\x00 %d" % i * 50, b"%09d\n" % i * 30_000, b"line %d\n" % i * 20)
    return kinds[i % 3]


def open_both(state: Path) -> tuple[LocalStore, Ledger]:
    ledger = Ledger(Journal(session_folder(state, SESSION) / "ledger"))
    return LocalStore(state, SESSION, name_by="call"), ledger


def work(state: Path, first: int, count: int, said: int) -> None:
    """Keep and record from number `first` on; say each number only when it is safe."""
    store, ledger = open_both(state)
    for i in range(first, first + count):
        about = keep(store, content_of(i), call_id=f"c{i}")
        ledger.record([(key(f"c{i}"), verdict(f"c{i}", f"text {i}", ref=about.ref))], time_ns=i)
        os.write(said, b"%d\n" % i)


def until_killed(work: Callable[[int], None], *, call: int = 0, when: Moment | None = None) -> str:
    """Fork one that works, let it be killed, and answer with what it said before.

    It dies before its `call`-th system call, or at a moment, or not at all.
    """
    hear, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        if call:
            sys.setprofile(killer(call))
        work(said)
        sys.setprofile(None)
        os.write(said, b"done\n")
        os._exit(0)
    os.close(said)
    with os.fdopen(hear) as pipe:
        heard = ""
        if when:
            heard = "".join(pipe.readline() for _ in range(when.after_words))
            time.sleep(when.wait_s)
            os.kill(child, signal.SIGKILL)
        heard += pipe.read()
    status = os.waitpid(child, 0)[1]
    if status != (0 if heard.endswith("done\n") else signal.SIGKILL):
        raise AssertionError(f"the worker ended with {status}, and not by a kill")
    return heard


def killer(call: int) -> Callable[[FrameType, str, object], None]:
    """A profile that kills this process right before its `call`-th call of the system.

    Nothing else changes what is on disk, so these are all the moments there are.
    """
    left = call

    def before_call(_: FrameType, event: str, called: object) -> None:
        nonlocal left
        left -= event == "c_call" and getattr(called, "__module__", "") in ("posix", "fcntl")
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return before_call


def torn(state: Path, whole: set[str]) -> list[str]:
    """Objects that are not what their ref stands for, and plain files that lack a part.

    Those found whole are added to `whole`, and not looked at again.
    """
    session, secret = session_path(state, SESSION), installation_key(state)
    found = []
    for path in [*session.glob("objects/*"), *session.glob("files/*.txt")]:
        if path.name in whole:
            continue
        content = path.read_bytes()
        ref = ref_of(secret, SESSION, hashlib.sha256(content).hexdigest())
        named = path.stem[1:]
        if ref == path.stem or (named.isdigit() and content.decode() == shown(int(named))):
            whole.add(path.name)
        else:
            found.append(str(path))
    return found


def shown(i: int) -> str:
    return content_of(i).decode(errors="backslashreplace").replace("\0", "\\x00")


def lost(state: Path, numbers: list[int]) -> list[int]:
    """Numbers that were said, and are not there in full."""
    store, ledger = open_both(state)
    return [i for i in numbers if not there(store, ledger, i)]


def there(store: LocalStore, ledger: Ledger, i: int) -> bool:
    found = ledger.find(key(f"c{i}"))
    if found is None or found.ref is None or found.text != f"text {i}":
        return False
    file = store.path_for(found.ref, f"c{i}")
    content = store.read(found.ref, 0, 1 << 30)
    return content == content_of(i) and file is not None and Path(file).read_text() == shown(i)


def leftovers(state: Path) -> list[str]:
    return sorted(path.name for path in state.rglob(".tmp-*"))


def sweep(folder: Path) -> dict[str, object]:
    """Die before every single system call, from the first to the last."""
    found: dict[str, list[str]] = {"torn": [], "lost": [], "left": []}
    (folder / "key").mkdir()
    secret = installation_key(folder / "key")
    call, heard = 0, ""
    while "done" not in heard:
        call += 1
        state = folder / str(call)
        state.mkdir(mode=0o700)
        (state / "key").write_bytes(secret)
        heard = until_killed(partial(work, state, 0, 3), call=call)
        acknowledged = [int(number) for number in heard.split() if number.isdigit()]
        found["torn"] += torn(state, set())
        found["lost"] += [f"{i} at call {call}" for i in lost(state, acknowledged)]
        # The run after the kill is an ordinary one: it succeeds, and tidies up.
        until_killed(partial(work, state, 0, 3))
        found["lost"] += [f"{i} again after call {call}" for i in lost(state, [0, 1, 2])]
        found["left"] += leftovers(session_path(state, SESSION) / "tmp")
        shutil.rmtree(state)
    return {"kills": call - 1, **found}


def make_key(state: Path, _: int) -> None:
    installation_key(state)


def sweep_key(folder: Path) -> dict[str, object]:
    """Die before every system call of making the installation key; it is whole, or not there."""
    call, heard, damage = 0, "", []
    while "done" not in heard:
        call += 1
        state = folder / str(call)
        heard = until_killed(partial(make_key, state), call=call)
        there = (state / "key").read_bytes() if (state / "key").exists() else None
        damage += [call] if there not in (None, installation_key(state)) else []
    return {"kills": call - 1, "torn": damage}


def tidy(state: Path, _: int) -> None:
    """Remove half of what is kept, and compress the rest, as if an hour had passed."""
    house = House(state, clock=lambda: time.time_ns() + 3_600 * 10**9)
    house.sweep(Retention(age_s=None, live_s=0, session_count=3, free_bytes=None))
    list(compress(house, Retention(age_s=None, live_s=0, free_bytes=None)))


def unresolved(state: Path, refs: dict[str, bytes]) -> list[str]:
    """Refs that neither read back nor say that they are gone."""
    store, _ = open_both(state)
    found = []
    for ref, content in refs.items():
        try:
            whole = store.read(ref, 0, 1 << 30) == content
        except RefGone:
            whole = True
        except StoreError:
            whole = False
        found += [] if whole else [ref]
    return found


def sweep_house(folder: Path, stride: int) -> dict[str, object]:
    """Die before every system call of removing and compressing, or before every second one."""
    base = folder / "base"
    nowhere = os.open(os.devnull, os.O_WRONLY)
    work(base, 0, 6, nowhere)
    secret = installation_key(base)
    contents = [content_of(i) for i in range(6)]
    refs = {ref_of(secret, SESSION, hashlib.sha256(each).hexdigest()): each for each in contents}
    found: dict[str, list[str]] = {"lost": [], "left": [], "miscounted": []}
    call, heard = 0, ""
    while "done" not in heard:
        call += stride
        state = folder / str(call)
        subprocess.run(["cp", "-a", str(base), str(state)], check=True)
        heard = until_killed(partial(tidy, state), call=call)
        found["lost"] += [f"{ref} at call {call}" for ref in unresolved(state, refs)]
        until_killed(partial(tidy, state))
        found["lost"] += [f"{ref} again after {call}" for ref in unresolved(state, refs)]
        found["left"] += leftovers(state)
        left = House(state).sweep(EVERYTHING).left
        found["miscounted"] += [] if left.count == 3 else [f"{left} at call {call}"]
        shutil.rmtree(state)
    return {"kills": call // stride - 1, **found}


def storm(folder: Path, kills: int, seed: int) -> dict[str, object]:
    """Die at random moments, and go on each time where the last one was cut off."""
    dice = random.Random(seed)
    said: list[int] = []
    damage: list[str] = []
    whole: set[str] = set()
    missing: list[int] = []
    for _ in range(kills):
        first = len(said)
        moment = Moment(dice.randint(1, 3), dice.uniform(0, 0.004))
        heard = until_killed(partial(work, folder, first, 1_000_000), when=moment)
        fresh = [int(number) for number in heard.split()]
        said += fresh
        damage += torn(folder, whole)
        missing += lost(folder, fresh)
    return {
        "kills": kills,
        "said": len(said),
        "in_order": said == list(range(len(said))),
        "torn": damage + torn(folder, set()),
        "lost": missing + lost(folder, said),
    }


if __name__ == "__main__":
    how, where, *numbers = sys.argv[1:]
    acts = {"sweep": sweep, "sweep_key": sweep_key, "sweep_house": sweep_house, "storm": storm}
    act = acts[how]
    print(json.dumps(act(Path(where), *map(int, numbers))))
