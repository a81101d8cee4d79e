"""What a text is, told from its structure: its first 64 KB and last 16 KB, never more.

A wrong answer costs quality, never correctness: every shaper takes any text.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headgate.normalise import HEAD_BYTES, UTF_16, is_binary, normalise
from headgate.shape.gutter import GUTTER_BYTES, has_gutter
from headgate.shape.keyed import is_keyed
from headgate.shape.matcher import Matcher
from headgate.shape.preface import preface_of
from headgate.shape.stamps import unstamped
from headgate.shape.traits import BUILDS, COMMAND, LANGUAGES, LINE, LOGGED, OTHERS, TESTS, TRACES
from headgate.types import Kind

TAIL_BYTES = 16 * 1024

FIRST_LINES = 24
LAST_LINES = 8
LINE_BYTES = 240
"""Of how many lines the shape is looked at, and how far: it shows early or not at all."""

WIDE_BYTES = 32 * 1024
WIDE_LINES = 6
"""How much is looked at of lines that are all longer: of a table with many columns."""

RAW = (b"\x1b", b"\r", b"\b")
"""Signs that a text was not normalised yet."""

CODE_LINE = re.compile(
    rb"[ \t]*(?:#|//|/\*|\*|--|@|<|\$|[}\])]|[A-Z]{3,12} |[\w.\"'-]+(?:\[[^\]]*\])? ?(?:[:=({]|\+=)"
    rb"|(?:as|async|assert|await|break|case|class|const|def|do|done|echo|elif|else|end|enum|esac"
    rb"|except|export|fi|fn|for|from|func|function|if|impl|import|int|let|local|package|private"
    rb"|protected|pub|public|raise|require|return|select|set|static|struct|then|try|type|use|val|var"
    rb"|void|while|with|yield)\b)|.*[{}()\[\];,:=\\]$"
)
"""How lines of code begin or end."""

ARRAY_START = re.compile(
    rb'\[\s*(?:[\[{"\]]|(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*[,\]])'
)
"""How a JSON array begins; a log may begin with `[2024`."""

CALL = re.compile(rb"(?:\[pid +\d+\] |\d+ +)?[a-z_0-9]+\(|(?:---|\+\+\+) |<\.\.\. |strace: ")
"""A line of a trace of system calls."""

DIFF_START = re.compile(rb"diff |--- |Index: |@@ |\*\*\* |\d+(?:,\d+)?[acd]\d+(?:,\d+)?$")
RULED = re.compile(rb"[-=+| ]*[-=]{3,}[-=+| ]*$")
"""The line between the heading of a table and its rows."""
BORDER = re.compile(r"\s*(?:\+[-=]+\+[-=+]*|[┌╭├╔╠┏][─═━┬┼╦╬┳╤]+)".encode())
"""The line around a table that is drawn with lines, as far as it is looked at."""
COMMANDS = re.compile(COMMAND.encode(), re.MULTILINE)
LEAST_COMMANDS = 2
"""One command is what the text is the output of."""
QUOTED = re.compile(rb'"[^"]*"')
UPPER_HEADING = re.compile(rb"[^a-z]*[A-Z]{2}[^a-z]*$")
BLANKS = bytes(0x31 if byte in b" \t" else 0x30 for byte in range(256))

TRAITS: tuple[tuple[str, str, int], ...] = (
    *(("test", pattern, weight) for pattern, weight in TESTS),
    *(("build", pattern, weight) for pattern, weight in BUILDS),
    *(("trace", pattern, 1) for pattern in TRACES),
    *((kind, pattern, 1) for kind, pattern in OTHERS),
    *((f"in {language}", pattern, weight) for language, pattern, weight in LANGUAGES),
)

MATCHER = Matcher((pattern for _, pattern, _ in TRAITS), "m")

GREW_FROM = {"in typescript": "in javascript", "in cpp": "in c"}
"""A language whose texts also show the traits of another."""


@dataclass(frozen=True, slots=True)
class _View:
    """What is looked at of a text."""

    text: bytes
    lines: Sequence[bytes]
    """From both ends, none blank."""
    shapes: Counter[str]
    """How many of the lines have which shape."""
    traits: Counter[str]
    """The weights of the traits found, by kind; of languages under `in python`."""
    numbered: bool
    """Whether a file reader put a number before each line."""

    def share(self, *shapes: str) -> float:
        return sum(self.shapes[shape] for shape in shapes) / len(self.lines)

    @property
    def language(self) -> tuple[str, int]:
        """The language that most speaks for, and how much."""
        best, weight = "", 0
        for name, own in self.traits.items():
            if name.startswith("in "):
                total = own + self.traits[GREW_FROM[name]] if name in GREW_FROM else own
                if total > weight:
                    best, weight = name.removeprefix("in "), total
        return best, weight


def recognise(data: bytes, *, tool: str = "") -> Kind:
    """The kind of a result, normalised or not; `tool` helps where its structure says little."""
    if is_binary(data):
        return "binary"
    preface = preface_of(data)
    text = unstamped(_sample(data[preface:] if preface else data))
    lines = _some_lines(text)
    if not lines:
        return "prose"
    if looks_like_jsonl(text, lines):
        return "jsonl"
    if looks_like_json(text):
        return "json"
    view = _view(text, lines)
    for kind, holds in RULES:
        if holds(view):
            return kind
    return "search" if "grep" in tool.lower() and view.share("named") >= 0.5 else "prose"


def language_of(data: bytes) -> str | None:
    """The language a text is written in, if it is source code or a configuration."""
    text = _sample(data)
    lines = _some_lines(text)
    if not lines:
        return None
    name, weight = _view(text, lines).language
    return name if weight >= 4 else None


def looks_like_json(text: bytes) -> bool:
    """Whether the text begins and ends as one JSON array or object; the shaper makes sure."""
    head, tail = text[:LINE_BYTES].lstrip(), text[-LINE_BYTES:].rstrip()
    if head[:1] == b"{":
        return tail[-1:] == b"}" and head[1:].lstrip()[:1] in (b'"', b"}")
    if head[:1] == b"[":
        return tail[-1:] == b"]" and ARRAY_START.match(head) is not None
    return False


def looks_like_jsonl(text: bytes, lines: Sequence[bytes]) -> bool:
    """Whether nearly every line is an object or array of its own."""
    if len(lines) < 2 or text.split(b"\n", 1)[0].rstrip()[-1:] not in (b"}", b"]"):
        return False
    whole = sum(ARRAY_START.match(line) is not None or line[:2] == b'{"' for line in lines)
    return whole >= 0.9 * len(lines)


def _view(text: bytes, lines: Sequence[bytes]) -> _View:
    numbered = has_gutter(lines)
    if numbered:
        text = GUTTER_BYTES.sub(b"", text[:TAIL_BYTES])
        lines = _some_lines(text) or lines
    shapes = Counter(found.lastgroup or "" for line in lines if (found := LINE.match(line)))
    traits: Counter[str] = Counter()
    for i in MATCHER.found(text):
        name, _, weight = TRAITS[i]
        traits[name] += weight
    return _View(text, lines, shapes, traits, numbered)


def _sample(data: bytes) -> bytes:
    head, tail = data, b""
    if len(data) > HEAD_BYTES + TAIL_BYTES:
        head, tail = data[:HEAD_BYTES], data[-TAIL_BYTES - len(data) % 2 :]
    if data[:2] in UTF_16:
        head, tail = normalise(head), normalise(data[:2] + tail)
    # Of the line that the tail begins in only the end is there; unless it is all there is.
    text = head + b"\n" + tail[tail.find(b"\n", 0, len(tail.rstrip())) + 1 :] if tail else head
    if any(sign in text for sign in RAW):
        return normalise(text)
    return text.removeprefix(BOM_UTF8)


def _some_lines(text: bytes) -> list[bytes]:
    reach = FIRST_LINES * LINE_BYTES
    lines = list(filter(bytes.strip, text[:reach].split(b"\n")))
    first, others = lines[:FIRST_LINES], lines[FIRST_LINES:]
    if len(text) > reach:
        end = text[max(reach, len(text) - LAST_LINES * LINE_BYTES) :].split(b"\n")
        others += filter(bytes.strip, end[1:])
    return [line[:LINE_BYTES] for line in first + others[-LAST_LINES:]]


def _is_html(view: _View) -> bool:
    return view.traits["html"] >= 2 and view.lines[0].lstrip()[:1] == b"<"


def _is_diff(view: _View) -> bool:
    if view.traits["diff"] == 0:
        return False
    if any(DIFF_START.match(line) for line in view.lines[:12]):
        return True
    return view.shapes["hunk"] > 0 and not (_is_test(view) or _is_build(view))


def _is_git_log(view: _View) -> bool:
    if view.share("commit") >= 0.8 and len(view.lines) >= 2:
        return True
    return view.traits["git-log"] >= 2 and (view.traits["diff"] == 0 or _commits(view) > 1)


def _commits(view: _View) -> int:
    return view.text.count(b"\ncommit ") + view.text.startswith(b"commit ")


def _is_listing(view: _View) -> bool:
    if view.share("mode", "tree", "size", "status") >= 0.6:
        return True
    return len(view.lines) >= 3 and view.share("path", "word") >= 0.75


def _is_search(view: _View) -> bool:
    if view.share("hit", "context", "break") >= 0.6 and view.shapes["hit"]:
        return "build" not in view.traits
    if len(view.lines) >= 2 and view.share("named", "hit") >= 0.8:
        return "build" not in view.traits
    if len(view.lines) >= 2 and view.share("number", "break") >= 0.8:
        return True
    under_headings = view.shapes["number"] and view.share("number", "path", "word", "break") >= 0.9
    return bool(under_headings) and view.share("path", "word") > 0


def _is_test(view: _View) -> bool:
    return view.traits["test"] >= 2 and view.traits["ci"] == 0


def _is_build(view: _View) -> bool:
    return view.traits["build"] >= 2 or view.traits["ci"] > 0


def _is_trace(view: _View) -> bool:
    if view.traits["crash"] and not view.traits["fence"]:
        return True
    return view.traits["trace"] >= 2 and view.share("frame") >= 0.25


def _is_log(view: _View) -> bool:
    if view.share("stamp", "level") >= 0.5:
        return True
    return view.traits["calls"] > 0 and all(map(CALL.match, view.lines[:FIRST_LINES]))


def _is_log_of_objects(view: _View) -> bool:
    """Nearly all lines are objects, the others what a program printed past its log."""
    objects = sum(line[:2] == b'{"' for line in view.lines)
    return objects >= 2 and objects >= 0.6 * len(view.lines)


def _is_shell(view: _View) -> bool:
    """Several commands with what they printed: what happens now stands at the end, as in a log."""
    return view.traits["shell"] > 0 and len(COMMANDS.findall(view.text)) >= LEAST_COMMANDS


def _is_screen(view: _View) -> bool:
    """What the terminal of an agent shows: its newest words stand at the end, as in a log."""
    return view.traits["screen"] >= 3


def _is_delimited(view: _View, delimiter: bytes) -> bool:
    first = view.lines[:24]
    if b"\n".join(first).count(delimiter) < 0.8 * len(first):
        return False  # cheaper to find out than what follows, and most texts end here
    if sum(delimiter in line for line in first) < 0.8 * len(first):
        return False
    whole = [line for line in first if len(line) < LINE_BYTES]
    if 2 * len(whole) < len(first):
        whole = _wide_lines(view.text)
    lines = [QUOTED.sub(b"q", line.lstrip().rstrip(b" ")) for line in whole]
    counts = [line.count(delimiter) for line in lines]
    most, times = Counter(counts).most_common(1)[0] if counts else (0, 0)
    if most == 0 or times < 0.9 * len(lines) or len(lines) < 2 + (most < 3):
        return False
    if LOGGED.match(view.lines[0]):
        return False
    is_loose = sum(line.count(delimiter + b" ") for line in lines) * 2 >= sum(counts)
    # Commas that end most lines are code, unless there are many others: then last cells are empty.
    if 2 * sum(line.endswith(delimiter) for line in lines) > len(lines):
        return most >= 4 and not is_loose
    return most >= 3 or not is_loose


def _wide_lines(text: bytes) -> list[bytes]:
    """The first lines of a text to their ends."""
    return text[:WIDE_BYTES].split(b"\n")[:-1][:WIDE_LINES]


def _is_table(view: _View) -> bool:
    lines = view.lines[:24]
    if BORDER.match(lines[0]) and len(lines) > 2 and BORDER.match(lines[2]):
        return True
    if len(lines) < 3 and not UPPER_HEADING.match(lines[0]):
        return False
    if 2 * len(set(lines)) <= len(lines):
        return False  # one line over and over
    # Beyond the end of short lines everything is blank, and no sign of a column.
    width = min(sorted(map(len, lines))[len(lines) // 5], 120)
    blank = (1 << width) - 1
    for line in lines:
        blank &= int(line[:width].ljust(width).translate(BLANKS) or b"0", 2)
    columns = 1 + f"{blank:0{width}b}".strip("1").count("01")
    return columns >= 3 or (columns == 2 and any(map(RULED.match, lines[1:2])))


def _is_code(view: _View) -> bool:
    _, weight = view.language
    if view.numbered and weight >= 3 and view.traits["markdown"] < 2:
        return True  # who reads a file with its numbers reads code, or Markdown
    if weight < 5 or view.text.startswith(b"#!"):
        return weight >= 5
    lines = sum(CODE_LINE.match(line) is not None for line in view.lines)
    return lines >= (0.4 if weight >= 9 else 0.6) * len(view.lines)


def _is_markdown(view: _View) -> bool:
    return view.traits["markdown"] >= 2


def _is_markdown_with_code(view: _View) -> bool:
    return view.traits["fence"] > 0 and view.traits["markdown"] > 0


RULES: tuple[tuple[Kind, Callable[[_View], bool]], ...] = (
    ("html", _is_html),
    ("git-log", _is_git_log),
    ("diff", _is_diff),
    ("code", lambda view: is_keyed(view.text)),
    ("test", _is_test),
    ("log", _is_shell),
    ("listing", _is_listing),
    ("search", _is_search),
    ("trace", _is_trace),
    ("build", _is_build),
    ("log", _is_log_of_objects),
    ("log", _is_screen),
    ("csv", lambda view: _is_delimited(view, b",")),
    ("tsv", lambda view: _is_delimited(view, b"\t")),
    ("log", _is_log),
    ("markdown", _is_markdown_with_code),
    ("code", _is_code),
    ("markdown", _is_markdown),
    ("table", _is_table),
)
"""The first that holds decides: what is unmistakable comes first."""
