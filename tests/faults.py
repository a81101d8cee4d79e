"""Faults of the world around the store, made on purpose."""

import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import headgate

NOBODY = 65_534
SOURCE = os.path.dirname(headgate.__file__)


@contextmanager
def file_size_limit(most_bytes: int) -> Iterator[None]:
    """No file of this process grows beyond `most_bytes`: a full disk without a disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process has as many files open as it may; what is open stays open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def interrupted(act: Callable[[], object], moment: int, files: tuple[str, ...]) -> bool:
    """Press Ctrl-C at the `moment`-th chance in these files; says whether there were so many.

    Python looks for signals where a function begins and where one in C has returned. Nothing is
    collected meanwhile: what another test left behind would take the key press for itself.
    """
    left, ours = moment, tuple(f"{SOURCE}/{file}" for file in files)

    def press(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(ours):
            left -= 1
            if not left:
                sys.setprofile(None)
                raise KeyboardInterrupt

    gc.disable()
    sys.setprofile(press)
    try:
        with suppress(KeyboardInterrupt):
            act()
    finally:
        sys.setprofile(None)
        gc.enable()
    return left <= 0


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Breaks off what would wait for ever."""

    def late(*_: object) -> None:
        raise AssertionError(f"not over after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def as_nobody(act: Callable[[Path], None]) -> None:
    """Run `act` in a folder of its own as a user without privileges: root ignores permissions.

    It runs in a fork, so that this process keeps its rights; what it raises is raised here.
    """
    folder = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    hear, say = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(say, "w") as report:
            report.write(_outcome(act, folder))
        os._exit(0)
    os.close(say)
    with os.fdopen(hear) as report:
        outcome = report.read()
    os.waitpid(child, 0)
    shutil.rmtree(folder)
    assert outcome == "done", outcome


def _outcome(act: Callable[[Path], None], folder: Path) -> str:
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        act(folder)
    except BaseException:  # noqa: BLE001  # reported to the parent, which raises it
        return traceback.format_exc()
    return "done"
