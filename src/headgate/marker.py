"""The marker: tells the model what is missing, of how much, and how to get it.

One record, several renderings. The templates are data (`MarkerStyle`), so a preset brings its own
words without code. This is the only file that renders a marker or knows what one looks like.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from json.encoder import encode_basestring as in_quotes
from typing import Literal, NamedTuple

from headgate.types import NOTHING, Amount, Ref, Size

Missing = Literal["lines", "chars", "bytes", "items", "keys"]
Kept = Literal["stored", "memory", "nowhere", "partly"]
ON_DISK: tuple[Kept, ...] = ("stored", "partly")

KILO = 1_024

OMITTED_KEY = "_omitted"
"""The key that carries the marker in shaped JSON; another name if the user's data has it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The next thing to ask for: `Ask("lines", "401-800")`, `Ask("page", "2")`."""

    name: Literal["lines", "bytes", "page", "page_size", "path", "search", "sql"]
    value: str
    also: Ask | None = None
    """What goes with it: the lines a search goes on from, the size of a page."""

    @property
    def argument(self) -> str:
        """As an argument of the tool."""
        is_number = self.name in ("page", "page_size")
        value = self.value if is_number else in_quotes(self.value)
        return f"{self.name}={value}" + (f", {self.also.argument}" if self.also else "")

    @property
    def flag(self) -> str:
        """As an option of the command."""
        flag = option(self.name.replace("_", "-"), self.value)
        return f"{flag} {self.also.flag}" if self.also else flag


@dataclass(frozen=True, slots=True)
class MarkerStyle:
    """The words of a marker, as templates.

    Fields: `missing`, `total`, `what`, `tokens`, `how`, `note`, `ref`, `path`, `tag`, in `gap` also
    `first` and `last`, in `shown` and `aside` also `words`, in `cleared` also `kind`, `content`,
    `lines` and `thousands` (of characters). `tool`, `cli` and `file` are the ways to go on, chosen
    by `reader`.
    """

    reader: Literal["tool", "cli", "file", "none"] = "tool"
    long: str = "[{missing} of {total} {what} omitted, about {tokens} tokens; {note}{how} #{tag}]"
    short: str = "[{missing} of {total} {what} omitted; {note}{ref} #{tag}]"
    gap: str = "[{what} {first}-{last} omitted #{tag}]"
    inside: str = "[{missing} {what} omitted #{tag}]"
    shown: str = "[{words}; {how} #{tag}]"
    aside: str = "[{words} #{tag}]"
    cleared: str = (
        "[this call completed; its old result is cleared: {total} {what}, about {tokens} tokens, "
        "{kind}; {note}{how} #{tag}]"
    )
    tool: str = 'read_result(ref="{ref}", {ask}) shows more'
    cli: str = "`headgate read {ref}{session} {flag}` shows more"
    file: str = "the whole is in {path}"
    plain_pages: bool = False
    """Whether a page of an array that is read back stands in the envelope that `keep` calls so."""
    empty: str = "({tool} finished without output)"
    contents: tuple[tuple[str, str, str], ...] = ()
    """What `content` says: a name, `starts` or `contains`, and with what; the first that holds."""
    other: str = "text"
    """What `content` says where none of them holds."""
    signs: tuple[str, ...] = ()
    """How the markers of these words begin, where they carry no tag: fresh text that has one of
    them is escaped."""


DEFAULT_STYLE = MarkerStyle()


Edge = Literal["anywhere", "line", "half"]
"""Where a piece may be cut: at any character; at the line end nearest to its end; there too, unless
that leaves less than half of it."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A fixed form for what is left of a big result: pieces of its ends in the words of a template.

    Fields: `head`, `tail`; in characters `total`, `missing`, `kept`; in lines `lines`,
    `missing_lines`; `size` and `head_size` as people write bytes; `where` the whole is; `note`,
    what became of it. Numbers take a format: `{total:,}`.
    """

    form: str = "{head}\n[{missing:,} of {total:,} characters omitted; the whole: {where}]\n{tail}"
    form_inside: str = ""
    """Where a piece of one line is missing and no whole line; empty: `form`."""
    form_unkept: str = ""
    """Where the whole could not be kept: a cut that uses all the room; empty: `form`."""
    form_capped: str = "{head}\n[{missing:,} of {total:,} characters omitted]"
    """What a cap leaves, before any limit."""
    head: Amount | None = None
    tail: Amount | None = None
    """None: a part of the room."""
    head_share: float = 0.5
    """The head's part of the room, where neither has an amount of its own."""
    head_ends: Edge = "anywhere"
    tail_begins: Edge = "anywhere"


DEFAULT_EXCERPT = Excerpt()


class Left(NamedTuple):
    """What an excerpt shows of a text, and of how much."""

    head: str
    tail: str
    chars: int
    """Of the whole, and so are `bytes` and `lines`."""
    bytes: int
    lines: int
    shown_lines: int
    head_bytes: int
    """What the head was before it was cut at a line end."""
    inside: bool = False
    """Whether only parts of lines are missing."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What one result's markers have in common: where the rest is, and the tag of ours."""

    tag: str
    ref: Ref | None = None
    path: str | None = None
    session: str | None = None
    kept: Kept = "stored"
    kept_bytes: int = 0
    style: MarkerStyle = DEFAULT_STYLE
    within: Callable[[Ask], Ask] | None = None
    """Where only a part is shown: turns an ask inside the part into one for the original."""
    lines_before: int = 0
    bytes_before: int = 0
    """What stands in the original before the text that is shaped, and is shown in any case."""
    tokens_per_unit: float = 1.0
    """About how many tokens the original has for each unit of what rooms are measured by."""

    def tokens_in(self, size: int) -> int:
        """About how many tokens so much of the original has."""
        return int(size * self.tokens_per_unit)

    def long(self, missing: int, total: int, what: Missing, tokens: int, ask: Ask) -> str:
        """The full form: how much is missing, and the exact next action."""
        return self._fill(self.style.long, missing, total, what, tokens, self._how(ask))

    def short(self, missing: int, total: int, what: Missing) -> str:
        """The form for the smallest limits."""
        return self._fill(self.style.short, missing, total, what, 0, "")

    def gap(self, first: int, last: int, what: Missing = "lines") -> str:
        """The form at a gap inside the text: which ones are missing there."""
        before = {"lines": self.lines_before, "bytes": self.bytes_before}.get(what, 0)
        first, last = first + before, last + before
        if first == last:
            one = self.style.gap.replace("{first}-{last}", "{first}")
            return one.format(what=what.removesuffix("s"), first=first, last=last, tag=self.tag)
        return self.style.gap.format(what=what, first=first, last=last, tag=self.tag)

    def inside(self, missing: int, what: Missing = "chars") -> str:
        """The form inside one long line."""
        what_is_one = what.removesuffix("s") if missing == 1 else what
        return self.style.inside.format(missing=f"{missing:,}", what=what_is_one, tag=self.tag)

    def shown(self, words: str, go_on: Ask | str) -> str:
        """The last line of what was read back: what it shows, and how to go on or why not."""
        how = go_on if isinstance(go_on, str) else self._read(go_on)
        return self.style.shown.format(words=words, how=how, tag=self.tag)

    def aside(self, words: str) -> str:
        """What we say of a text beside its own lines, such as what its columns hold."""
        words = words.replace("[", "(").replace("]", ")").replace("\n", " ")
        return self.style.aside.replace("{tag}", self.tag).replace("{words}", words)

    def cleared(self, size: Size, kind: str, text: str = "") -> str:
        """The one line that an old result of this size becomes."""
        how = self._how(Ask("lines", "1-")).replace("shows more", "shows it")
        more = {
            "kind": kind,
            "content": content_of(text, self.style),
            "lines": size.lines,
            "thousands": size.chars // 1_000,
        }
        lines = size.lines
        return self._fill(self.style.cleared, lines, lines, "lines", size.tokens, how, more)

    def excerpt(self, form: str, left: Left) -> str:
        """An excerpt in the words of one of its forms."""
        kept = len(left.head) + len(left.tail)
        return form.format(
            head=left.head,
            tail=left.tail,
            total=left.chars,
            missing=left.chars - kept,
            kept=kept,
            lines=left.lines,
            missing_lines=left.lines - left.shown_lines,
            size=in_bytes(left.bytes),
            head_size=in_bytes(left.head_bytes),
            where=self._where(),
            note=self._note() + self._how(Ask("lines", "1-")),
            ref=self.ref or "",
            tag=self.tag,
        )

    def _where(self) -> str:
        """Where the whole is, or what became of it."""
        note = self._note().removesuffix("; ")
        where = self.path or self._how(Ask("lines", "1-")) or note
        return f"{where} ({note})" if self.kept == "partly" else where

    @property
    def end(self) -> str:
        """Why nothing follows the last line that can be read back."""
        if self.kept == "partly":
            return f"kept up to byte {self.kept_bytes:,}, nothing after it"
        return "this is the end"

    def _fill(
        self,
        template: str,
        missing: int,
        total: int,
        what: Missing,
        tokens: int,
        how: str,
        more: Mapping[str, object] = NOTHING,
    ) -> str:
        return template.format(
            **more,
            missing=f"{missing:,}",
            total=f"{total:,}",
            what=what,
            tokens=about(tokens),
            how=how,
            note=self._note(),
            ref=self.ref or "",
            path=self.path or "",
            tag=self.tag,
        )

    def _note(self) -> str:
        if self.kept == "nowhere":
            return "not kept, run the tool again for less"
        if self.kept == "memory":
            return "not kept on disk, readable while this process runs; "
        if self.kept == "partly":
            return f"kept up to byte {self.kept_bytes:,}, nothing after it; "
        return ""

    def _how(self, ask: Ask) -> str:
        if self.ref is None or self.kept == "nowhere":
            return ""
        if self.style.reader == "none":
            return ""
        if self.style.reader == "file" and self.path is not None:
            return self.style.file.format(ref=self.ref, path=self.path)
        return self._read(ask)

    def _in_whole(self, ask: Ask) -> Ask:
        """The same ask, made of the original; it is not JSON, whatever the part of it is."""
        if ask.name == "bytes":
            return Ask("bytes", shifted(ask.value, self.bytes_before))
        lines = ask.value if ask.name == "lines" else "1-"
        return Ask("lines", shifted(lines, self.lines_before))

    def _read(self, ask: Ask) -> str:
        ask = self._in_whole(ask) if self.bytes_before else ask
        ask = self.within(ask) if self.within else ask
        template = self.style.cli if self.style.reader == "cli" else self.style.tool
        return template.format(
            ref=self.ref or "",
            path=self.path or "",
            session=f" {option('session', self.session)}" if self.session else "",
            ask=ask.argument if "{ask}" in template else "",
            flag=ask.flag if "{flag}" in template else "",
        )


def option(name: str, value: str) -> str:
    """An option as a shell takes it; a value that looks like another option is tied to its name."""
    between = "=" if value.startswith("-") else " "
    return f"--{name}{between}{shlex.quote(value)}"


def shifted(span: str, by: int) -> str:
    """A range as one asks for it, `401-800` or `401-`, so many further on."""
    first, _, last = span.partition("-")
    return f"{int(first) + by}-{int(last) + by if last else ''}"


def about(count: int) -> str:
    """A count as a reader wants it: `930`, `3.1k`, `31k`, `2.4M`."""
    if count < 1_000:
        return str(count)
    if count < 9_950:
        return f"{count / 1_000:.1f}k"
    if count < 999_500:
        return f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def in_bytes(count: int) -> str:
    """Bytes as people write them: `82.3 KB`, of 1,024 each."""
    if count < KILO:
        return f"{count} bytes"
    size, units = count / KILO, ["KB", "MB", "GB"]
    # What would be written as 1024.0 is one of the next.
    while size >= KILO - 0.05 and len(units) > 1:
        size, units = size / KILO, units[1:]
    return f"{size:.1f} {units[0]}"


def nothing_returned(tool: str, style: MarkerStyle = DEFAULT_STYLE) -> str:
    """The line that stands for an empty result."""
    return style.empty.format(tool=tool)


def content_of(text: str, style: MarkerStyle) -> str:
    """What a text is, by the first sign of the style that it shows."""
    for name, how, sign in style.contents:
        if text.startswith(sign) if how == "starts" else sign in text:
            return name
    return style.other


def wrong_field(excerpt: Excerpt) -> str | None:
    """What is wrong with an excerpt: its templates, or its share; None: nothing."""
    if not 0 <= excerpt.head_share <= 1:
        return f"head_share is {excerpt.head_share}; it is a share, from 0 to 1"
    left = Left("", "", 0, 0, 0, 0, 0)
    for name in ("form", "form_inside", "form_unkept", "form_capped"):
        try:
            Marker("").excerpt(getattr(excerpt, name), left)
        except (LookupError, ValueError, AttributeError, TypeError) as error:
            return f"{name} is {getattr(excerpt, name)!r}, which has {error} as a field"
    return None


def wrong_template(style: MarkerStyle) -> str | None:
    """What is wrong with the words of a style; None: nothing."""
    ask, plain = Ask("lines", "1-"), _sample(style, "none")
    uses: dict[str, Callable[[], str]] = {
        "tool": lambda: _sample(style, "tool")._how(ask),
        "cli": lambda: _sample(style, "cli")._how(ask),
        "file": lambda: _sample(style, "file")._how(ask),
        "long": lambda: plain.long(1, 2, "lines", 3, ask),
        "short": lambda: plain.short(1, 2, "lines"),
        "gap": lambda: plain.gap(1, 2),
        "inside": lambda: plain.inside(1),
        "shown": lambda: plain.shown("", ""),
        "cleared": lambda: plain.cleared(Size(1, 1, 1, 1), ""),
        "empty": lambda: nothing_returned("", style),
    }
    for name, use in uses.items():
        try:
            use()
        except (LookupError, ValueError, AttributeError, TypeError) as error:
            return f"{name} is {getattr(style, name)!r}, which has {error} as a field"
    for _, how, _ in style.contents:
        if how not in ("starts", "contains"):
            return f"contents says {how!r}; a text starts with a sign or contains it"
    return "signs has an empty one, which is in every text" if "" in style.signs else None


def _sample(style: MarkerStyle, reader: Literal["tool", "cli", "file", "none"]) -> Marker:
    return Marker("", "", "", "", style=replace(style, reader=reader))


def without_signs(text: bytes, style: MarkerStyle) -> bytes:
    """Begin what begins like a marker with an escape, so that it is none; JSON stays JSON."""
    for sign in style.signs:
        found = sign.encode()
        if found in text:
            text = text.replace(found, f"\\u{ord(sign[0]):04x}{sign[1:]}".encode())
    return text
