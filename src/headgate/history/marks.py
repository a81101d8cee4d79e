"""At most four cache marks: of more, the earliest in the messages go.

Marks on tools and system stay, because they hold the prefix that all requests share; the last in
the messages stay, because they reach the longest prefix, and the next request looks back from them.
Taking a mark out never changes what the model reads.
"""

from __future__ import annotations

from headgate.dialects.anthropic import part as part_of
from headgate.dialects.anthropic import with_parts
from headgate.dialects.history import History, Message, Part
from headgate.dialects.spans import Piece, fields_of, items_of, rebuilt_list, replaced_fields
from headgate.history.report import Case, Fix, Unrepairable

MOST_MARKS = 4
MARK = "cache_control"


def within_marks(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Take out the earliest marks in the messages until four are left in the whole request."""
    if history.body.count(MARK.encode()) <= MOST_MARKS:
        return history, []
    beside = _marks_beside(history)
    counts = [_marks_on(message) for message in history.messages]
    extra = beside + sum(counts) - MOST_MARKS
    if extra <= 0:
        return history, []
    if beside > MOST_MARKS:
        raise Unrepairable(f"tools and system alone have {beside} cache marks")
    messages = list(history.messages)
    fixes: list[Fix] = []
    for number, count in enumerate(counts):
        if extra <= 0:
            break
        if count:
            taken = min(count, extra)
            messages[number] = _unmarked(messages[number], taken)
            extra -= taken
            what = f"{taken} of more than {MOST_MARKS} cache marks taken out"
            fixes.append(Fix("cache", history.where(messages[number]), what))
    return history.with_messages(tuple(messages)), fixes


def _marks_beside(history: History) -> int:
    """Marks on tools, on system, and the one of the request itself."""
    count = 1 if history.settings.get(MARK, b"null") != b"null" else 0
    for name in ("tools", "system"):
        held = history.settings.get(name, b"")
        if held[:1] == b"[":
            count += sum(_marks_in(bytes(item)) for item in items_of(held))
    return count


def _marks_on(message: Message) -> int:
    return sum(_marks_in(given.raw) for given in message.parts if may_be_marked(given))


def may_be_marked(given: Part) -> bool:
    """Whether a part has to be read for its marks: it has one, or it holds blocks that may."""
    holds_blocks = given.kind == "other" or given.kind == "server_result"
    return given.is_marked or given.opening == b"[" or holds_blocks


def _marks_in(block: bytes) -> int:
    """Marks of a block and of the blocks it holds; an input is data, and is not looked into."""
    if block[:1] != b"{" or b"cache_control" not in block:
        return 0
    fields = fields_of(block)
    content = fields.get("content", b"")
    inside = sum(_marks_in(bytes(b)) for b in items_of(content)) if content[:1] == b"[" else 0
    return inside + (fields.get(MARK, b"null") != b"null")


def _unmarked(message: Message, count: int) -> Message:
    parts: list[Part] = []
    for given in message.parts:
        raw, taken = _without_marks(given.raw, count)
        count -= taken
        parts.append(part_of(raw, given.at) if taken else given)
    return with_parts(message, parts)


def _without_marks(block: bytes, count: int) -> tuple[bytes, int]:
    """A block without its first `count` marks, those inside of it first; and how many that were."""
    if count <= 0 or not _marks_in(block):
        return block, 0
    fields = fields_of(block)
    changes: dict[str, bytes | None] = {}
    taken = 0
    if fields.get("content", b"")[:1] == b"[":
        pieces: list[Piece] = []
        for place, item in enumerate(items_of(fields["content"])):
            inner, gone = _without_marks(bytes(item), count - taken)
            pieces.append((place, inner))
            taken += gone
        changes["content"] = rebuilt_list(fields["content"], pieces)
    if taken < count and fields.get(MARK, b"null") != b"null":
        changes[MARK] = None
        taken += 1
    return replaced_fields(block, changes), taken
