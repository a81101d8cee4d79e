"""What retention is measured on: texts, and what of each a reader was found to need.

Three sources: labelled tool outputs, results that an agent went on to use, and facts that
`retention_facts.py` plants into real command outputs.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from headgate.measure.meters import meter_for
from headgate.normalise import normalise
from headgate.shape.stamps import STAMP

METER = meter_for("o200k", "tokens")

OUTPUTS = Path("B_tool_outputs") / "items.jsonl.gz"
USED = Path("A_conversations") / "downstream_use.jsonl.gz"
CONVERSATIONS = Path("A_conversations") / "conversations.jsonl.gz"

BY_VALUE = ("json_api", "csv")
BY_TEXT = ("html_page",)
"""How a kind is judged: by values anywhere, by the share of the main text; all others by lines."""

SHINGLE_WORDS = 6
"""Words in a row that say a passage is really shown, and not only its vocabulary."""

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Item:
    """One text, and what a reader needs of it."""

    name: str
    kind: str
    project: str
    """Texts of one project are alike: they stay on one side of a split, and are drawn together."""
    text: str
    question: str = ""
    tool: str = "bash"
    arguments: Mapping[str, object] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()

    @cached_property
    def tokens(self) -> int:
        return METER.count(self.text)

    @property
    def needed(self) -> int:
        return len(self.lines) + len(self.values)

    def kept(self, shown: str) -> int:
        """How many of the needed lines and values stand in `shown`."""
        visible = {line.strip() for line in shown.split("\n")}
        lines = sum(line in visible or plain(line) in visible for line in self.lines)
        return lines + sum(self._has_value(shown, value) for value in self.values)

    def recall(self, shown: str, budget: int) -> float:
        """What share of what is needed stands in `shown`."""
        return self._main_text(shown, budget) if self.passages else self.kept(shown) / self.needed

    def _has_value(self, shown: str, value: str) -> bool:
        written = json.dumps(value)[1:-1]
        return any(stands_in(shown, each) for each in {value, written})

    def _main_text(self, shown: str, budget: int) -> float:
        """The tokens of needed passages in sight, of as many as the budget could hold."""
        words = WORD.findall(shown.lower())
        seen = {*zip(*(words[i:] for i in range(SHINGLE_WORDS)), strict=False)}
        joined = f" {' '.join(words)} "
        shares = [shown_share(passage, seen, joined) for passage in self.passages]
        sizes = [METER.count(passage) for passage in self.passages]
        covered = sum(share * size for share, size in zip(shares, sizes, strict=True))
        return min(covered / min(sum(sizes), budget), 1.0)


def shown_share(passage: str, seen: set[tuple[str, ...]], joined: str) -> float:
    """The share of a passage's words that stand in runs that are shown."""
    words = WORD.findall(passage.lower())
    if len(words) < SHINGLE_WORDS:
        return float(f" {' '.join(words)} " in joined)
    covered = [False] * len(words)
    for i in range(len(words) - SHINGLE_WORDS + 1):
        if tuple(words[i : i + SHINGLE_WORDS]) in seen:
            covered[i : i + SHINGLE_WORDS] = [True] * SHINGLE_WORDS
    return sum(covered) / len(covered)


def stands_in(text: str, value: str) -> bool:
    """Whether a value stands in a text, and is not a piece of a longer word or number."""
    at = text.find(value)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not (value[:1].isalnum() and before.isalnum()) and not (
            value[-1:].isalnum() and after.isalnum()
        ):
            return True
        at = text.find(value, at + 1)
    return False


def plain(line: str) -> str:
    """A line without colours, progress and the time before it, as a reader sees it."""
    return STAMP.sub(b"", normalise(line.encode("utf-8", "replace"))).decode().strip()


def outputs(data: Path) -> Iterator[Item]:
    """The labelled outputs."""
    with gzip.open(data / OUTPUTS, "rt", encoding="utf-8") as file:
        for one in map(json.loads, file):
            text, kind = one["text"], one["kind"]
            split = text.split("\n")
            values = tuple(written(value) for value in one["needed_values"] or ())
            needed = [split[n].strip() for n in one["needed_lines"] or () if n < len(split)]
            item = Item(
                one["id"],
                kind,
                project_of(one),
                text,
                one["query"] or "",
                lines=() if kind in BY_VALUE + BY_TEXT else tuple(filter(None, needed)),
                values=values if kind in BY_VALUE else (),
                passages=values if kind in BY_TEXT else (),
            )
            if item.lines or item.values or item.passages:
                yield item


def written(value: object) -> str:
    """A value as a document writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def project_of(one: Mapping[str, object]) -> str:
    """`logchunks/NancyFx@Nancy/382556234` is of `logchunks/NancyFx@Nancy`."""
    name = str(one["id"])
    if one["source"] == "labri-progress/cidiff":
        return re.sub(r"[_-]?\d+$", "", name)
    if one["kind"] == "terminal_pane":
        return name.rsplit("/", 1)[0].split(".")[0]
    if name.startswith("swebench-eval/"):
        return name.split("__")[0]
    return name.rpartition("/")[0] if name.count("/") > 1 else name


def used_later(data: Path) -> Iterator[Item]:
    """Results with what only they can have told the agent: tokens, and lines it quoted."""
    with gzip.open(data / USED, "rt", encoding="utf-8") as file:
        labels = [
            one for one in map(json.loads, file) if one["strict_tokens"] or one["quoted_lines"]
        ]
    wanted = {label["conv_id"] for label in labels}
    with gzip.open(data / CONVERSATIONS, "rt", encoding="utf-8") as file:
        conversations = {
            one["id"]: one["messages"] for one in map(json.loads, file) if one["id"] in wanted
        }
    for label in labels:
        messages = conversations[label["conv_id"]]
        text = result_text(messages[label["msg_index"]], label["call_id"])
        if not text:
            continue
        before = messages[: label["msg_index"]]
        split = text.split("\n")
        quoted = [split[n].strip() for n in label["quoted_lines"] if n < len(split)]
        base = {
            "project": label["conv_id"].rpartition("/")[0] or label["conv_id"],
            "text": text,
            "question": last_words(before),
            "tool": label["tool"],
            "arguments": arguments_of(before, label["call_id"]),
        }
        name = f"{label['conv_id']}#{label['call_id']}"
        if label["strict_tokens"]:
            tokens = tuple(label["strict_tokens"])
            yield Item(name, "used_tokens", values=tokens, **base)
        if any(quoted):
            yield Item(name, "used_lines", lines=tuple(filter(None, quoted)), **base)


Message = Mapping[str, object]


def result_text(message: Message, call_id: str) -> str:
    """The text of one result in a message of any format."""
    if message.get("type") in ("function_call_output", "custom_tool_call_output"):
        return text_of(message["output"])
    if message.get("role") == "tool":
        return text_of(message["content"])
    for block in blocks_of(message):
        if block.get("type") == "tool_result" and block.get("tool_use_id") == call_id:
            return text_of(block.get("content"))
    return ""


def blocks_of(message: Message) -> list[Mapping[str, object]]:
    content = message.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def arguments_of(messages: Sequence[Message], call_id: str) -> Mapping[str, object]:
    """What the call asked for."""
    for message in reversed(messages):
        if message.get("call_id") == call_id and "arguments" in message:
            return parsed(message["arguments"])
        for call in message.get("tool_calls") or ():
            if call["id"] == call_id:
                return parsed(call["function"]["arguments"])
        for block in blocks_of(message):
            if block.get("type") == "tool_use" and block.get("id") == call_id:
                return parsed(block["input"])
    return {}


def parsed(arguments: object) -> Mapping[str, object]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, dict) else {}


def last_words(messages: Sequence[Message]) -> str:
    """What the user said last."""
    for message in reversed(messages):
        if message.get("role") != "user":
            continue
        content = message.get("content")
        if isinstance(content, str):
            return content
        said = [
            str(b.get("text", "")) for b in blocks_of(message) if b.get("type") != "tool_result"
        ]
        if any(text.strip() for text in said):
            return "\n".join(said)
    return ""
