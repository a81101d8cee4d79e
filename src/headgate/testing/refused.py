"""A request that the stand-in refuses, with all that the four providers put into an error."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headgate.types import NOTHING

_STEP = re.compile(r"\.?(\w+)|\[(\d+)\]")


class Refused(Exception):
    """Ends the answering of a request; each provider writes it in its own form."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.headers = headers or {}


def value_at(body: object, where: str) -> object:
    """What stands at a place such as `messages[1].content[0]`; None: nothing."""
    value = body
    for name, place in _STEP.findall(where):
        if isinstance(value, Mapping) and name:
            value = value.get(name)
        elif isinstance(value, list) and place and int(place) < len(value):
            value = value[int(place)]
        else:
            return None
    return value


def object_at(body: object, where: str) -> Mapping[str, object]:
    """The object at a place; an empty one where there is none."""
    value = value_at(body, where)
    return value if isinstance(value, Mapping) else NOTHING


def dotted(where: str) -> str:
    """A place as Anthropic writes it: `messages.1.content.0`."""
    return where.replace("[", ".").replace("]", "")
