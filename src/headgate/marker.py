"""The marker: tells the model what is missing, of how much, and how to get it.

One record, several renderings. The templates are data (`MarkerStyle`), so a preset brings its own
words without code. This is the only file that renders a marker or knows what one looks like.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from headgate.types import Ref

Missing = Literal["lines", "chars", "bytes", "items", "keys"]
Kept = Literal["stored", "memory", "nowhere", "partly"]

OMITTED_KEY = "_omitted"
"""The key that carries the marker in shaped JSON; another name if the user's data has it."""

IMITATION = rb"\[[^\[\]\n]{0,400}#[a-z2-7]{4}\]"
"""Looks like a marker: a bracket that closes with a tag. Such text in a fresh result is escaped."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The next thing to ask for: `Ask("lines", "401-800")`, `Ask("page", "2")`."""

    name: Literal["lines", "bytes", "page", "page_size", "path", "search"]
    value: str
    also: Ask | None = None
    """What goes with it: the lines a search goes on from, the size of a page."""

    @property
    def argument(self) -> str:
        """As an argument of the tool."""
        is_number = self.name in ("page", "page_size")
        value = self.value if is_number else json.dumps(self.value, ensure_ascii=False)
        return f"{self.name}={value}" + (f", {self.also.argument}" if self.also else "")

    @property
    def flag(self) -> str:
        """As an option of the command."""
        flag = f"--{self.name.replace('_', '-')} {shlex.quote(self.value)}"
        return f"{flag} {self.also.flag}" if self.also else flag


@dataclass(frozen=True, slots=True)
class MarkerStyle:
    """The words of a marker, as templates.

    Fields: `missing`, `total`, `what`, `tokens`, `how`, `note`, `ref`, `path`, `tag`, in `gap` also
    `first` and `last`, in `shown` also `words`, in `cleared` also `kind`. `tool`, `cli` and `file`
    are the ways to go on, chosen by `reader`.
    """

    reader: Literal["tool", "cli", "file", "none"] = "tool"
    long: str = "[{missing} of {total} {what} omitted, about {tokens} tokens; {note}{how} #{tag}]"
    short: str = "[{missing} of {total} {what} omitted; {note}{ref} #{tag}]"
    gap: str = "[{what} {first}-{last} omitted #{tag}]"
    inside: str = "[{missing} {what} omitted #{tag}]"
    shown: str = "[{words}; {how} #{tag}]"
    cleared: str = (
        "[this call completed; its old result is cleared: {total} {what}, about {tokens} tokens, "
        "{kind}; {note}{how} #{tag}]"
    )
    tool: str = 'read_result(ref="{ref}", {ask}) shows more'
    cli: str = "`headgate read {ref}{session} {flag}` shows more"
    file: str = "the whole is in {path}"


DEFAULT_STYLE = MarkerStyle()


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

    def long(self, missing: int, total: int, what: Missing, tokens: int, ask: Ask) -> str:
        """The full form: how much is missing, and the exact next action."""
        return self._fill(self.style.long, missing, total, what, tokens, self._how(ask))

    def short(self, missing: int, total: int, what: Missing) -> str:
        """The form for the smallest limits."""
        return self._fill(self.style.short, missing, total, what, 0, "")

    def gap(self, first: int, last: int, what: Missing = "lines") -> str:
        """The form at a gap inside the text: which ones are missing there."""
        if first == last:
            one = self.style.gap.replace("{first}-{last}", "{first}")
            return one.format(what=what.removesuffix("s"), first=first, last=last, tag=self.tag)
        return self.style.gap.format(what=what, first=first, last=last, tag=self.tag)

    def inside(self, missing: int, what: Missing = "chars") -> str:
        """The form inside one long line."""
        return self.style.inside.format(missing=f"{missing:,}", what=what, tag=self.tag)

    def shown(self, words: str, go_on: Ask | str) -> str:
        """The last line of what was read back: what it shows, and how to go on or why not."""
        how = go_on if isinstance(go_on, str) else self._read(go_on)
        return self.style.shown.format(words=words, how=how, tag=self.tag)

    def cleared(self, lines: int, tokens: int, kind: str) -> str:
        """The one line that an old result becomes."""
        how = self._how(Ask("lines", "1-")).replace("shows more", "shows it")
        template = self.style.cleared.replace("{kind}", kind)
        return self._fill(template, lines, lines, "lines", tokens, how)

    @property
    def end(self) -> str:
        """Why nothing follows the last line that can be read back."""
        if self.kept == "partly":
            return f"kept up to byte {self.kept_bytes:,}, nothing after it"
        return "this is the end"

    def _fill(
        self, template: str, missing: int, total: int, what: Missing, tokens: int, how: str
    ) -> str:
        return template.format(
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

    def _read(self, ask: Ask) -> str:
        ask = self.within(ask) if self.within else ask
        template = self.style.cli if self.style.reader == "cli" else self.style.tool
        return template.format(
            ref=self.ref or "",
            path=self.path or "",
            session=f" --session {shlex.quote(self.session)}" if self.session else "",
            ask=ask.argument,
            flag=ask.flag,
        )


def about(count: int) -> str:
    """A count as a reader wants it: `930`, `3.1k`, `31k`, `2.4M`."""
    if count < 1_000:
        return str(count)
    if count < 9_950:
        return f"{count / 1_000:.1f}k"
    if count < 999_500:
        return f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def nothing_returned(tool: str) -> str:
    """The line that stands for an empty result."""
    return f"({tool} finished without output)"
