"""The task every CLI is given, and what reached the model: results, and whether bytes stayed."""

import json
import re
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from headgate.testing import Provider
from headgate.testing.replies import Request, Scripted

PATH = re.compile(r"the whole is in (/\S+?\.txt)")

REMINDER = re.compile(r"\n*<system-reminder>.*?</system-reminder>", re.DOTALL)
"""What Claude Code adds to the newest result by itself."""

LOGS = {
    "one.log": "worker {n}: compiled module_{n}.c into build/obj/module_{n}.o",
    "two.log": "2026-11-15T05:34:34Z INFO fetched package {n} from the mirror in {n} ms",
    "three.log": "test_case_{n} ... ok (took {n} ms on the second try)",
}
LINES = 1_000
ODD = {
    "one.log": "module_500.c:88: error: 'replica' undeclared",
    "two.log": "2026-11-15T05:34:34Z ERROR the checksum of package 500 does not match",
    "three.log": "FAILED test_case_500: expected 3, got 9321",
}
"""One line in the middle of each that a reader must not miss."""

GAP = re.compile(r"\[lines (\d+)-\d+ omitted")


def logs() -> dict[str, str]:
    """The files of the task: 1,000 lines each."""
    return {
        name: "".join(
            (ODD[name] if n == LINES // 2 else form.format(n=n)) + "\n" for n in range(1, LINES + 1)
        )
        for name, form in LOGS.items()
    }


@dataclass
class Model:
    """What the stand-in answers: two parallel commands, a failing one, a look back, a small one."""

    program: object
    lock: threading.Lock = field(default_factory=threading.Lock)
    turn: int = 0
    path: str = ""
    """What the marker of the first result named."""
    line: int = 0
    """The first line that it says is missing."""

    def __call__(self, request: Request) -> Scripted:
        if not request.json.get("tools"):
            return "A title."
        with self.lock:
            self.turn += 1
            return self.reply(self.turn, results_in(request))

    def reply(self, turn, results) -> Scripted:
        shell, opening = self.program.shell, self.program.opening
        if turn == 1:
            return [*opening, shell("cat one.log"), shell("cat two.log")]
        if turn == 2:
            return [*opening, shell("cat three.log; exit 3")]
        if turn == 3:
            for text in (text for text in results if ODD["one.log"] in text):
                path, gap = PATH.search(text), GAP.search(text)
                self.path, self.line = (path[1], int(gap[1])) if path and gap else ("", 0)
            return [*opening, self.program.read(self.path, self.line, 3)]
        if turn == 4:
            return [*opening, shell("echo small")]
        return "Done."


@dataclass(frozen=True)
class Run:
    """What came of one run of a CLI."""

    program: object
    model: Model
    requests: list[Request]
    state: Path
    """The state folder of Headgate in that home."""


def prepared(base: Path) -> tuple[Path, Path]:
    """A home, and a folder to work in with the files of the task."""
    home, folder = base / "home", base / "work"
    home.mkdir()
    folder.mkdir()
    for name, text in logs().items():
        (folder / name).write_text(text)
    return home, folder


def asked(provider: Provider) -> list[Request]:
    """The requests of the agent itself, without those for titles and counts."""
    return [
        request
        for request in provider.requests
        if request.json.get("tools") and not request.path.endswith("count_tokens")
    ]


def messages_of(request: Request) -> list:
    """The history of a request, whatever its dialect calls it."""
    for name in ("messages", "input", "contents"):
        if name in request.json:
            return request.json[name]
    return []


def results_in(request: Request) -> list[str]:
    """The text of every tool result in a request, in order."""
    found: list[str] = []
    for message in messages_of(request):
        if message.get("role") == "tool":
            found.append(text_of(message["content"]))
        if message.get("type") == "function_call_output":
            found.append(text_of(message["output"]))
        found += [
            text_of(part["functionResponse"]["response"])
            for part in message.get("parts") or []
            if "functionResponse" in part
        ]
        content = message.get("content")
        found += [
            REMINDER.sub("", text_of(block["content"]))
            for block in (content if isinstance(content, list) else [])
            if block.get("type") == "tool_result"
        ]
    return found


def text_of(content) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return "\n".join(text_of(part) for part in content.values())
    return "\n".join(part.get("text", "") for part in content)


def frozen(message) -> str:
    """A message as the provider's cache sees it: without the marks that move each turn."""
    if isinstance(message, dict):
        return json.dumps(without_marks(message), sort_keys=True)
    return json.dumps(message)


def without_marks(value):
    if isinstance(value, dict):
        return {key: without_marks(part) for key, part in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [without_marks(part) for part in value]
    return value


def unstable(requests: list[Request]) -> list[int]:
    """The requests whose history does not begin with all of the one before."""
    told = [[frozen(message) for message in messages_of(request)] for request in requests]
    return [
        number
        for number, (before, now) in enumerate(pairwise(told), 1)
        if now[: len(before)] != before
    ]
