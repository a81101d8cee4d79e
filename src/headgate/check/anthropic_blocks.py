"""The rules of Anthropic Messages that look at one block: its fields, and where it may stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from headgate.check.violations import Violation, shown

ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

RESULT_BLOCKS = frozenset(
    {"text", "image", "document", "search_result", "tool_reference", "browser_state"}
)
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
IMAGE_SOURCES = ("base64", "url", "file")
DOCUMENT_SOURCES = ("base64", "text", "content", "url", "file")
THINKING = ("thinking", "redacted_thinking")
CONNECTOR = frozenset({"mcp_tool_use", "mcp_tool_result"})
NO_WIDTH = "\u200b"
"""A space that `str.strip` does not know, and that shows as little as the others."""
ONLY_ASSISTANT = frozenset({"tool_use", "server_tool_use", *THINKING, *CONNECTOR})
ONLY_SYSTEM = frozenset({"tool_addition", "tool_removal"})
SYSTEM_BLOCKS = frozenset({"text", *ONLY_SYSTEM})


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a message; a string content is one block of text."""

    where: str
    type: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message that is well enough formed to look inside."""

    place: int
    role: str
    blocks: tuple[Block, ...]
    is_malformed: bool = False
    """Whether there is content, and no block of it can be read."""

    @property
    def where(self) -> str:
        """The name of the message in a violation."""
        return f"messages[{self.place}]"


def is_server_result(kind: str) -> bool:
    """Whether a block is the result of a tool that the provider itself ran."""
    return kind.endswith("_tool_result")


def block_violations(message: Message) -> Iterator[Violation]:
    """Everything that is wrong with single blocks of a message."""
    for block in message.blocks:
        yield from _place_of(block, message.role)
        look = _LOOKS.get(block.type)
        if look is not None:
            yield from look(block)


def _place_of(block: Block, role: str) -> Iterator[Violation]:
    if role == "system" and block.type not in SYSTEM_BLOCKS:
        rule = "A18" if block.type == "compaction" else "A1"
        yield Violation(rule, block.where, f"{block.type} in a system message")
    elif role != "assistant" and block.type in ONLY_ASSISTANT:
        rule = "A14" if block.type in CONNECTOR else "A1"
        yield Violation(rule, block.where, f"{block.type} in a {role} message")
    elif role != "assistant" and is_server_result(block.type):
        rule = "A14" if block.type in CONNECTOR else "A13"
        yield Violation(rule, block.where, f"{block.type} in a {role} message")
    elif role == "assistant" and block.type == "tool_result":
        yield Violation("A1", block.where, "tool_result in an assistant message")


def _text(block: Block) -> Iterator[Violation]:
    text = block.fields.get("text")
    if not isinstance(text, str):
        yield Violation("A8", block.where, f"text is {shown(text)}")
    elif not text:
        yield Violation("A8", block.where, "the text is empty")
    elif not text.replace(NO_WIDTH, "").strip():
        yield Violation("A8", block.where, "the text is only white space")


def _tool_use(block: Block) -> Iterator[Violation]:
    id_, name, input_ = (block.fields.get(key) for key in ("id", "name", "input"))
    if not isinstance(id_, str) or not ID.fullmatch(id_):
        yield Violation("A7", block.where, f"the id is {shown(id_)}, not letters, digits, _ and -")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield Violation(
            "A7", block.where, f"the name is {shown(name)}, not 1 to 128 letters, digits, _ and -"
        )
    if not isinstance(input_, dict):
        yield Violation("A7", block.where, f"the input is {shown(input_)}, not an object")


def _tool_result(block: Block) -> Iterator[Violation]:
    content = block.fields.get("content")
    if content is not None and not isinstance(content, str | list):
        yield Violation("A10", block.where, f"the content is {shown(content)}")
    if not isinstance(content, list):
        return
    for place, part in enumerate(content):
        where = f"{block.where}.content[{place}]"
        yield from _result_part(part, where, is_error=block.fields.get("is_error") is True)


def _result_part(part: object, where: str, *, is_error: bool) -> Iterator[Violation]:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        yield Violation("A10", where, f"{shown(part)} is no block with a type")
        return
    kind = part["type"]
    if kind not in RESULT_BLOCKS:
        yield Violation("A10", where, f"a result holds no {shown(kind)}")
    elif is_error and kind != "text":
        yield Violation("A9", where, f"{kind} in a result with is_error")
    elif kind == "text" and not part.get("text"):
        yield Violation("A8", where, f"text is {shown(part.get('text'))}")
    elif kind == "image":
        yield from _image(Block(where, kind, part))
    elif kind == "document":
        yield from _document(Block(where, kind, part))


def _thinking(block: Block) -> Iterator[Violation]:
    for key in ("thinking", "signature"):
        value = block.fields.get(key)
        if not isinstance(value, str):
            yield Violation("A11", block.where, f"{key} is {shown(value)}")
    # Text may be empty where the display is omitted; the signature never is.
    if block.fields.get("signature") == "":
        yield Violation("A11", block.where, "the signature is empty")


def _redacted(block: Block) -> Iterator[Violation]:
    data = block.fields.get("data")
    if not isinstance(data, str) or not data:
        yield Violation("A11", block.where, f"data is {shown(data)}")


def _server_result(block: Block) -> Iterator[Violation]:
    content = block.fields.get("content")
    if block.type == "web_search_tool_result" and not isinstance(content, list | dict):
        yield Violation("A13", block.where, f"the content is {shown(content)}")


def _connector_result(block: Block) -> Iterator[Violation]:
    content = block.fields.get("content")
    if isinstance(content, list):
        for place, part in enumerate(content):
            kind = part.get("type") if isinstance(part, dict) else part
            if kind != "text":
                where = f"{block.where}.content[{place}]"
                yield Violation("A14", where, f"{shown(kind)} where only text may stand")
    elif content is not None and not isinstance(content, str):
        yield Violation("A14", block.where, f"the content is {shown(content)}")


def _image(block: Block) -> Iterator[Violation]:
    source = block.fields.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if not isinstance(source, dict) or kind not in IMAGE_SOURCES:
        yield Violation("A16", block.where, f"the source of the image is {shown(kind)}")
        return
    media_type = source.get("media_type")
    if kind == "base64" and media_type not in IMAGE_TYPES:
        yield Violation("A16", block.where, f"the media type of the image is {shown(media_type)}")


def _document(block: Block) -> Iterator[Violation]:
    source = block.fields.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if kind not in DOCUMENT_SOURCES:
        yield Violation("A15", block.where, f"the source of the document is {shown(kind)}")


def _compaction(block: Block) -> Iterator[Violation]:
    content = block.fields.get("content")
    if content == "":
        yield Violation("A8", block.where, "the summary is empty; null says that there is none")


_LOOKS: Mapping[str, Callable[[Block], Iterator[Violation]]] = MappingProxyType(
    {
        "text": _text,
        "tool_use": _tool_use,
        "tool_result": _tool_result,
        "thinking": _thinking,
        "redacted_thinking": _redacted,
        "web_search_tool_result": _server_result,
        "mcp_tool_result": _connector_result,
        "image": _image,
        "document": _document,
        "compaction": _compaction,
    }
)
