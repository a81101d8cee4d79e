"""Ask a query over one result, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

import msgspec

from headgate.errors import RequestError
from headgate.read.rows import Format, Rows

SECONDS: Final = 5
"""What a query may take; a reader who waits longer asks for less."""

START_SECONDS: Final = 10
"""What starting, loading and answering may take beside that, on a busy machine."""

MEMORY_BYTES: Final = 512 << 20

MOST_ROWS: Final = 10_000
"""What one query gives; nobody pages further, but counts."""

MISSING: Final = "sql needs the 'sql' extra: pip install 'headgate[sql]'"


class Answer(msgspec.Struct):
    """What the process says: rows, or why there are none."""

    error: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    more: bool = False


def run_query(query: str, kind: Format, data: bytes) -> Rows:
    """The rows of a query that only reads; `RequestError` says why there are none.

    The process sees the one result, and nothing else: no file, no network, no environment.
    """
    if find_spec("duckdb") is None:
        raise RequestError(MISSING)
    asked = {
        "query": query,
        "format": kind,
        "rows": MOST_ROWS,
        "seconds": SECONDS,
        "memory_bytes": MEMORY_BYTES,
    }
    try:
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "headgate.sql.child"],
            input=json.dumps(asked).encode() + b"\n" + data,
            capture_output=True,
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HOME": "/"},
            cwd="/",
            timeout=SECONDS + START_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise RequestError(f"the query took longer than {SECONDS} s; ask for less") from None
    except OSError as error:
        raise RequestError(f"no process could be started for the query: {error}") from error
    return _rows(ran.stdout, ran.returncode)


def _rows(output: bytes, code: int) -> Rows:
    try:
        answer = msgspec.json.decode(output, type=Answer)
    except msgspec.DecodeError:
        how = "ran out of time or memory" if code < 0 else "failed"
        raise RequestError(f"the query {how}; ask for less") from None
    if answer.error:
        raise RequestError(answer.error)
    return Rows(answer.columns, answer.rows, answer.more)
