"""JSON paths as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.shape.strings import quoted

LONGEST_PATH_CHARS = 200
"""A longer path is given up to the step that still fits."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def path_of(steps: Sequence[str | int | slice]) -> str:
    """A JSON path as people write it: `$.items[3]['odd name'][4:9]`."""
    path = "$"
    for step in steps:
        if isinstance(step, slice):
            step = f"[{step.start}:{step.stop}]"
        elif isinstance(step, int):
            step = f"[{step}]"
        elif NAME.fullmatch(step):
            step = f".{step}"
        else:
            step = f"['{_escaped(step)}']"
        if len(path) + len(step) > LONGEST_PATH_CHARS:
            break
        path += step
    return path


def _escaped(name: str) -> str:
    """A name as it stands between single quotes in a path."""
    written = quoted(name)[1:-1].decode()
    return written.replace('\\"', '"').replace("'", "\\'")
