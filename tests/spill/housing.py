"""What the tests of retention share: a clock that is set by hand, and stores that ask it."""

from contextlib import suppress
from pathlib import Path

from headgate.spill.local import LocalStore

HOUR = 3_600 * 10**9
START = 1_800_000_000 * 10**9
"""2027-01-15 08:00 UTC."""


class Clock:
    """A clock that stands until somebody moves it."""

    def __init__(self) -> None:
        self.now_ns = START

    def __call__(self) -> int:
        return self.now_ns


def text(i: int, size: int = 100) -> bytes:
    return (b"%06d " % i * size)[: size - 1] + b"\n"


def on_disk(state: Path) -> int:
    """Bytes of originals, of unfinished ones and of copies; a second name of a file is none."""
    found = {}
    for folder in ("objects", "files", "tmp"):
        for path in state.glob(f"sessions/*/{folder}/*"):
            with suppress(FileNotFoundError):
                status = path.lstat()
                found[status.st_ino] = status.st_size
    return sum(found.values())


def counted(store: LocalStore) -> tuple[int, int]:
    with store.house.usage.locked() as books:
        total = books.total()
    return (total.bytes, total.count)
