"""What a hook heard: one result, told by an agent CLI in its own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from headgate.types import Amount

Event: TypeAlias = Mapping[str, object]
Answer: TypeAlias = Mapping[str, object]

Place: TypeAlias = tuple[str | int, ...]
"""Where a text stands in an event: the keys and numbers that lead to it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One result on its way to the model."""

    session: str
    call_id: str
    """Empty: the CLI names none."""
    tool: str
    arguments: Mapping[str, object]
    texts: Mapping[Place, str]
    """What the model would see of it, by place."""
    is_error: bool = False
    whole: Path | None = None
    """Where the CLI put all of it, having shortened it itself; it stands for the first text."""
    most: Amount | None = None
    """What this CLI passes on of an answer at most; None: all of it."""
    files: Path | None = None
    """A folder this agent may read without asking; None: ours is one."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the model is to see, by place; a place that is not here stays as it was."""

    texts: Mapping[Place, str]
    heard: Heard

    @property
    def text(self) -> str:
        """All of it as one text."""
        return "\n".join(self.texts.get(place, text) for place, text in self.heard.texts.items())


class Client(Protocol):
    """One agent CLI."""

    def hear(self, event: Event) -> Heard | None:
        """Read an event; None where there is nothing to decide."""
        ...

    def answer(self, event: Event, shown: Shown) -> Answer:
        """What to print so that this CLI shows the model what was decided."""
        ...


def text_at(value: object, *keys: str) -> str:
    """A text in nested objects; empty where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


def object_at(value: object, key: str) -> Mapping[str, object]:
    """An object in an object; empty where there is none."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


MEDIA_KEYS = frozenset({"base64", "data", "blob", "signature"})
"""Fields that hold no text a reader reads."""


def texts_in(value: object, place: Place = ()) -> dict[Place, str]:
    """All texts of a result by place; images and the like are left out."""
    if isinstance(value, str):
        return {place: value}
    found: dict[Place, str] = {}
    if isinstance(value, Mapping):
        if value.get("type", "text") not in ("text", "tool_result"):
            return {}
        for key, part in value.items():
            if key not in MEDIA_KEYS and key != "type":
                found |= texts_in(part, (*place, key))
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for number, part in enumerate(value):
            found |= texts_in(part, (*place, number))
    return found


def with_texts(value: object, texts: Mapping[Place, str], place: Place = ()) -> object:
    """The same value with other texts at their places; all else, its order too, stays."""
    if place in texts:
        return texts[place]
    if isinstance(value, Mapping):
        return {key: with_texts(part, texts, (*place, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [with_texts(part, texts, (*place, n)) for n, part in enumerate(value)]
    return value
