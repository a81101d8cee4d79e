"""The values that travel along the gate, and the small protocols around it.

Everything here is frozen: a step returns a new value and never changes its input.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias, get_args

Unit = Literal["tokens", "chars", "bytes"]
Fate = Literal["whole", "shaped", "spilled", "cleared"]
ToolClass = Literal["read", "write", "exec", "search", "pinned"]
MediaKind = Literal["image", "document", "opaque"]
Origin = Literal["tool", "store"]
Kind = Literal[
    "json",
    "jsonl",
    "csv",
    "tsv",
    "table",
    "log",
    "test",
    "build",
    "trace",
    "diff",
    "git-log",
    "search",
    "listing",
    "code",
    "html",
    "markdown",
    "prose",
    "binary",
]

UNITS: tuple[Unit, ...] = get_args(Unit)
KINDS: tuple[Kind, ...] = get_args(Kind)
TOOL_CLASSES: tuple[ToolClass, ...] = get_args(ToolClass)

NOTHING: Mapping[str, object] = MappingProxyType({})

Ref: TypeAlias = str
"""`r_` and twelve base32 letters: 60 bits of HMAC(installation key, session, sha256)."""


@dataclass(frozen=True, slots=True)
class Text:
    """A block of text; `raw` holds the bytes it came as, where they are not its UTF-8."""

    text: str
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Json:
    """A structured value, held as the JSON text it was given or written as."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """A block that passes untouched: an image, a document, or anything we do not know."""

    kind: MediaKind
    value: object


Block: TypeAlias = Text | Json | Media


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit: `tokens(8_000)`."""

    count: int
    unit: Unit

    def __str__(self) -> str:
        return f"{self.count} {self.unit}"


def tokens(count: int) -> Amount:
    """An amount of tokens in the policy's vocabulary."""
    return Amount(count, "tokens")


def chars(count: int) -> Amount:
    """An amount of characters: Unicode code points."""
    return Amount(count, "chars")


def utf8_bytes(count: int) -> Amount:
    """An amount of bytes of UTF-8."""
    return Amount(count, "bytes")


@dataclass(frozen=True, slots=True)
class Size:
    """How big a text is, in every unit at once; `exact` speaks of the tokens."""

    tokens: int
    chars: int
    bytes: int
    lines: int
    exact: bool = True

    def of(self, unit: Unit) -> int:
        """The size in one unit."""
        if unit == "tokens":
            return self.tokens
        return self.chars if unit == "chars" else self.bytes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the model sees for one call, and why. It is recorded before it is shown."""

    call_id: str
    tool: str
    fate: Fate
    kind: Kind | None
    """What the text is; None where it went in whole and nobody had to look."""
    before: Size
    after: Size
    text: str | None
    """Exactly what the model sees; None: the result as it was."""
    ref: Ref | None
    limit: Amount | None
    """What was applied; None: nothing bounds it."""
    limit_by: str
    """Who set the limit: the rule of the chain that decided, in words."""
    reason: str
    """One sentence, for people."""
    sha256: str
    """Of the original bytes, hexadecimal."""
    vocab: str
    """The vocabulary or rule the tokens were counted in."""
    is_error: bool = False
    age: int = 0
    """How far an epoch moved it down: 0 not at all, 1 its ends are left, 2 one line."""
    base: str = ""
    """The call whose result this one refers to, where it was there already."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the model asks for: one tool with its arguments."""

    call_id: str
    tool: str
    arguments: Mapping[str, object] | str = field(default_factory=lambda: NOTHING)
    """As an object, or as the JSON text some providers send."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back for one call."""

    call_id: str
    tool: str
    blocks: tuple[Block, ...]
    is_error: bool = False
    arguments: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    """Of the call: where the asked limit, the page and the query come from."""
    declared: Amount | None = None
    """The limit the tool itself declares."""
    kind: Kind | None = None
    """What the text is, where the caller knows better than we can see."""
    promised: int | None = None
    """What the tool was told beforehand that it may return: under it the batch takes nothing."""
    pages_itself: bool = False
    """Whether the arguments that ask for a page were the tool's own: the gate then turns none."""
    note: str = ""
    """One line of ours to the model that stands above the result, inside its limit."""
    origin: Origin = "tool"
    """`store` is set by the gate alone, on what it read back: that is never spilled again."""
    verdict: Verdict | None = None
    """Set by the gate on what it shows."""

    @property
    def text(self) -> str:
        """All text of the result, its blocks joined by line ends."""
        return join_texts(b.text for b in self.blocks if not isinstance(b, Media))

    def seen_as(self, verdict: Verdict, blocks: tuple[Block, ...] | None = None) -> ShownResult:
        """The result as the gate shows it; `replace` takes longer, and every result passes here."""
        return ShownResult(
            self.call_id,
            self.tool,
            self.blocks if blocks is None else blocks,
            self.is_error,
            self.arguments,
            self.declared,
            self.kind,
            self.promised,
            self.pages_itself,
            self.note,
            self.origin,
            verdict=verdict,
        )

    @property
    def metadata(self) -> dict[str, int]:
        """For callers and auditors: `applied_max_tokens`, or in the policy's unit, if bounded."""
        limit = self.verdict.limit if self.verdict is not None else None
        return {} if limit is None else {f"applied_max_{limit.unit}": limit.count}

    @staticmethod
    def of(
        tool: str,
        content: object,
        *,
        call_id: str,
        is_error: bool = False,
        arguments: Mapping[str, object] = NOTHING,
        declared: Amount | None = None,
        kind: Kind | None = None,
    ) -> ToolResult:
        """Make a result from whatever a tool returned: text, bytes, blocks, or a JSON value."""
        blocks = blocks_of(content)
        return ToolResult(call_id, tool, blocks, is_error, arguments, declared, kind)


@dataclass(frozen=True, slots=True)
class ShownResult(ToolResult):
    """A result as the model sees it: what the gate gives back, never without its verdict."""

    verdict: Verdict = field(kw_only=True)


def blocks_of(content: object) -> tuple[Block, ...]:
    """Read a tool's return value as blocks; a structured value becomes its JSON text."""
    if content is None:
        return (Text(""),)
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, bytes | bytearray | memoryview):
        return (text_of_bytes(bytes(content)),)
    if isinstance(content, Text | Json | Media):
        return (content,)
    if isinstance(content, list | tuple) and any(
        isinstance(b, Text | Json | Media) for b in content
    ):
        return tuple(block for item in content for block in blocks_of(item))
    return (Json(json.dumps(content, ensure_ascii=False, default=str)),)


def text_of_bytes(raw: bytes) -> Text:
    """Read bytes as text; bytes that are no UTF-8 are shown as `\\xNN` and kept beside it."""
    try:
        return Text(raw.decode())
    except UnicodeDecodeError:
        return Text(raw.decode(errors="backslashreplace"), raw)


def join_texts(texts: Iterable[str]) -> str:
    """Join the texts of several blocks so that each starts on a line of its own."""
    joined: list[str] = []
    for text in texts:
        if joined and not joined[-1].endswith("\n"):
            joined.append("\n")
        joined.append(text)
    return "".join(joined)


@dataclass(frozen=True, slots=True)
class Query:
    """What the reader is after: the words that make a line worth keeping."""

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    """What it names literally: between quotes, bars or semicolons."""
    names: frozenset[str] = frozenset()
    """Those of the words that are names in a program: `checkException`, `max_age`, `res.cookie`."""


NO_QUERY = Query()


class Meter(Protocol):
    """Text to a size in one unit. `count` is exact; `estimate` may sample a large text."""

    @property
    def unit(self) -> Unit:
        """What is counted."""
        ...

    @property
    def name(self) -> str:
        """The vocabulary or rule, as shown to people: `o200k`, `chars`, `chars/4`."""
        ...

    def count(self, text: str) -> int:
        """The exact size."""
        ...

    def estimate(self, data: bytes) -> int:
        """The size of UTF-8 `data`; exact below 64 KB."""
        ...


@dataclass(frozen=True, slots=True)
class About:
    """What the store knows of one original without opening it."""

    ref: Ref
    sha256: str
    length: int
    lines: int
    """How many lines, a last one without line end included."""
    call_id: str
    tool: str
    time_ns: int
    chunk_bytes: int
    chunk_lines: tuple[int, ...]
    """Line ends in each piece of `chunk_bytes`: a line is found without reading from the start."""
    file: str | None = None
    """Absolute path of the plain text file beside the object, where there is one."""
    full_length: int | None = None
    """How long the original was, where only its first `length` bytes are kept."""


class Writer(Protocol):
    """Takes one original in pieces; nothing is visible before `commit`."""

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        ...

    def commit(self, ref: Ref, sha256: str) -> About:
        """Make the bytes readable under `ref`, all or nothing; a second time changes nothing."""
        ...

    def abort(self) -> None:
        """Forget the bytes; harmless after `commit`."""
        ...


class Store(Protocol):
    """Keeps whole originals of one session. Every failure is a `StoreError`."""

    def writer(
        self, *, call_id: str, tool: str, clean: bool | None = None, hashed: bool = False
    ) -> Writer:
        """Begin to keep an original; `clean`: it is known to be valid UTF-8 without NUL.

        `hashed`: the caller hashes the very bytes it writes, and the store need not do it again.
        """
        ...

    def read(self, ref: Ref, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`, fewer at the end."""
        ...

    def about(self, ref: Ref) -> About:
        """What is kept under `ref`; raises `RefNotFound`."""
        ...

    def path_for(self, ref: Ref, call_id: str) -> str | None:
        """Where the plain text file of an original will stand, known before it is written."""
        ...


Overrides: TypeAlias = Callable[[], Mapping[str, object]]
"""Read at run time, in the policy's unit: `{"batch": 30000, "tools": {"grep": 5000}}`."""
