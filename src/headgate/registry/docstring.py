"""What a docstring says of a tool and of its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headgate.errors import DeclarationError

SECTION = re.compile(
    r"(?m)^ *(?:(?:Args|Arguments|Parameters|Params|Returns|Raises) *:? *$|[:@]\w+ )"
)
"""Speaks of single arguments, or of what comes back, as Google, numpy, Sphinx or Epydoc do."""


@dataclass(frozen=True, slots=True)
class Described:
    """A docstring in parts."""

    text: str
    arguments: Mapping[str, str]


def described(function: Callable[..., object]) -> Described:
    """Read a function's docstring; one that describes arguments needs the `registry` extra."""
    text = _docstring(function)
    if not SECTION.search(text):
        return Described(text, {})
    try:
        from docstring_parser import parse  # only for who writes sections
    except ImportError as error:
        raise DeclarationError(
            f"the docstring of {function!r} describes arguments, which needs the 'registry' "
            "extra: pip install 'headgate[registry]'"
        ) from error
    parsed = parse(text)
    told = {each.arg_name: " ".join((each.description or "").split()) for each in parsed.params}
    return Described(parsed.description or "", {name: said for name, said in told.items() if said})


def _docstring(function: Callable[..., object]) -> str:
    if inspect.isroutine(function):
        return inspect.getdoc(function) or ""
    inner = getattr(function, "func", None)
    return inspect.getdoc(inner if inner is not None else type(function)) or ""
