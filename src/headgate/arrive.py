"""A result arrives: its text is made one, readable, hashed and measured. Nothing is decided."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headgate.marker import nothing_returned, without_signs
from headgate.measure.size import SEAM_TOKENS, size_of
from headgate.measure.vocab import EXACT_BYTES
from headgate.normalise import is_binary, normalise, only_unicode
from headgate.policy import Policy
from headgate.types import NO_QUERY, Media, Meter, Query, Size, ToolResult

SURELY_OVER = 1.2
"""An estimate this far over a limit says enough; no estimate was ever found a tenth too high."""

SHORTEST_WORD = 2
MOST_WORDS = 32
"""Words of a query that are looked for; the longest say the most."""

PHRASE = re.compile(r"\s*(?:[|;\n\"`\u201c\u201d]|: |\?(?: |$))\s*")
"""What stands between the things that a question names."""

PHRASE_CHARS = range(6, 120)
MOST_PHRASES = 16

QUERY_WORD = re.compile(r"(?:\w+|\[\d+\])(?:[.-]\w+|\[\d+\])*")
"""A word, a dotted name, or a path into JSON: `features[126].id`."""

NAMED = re.compile(r"\w*(?:[a-z0-9][A-Z]|\w(?:_|\.|::)\w)(?:[.:]*\w)*")
"""A word with a hump, or with a sign that joins words in programs alone."""

COMMON_WORDS = frozenset(
    {
        *("about", "all", "also", "and", "any", "are", "been", "but", "can", "did", "does", "for"),
        *("from", "had", "has", "have", "how", "into", "its", "more", "not", "only", "our", "out"),
        *("over", "than", "that", "the", "their", "them", "then", "there", "this", "use", "was"),
        *("were", "what", "when", "where", "which", "who", "why", "with", "you"),
        *("am", "an", "as", "at", "be", "by", "do", "he", "if", "in", "is", "it", "me", "my", "no"),
        *("of", "on", "or", "so", "to", "up", "us", "we"),
    }
)
"""Words that point at nothing."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells a result from any other, known before anything is measured."""

    result: ToolResult
    original: bytes
    """Its text, byte for byte as it came; several blocks joined by line ends."""
    sha256: str
    """Of the original."""
    digest: bytes
    """Of all that makes the result: text, media and whether it is an error."""
    media: int
    """Blocks that pass untouched."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A result, ready to be judged."""

    identity: Identity
    text: bytes | None
    """What a reader gets if it goes in whole: valid UTF-8, normalised, never blank; None for binary
    data that will not go in whole, which is described."""
    size: Size
    """Of `text`, in every unit; of binary data its length."""
    note: int = 0
    """What the note above it takes, in the policy's unit."""

    @property
    def result(self) -> ToolResult:
        """As the tool gave it."""
        return self.identity.result

    @property
    def original(self) -> bytes:
        """Its text, byte for byte as it came."""
        return self.identity.original

    @property
    def sha256(self) -> str:
        """Of the original."""
        return self.identity.sha256

    @property
    def changed(self) -> bool:
        """Whether a reader gets other bytes than came."""
        return self.text is not self.original and self.text != self.original

    def readable(self, policy: Policy) -> bytes:
        """What a reader gets if it goes in whole after all."""
        return _readable(self.identity, policy) if self.text is None else self.text


def identify(result: ToolResult) -> Identity:
    """Tell a result from all others."""
    original = original_bytes(result)
    media = [block for block in result.blocks if isinstance(block, Media)]
    sha256 = hashlib.sha256(original).digest()
    return Identity(result, original, sha256.hex(), digest_of(result, sha256, media), len(media))


def arrive(identity: Identity, policy: Policy, meter: Meter, most: int | None = None) -> Arrived:
    """Make a result ready to be judged; `most` of it may go in whole, None: all."""
    note = note_of(identity.result)
    taken = meter.count(f"{note}\n") + SEAM_TOKENS if note else 0
    length = len(identity.original)
    if most is not None and length > most and _is_described(identity):
        return Arrived(identity, None, Size(length, length, length, 1, exact=False), taken)
    text = _readable(identity, policy)
    return Arrived(identity, text, _measured(text, most, policy, meter), taken)


def _is_described(identity: Identity) -> bool:
    """Whether a result is so much binary data that nobody would want to read it byte by byte."""
    if len(identity.original) < EXACT_BYTES or identity.result.kind not in (None, "binary"):
        return False
    return is_binary(identity.original)


def _readable(identity: Identity, policy: Policy) -> bytes:
    text = readable(identity.original, identity.result, policy)
    if identity.media or (text and not text.isspace()):
        return text
    return nothing_from(identity.result.tool, policy)


def note_of(result: ToolResult) -> str:
    """Our note above a result; it may name a tool as a model wrote it."""
    note = result.note
    return normalise(note.encode("utf-8", "surrogatepass")).decode() if note else ""


def nothing_from(tool: str, policy: Policy) -> bytes:
    """The line for an empty result; a tool's name comes from outside, too."""
    return normalise(nothing_returned(tool, policy.marker).encode("utf-8", "surrogatepass"))


def _measured(text: bytes, most: int | None, policy: Policy, meter: Meter) -> Size:
    """Count a large text to the last token where its estimate leaves open whether it fits."""
    size = size_of(text, meter)
    surely_over = most is not None and size.tokens > most * SURELY_OVER
    if size.exact or policy.unit != "tokens" or most is None or surely_over:
        return size
    return replace(size, tokens=meter.count(text.decode()), exact=True)


def is_exact(tool: str, policy: Policy) -> bool:
    """Whether results of a tool are only made valid, because somebody may edit by their text."""
    return not policy.normalise or policy.class_of(tool) == "read"


def readable(original: bytes, result: ToolResult, policy: Policy) -> bytes:
    """Normalise, but only make valid what an edit may need exactly."""
    if is_exact(result.tool, policy) or result.origin == "store":
        return only_unicode(original)
    return without_signs(normalise(original), policy.marker)


def original_bytes(result: ToolResult) -> bytes:
    """The text of a result as bytes, each block starting on a line of its own."""
    parts: list[bytes] = []
    for block in result.blocks:
        if isinstance(block, Media):
            continue
        if parts and not parts[-1].endswith(b"\n"):
            parts.append(b"\n")
        raw = getattr(block, "raw", None)
        parts.append(block.text.encode("utf-8", "surrogatepass") if raw is None else raw)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def query_of(result: ToolResult, policy: Policy, question: str = "") -> Query:
    """The words a reader is after: of the call's arguments and the user's last words."""
    texts = [question]
    for name in policy.query_arguments:
        value = result.arguments.get(name)
        if isinstance(value, str):
            texts.append(value)
    if not any(texts):
        return NO_QUERY
    words = {
        word.lower()
        for text in texts
        for word in QUERY_WORD.findall(text[:4_000])
        if len(word) >= SHORTEST_WORD and word.lower() not in COMMON_WORDS
    }
    named = {word.lower() for text in texts for word in NAMED.findall(text[:4_000])}
    phrases = dict.fromkeys(phrase for text in texts for phrase in _phrases(text[:4_000].lower()))
    longest = sorted(words, key=lambda word: (-len(word), word))[:MOST_WORDS]
    return Query(
        tuple(longest), tuple(phrases)[:MOST_PHRASES], frozenset(named.intersection(longest))
    )


def _phrases(text: str) -> list[str]:
    """The things a text names, where it names several."""
    parts = [part for part in PHRASE.split(text) if part]
    if len(parts) < 2:
        return []
    return [p for p in parts if len(p) in PHRASE_CHARS and not QUERY_WORD.fullmatch(p)]


def digest_of(result: ToolResult, sha256: bytes, media: Sequence[Media] = ()) -> bytes:
    """What tells this result from any other: its text, its media, and whether it is an error."""
    digest = hashlib.sha256(sha256)
    digest.update(b"error" if result.is_error else b"result")
    for block in media:
        described = repr((block.kind, block.value)).encode("utf-8", "backslashreplace")
        digest.update(b"%d:%b" % (len(described), described))
    return digest.digest()
