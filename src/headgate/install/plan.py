"""What installing would change: computed from texts, shown as a diff, written by `written`."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from headgate.errors import RequestError

Mode = Literal["hook", "gateway", "mcp"]
MODES: tuple[Mode, ...] = ("hook", "gateway", "mcp")

CONTEXT_LINES = 2

LONE_LINE_END = re.compile(r"(?<!\r)\n")

GATEWAY_URL = "http://127.0.0.1:8787"
"""Where the gateway listens unless told otherwise."""

UNCUT_BYTES = 1_000_000
"""CLIs cut a result before anybody else sees it. Where the gateway cuts, and keeps the whole, they
need not; up to this much may come to it."""

CACHES = frozenset({".cache", "Caches"})
"""Folders in which `uvx` and `pipx run` put what they run, on Linux and on macOS."""

TIMEOUT_S = 20
"""After this an agent goes on without us; a result takes a part of a second."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None: there is none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The change as people read it."""
        old, new = (
            [] if text is None else text.splitlines(keepends=True)
            for text in (self.before, self.after)
        )
        path = str(self.path)
        lines = difflib.unified_diff(
            old,
            new,
            "/dev/null" if self.before is None else path,
            "/dev/null" if self.after is None else path,
            n=CONTEXT_LINES,
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one installation, and what is left for the user to do."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """Where an installation happens."""

    home: Path
    program: str
    """The absolute path of the `headgate` command: hooks run with whatever PATH the agent has."""
    state: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    gateway: str = GATEWAY_URL
    preset: str | None = None
    read: Callable[[Path], str | None] = lambda path: text_of(path)

    def folder(self, variable: str, *below: str) -> Path:
        """A folder that a variable names, else one below the home folder."""
        named = self.environ.get(variable)
        return Path(named) if named else self.home.joinpath(*below)

    def words(self, client: str) -> list[str]:
        """The command of a hook."""
        preset = ["--preset", self.preset] if self.preset else []
        return [self.program, "hook", client, *preset]

    @property
    def sessions(self) -> Path:
        """Where the files stand that markers name."""
        return self.state / "sessions"


Edit: TypeAlias = Callable[[str], str]


def changed(site: Site, path: Path, *edits: Edit) -> tuple[Change, ...]:
    """The change that edits make to a file; nothing where it is as it should be."""
    before = site.read(path)
    after = before or ""
    with naming(path):
        for edit in edits:
            after = edit(after)
    return change_to(path, before, after)


def change_to(path: Path, before: str | None, after: str) -> tuple[Change, ...]:
    """The change of a file to this text, its lines ended as all of them were; none if it is it."""
    if before and 0 < before.count("\n") == before.count("\r\n"):
        after = LONE_LINE_END.sub("\r\n", after)
    return () if after == (before or "") else (Change(path, before, after),)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in which something stands that cannot be read or edited."""
    try:
        yield
    except RequestError as error:
        raise RequestError(f"{path}: {error}; nothing was changed") from error


def text_of(path: Path) -> str | None:
    """A file's text; None where there is no such file."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is not UTF-8 at byte {error.start}") from error


def is_ours(command: object) -> bool:
    """Whether a configured command is a hook of ours, of whatever installation."""
    words = command.split() if isinstance(command, str) else []
    return any(
        os.path.basename(word.strip("'\"")) == "headgate" and words[n + 1 : n + 2] == ["hook"]
        for n, word in enumerate(words)
    )


def reversed_in(current: str, change: Change) -> str | None:
    """A file that went on changing, without our change; None where its lines cannot be found.

    Each run of lines that we put in is looked for, with the line before and after it, and what
    stood there before is put back.
    """
    if current == (change.after or ""):
        return change.before
    return _replaced(current, _runs(change, around=1))


def alone_reversed_in(current: str, change: Change) -> str | None:
    """The same where the lines next to ours have changed: ours alone are looked for.

    It is not for formats in which one line depends on the next, as by a comma.
    """
    return _replaced(current, _runs(change, around=0))


Runs: TypeAlias = list[tuple[list[str], list[str]]]
"""Lines before and after, in order."""


def _replaced(current: str, runs: Runs) -> str | None:
    lines = current.splitlines(keepends=True)
    for was, now in reversed(runs):
        at = _only(lines, now)
        if at is None:
            return None
        lines[at : at + len(now)] = was
    return "".join(lines)


def _runs(change: Change, *, around: int) -> Runs:
    """Each changed run of lines before and after, with lines of context around it."""
    old = (change.before or "").splitlines(keepends=True)
    new = (change.after or "").splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    runs: Runs = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            before, after = new[max(k - around, 0) : k], new[m : m + around]
            runs.append(([*before, *old[i:j], *after], [*before, *new[k:m], *after]))
    return runs


def _only(lines: list[str], run: list[str]) -> int | None:
    """Where a run of lines stands; None where it does not, or twice."""
    places = [at for at in range(len(lines) - len(run) + 1) if lines[at : at + len(run)] == run]
    return places[0] if run and len(places) == 1 else None


def cache_note(program: str) -> str:
    """A word on a program that will be gone one day, as one that uvx runs; empty: it stays."""
    if not CACHES.intersection(Path(program).parts):
        return ""
    return (
        f"{program} is in a cache, and goes when that is emptied: install headgate to stay, as by "
        "uv tool install headgate, and run this again with it"
    )


def start_note(site: Site, upstream: str, was: str) -> str:
    """How to start the gateway, with the upstream that was configured before."""
    port = urlsplit(site.gateway).port
    command = "headgate gateway" + (f" --port {port}" if port not in (None, 8787) else "")
    if was and was.rstrip("/") != site.gateway:
        command += f" --upstream {upstream}={was}"
    return f"start the gateway before the agent: {command}"
