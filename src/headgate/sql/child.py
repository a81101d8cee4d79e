"""The process that answers one query over one result, and then ends.

It gets the request and the data on stdin and gives rows on stdout. Once the data is loaded it can
open no file and no socket any more, whatever a query or a fault in the database tries; memory and
time are bounded by the kernel, and no bigger than the parent says.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE: Final = "result"

LOADERS: Final = {
    "json": "read_json({path}, format='array', {json})",
    "jsonl": "read_json({path}, format='newline_delimited', {json})",
    "csv": "read_csv({path}, sample_size=-1, null_padding=true, parallel=false)",
}
JSON_OPTIONS: Final = "sample_size=-1, map_inference_threshold=-1, maximum_object_size={most}"

LOOSELY: Final = {
    "json": "read_json({path}, format='array', {values})",
    "jsonl": "read_json({path}, format='newline_delimited', {values})",
    "csv": "read_csv({path}, sample_size=-1, null_padding=true, parallel=false, strict_mode=false)",
}
"""For what fits no common columns; a CSV that breaks its own rules. Read so at first, its doubled
quotes would stay double."""

AS_VALUES: Final = "records=false, columns={json: 'JSON'}"
"""One column that holds each value as JSON."""

NESTED: Final = ("STRUCT", "MAP", "UNION", "JSON", "VARIANT")

ERROR_CHARS: Final = 400

Settings: TypeAlias = dict[str, str | bool | int | float | list[str]]

SETTINGS: Final[Settings] = {
    "threads": 1,
    "max_temp_directory_size": "0B",
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}


def main() -> None:
    """Answer the request on stdin."""
    asked = json.loads(sys.stdin.buffer.readline())
    bound(asked["memory_bytes"], asked["seconds"])
    try:
        answer = answered(asked, sys.stdin.buffer.read())
    except MemoryError:
        answer = {"error": "the query needs more memory than a query may have"}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    # Nothing is left to do, and tidying up can be slow.
    os._exit(0)


def bound(memory_bytes: int, seconds: int) -> None:
    """Let the kernel hold this process to its memory and its time."""
    # Address space is more than memory: the database maps what it may never touch.
    for what, most in (
        (resource.RLIMIT_AS, memory_bytes * 4 + (1 << 30)),
        (resource.RLIMIT_CPU, seconds + 3),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def answered(asked: dict[str, object], data: bytes) -> dict[str, object]:
    """Load the data, lock everything, run the query."""
    import duckdb

    settings: Settings = {**SETTINGS, "memory_limit": f"{asked['memory_bytes']}B"}
    connection = duckdb.connect(":memory:", config=settings)
    try:
        load(connection, str(asked["format"]), data)
    except duckdb.Error as error:
        return {"error": f"the result cannot be read as a table: {in_short(error)}"}
    lock(connection, int(str(asked["seconds"])))
    try:
        return rows(connection, str(asked["query"]), int(str(asked["rows"])))
    except duckdb.Error as error:
        return {"error": f"the query failed: {in_short(error)}"}


def load(connection: DuckDBPyConnection, kind: str, data: bytes) -> None:
    """Make the data a table; values that have no common columns become one column of JSON."""
    import duckdb

    with in_memory() as file:
        file.write(data)
        file.seek(0)
        path = f"'/dev/fd/{file.fileno()}'"
        options = JSON_OPTIONS.format(most=len(data) + 1)
        source = LOADERS[kind].format(path=path, json=options)
        try:
            connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM {source}")
        except duckdb.Error:
            source = LOOSELY[kind].format(path=path, values=AS_VALUES)
            connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM {source}")


def in_memory() -> IO[bytes]:
    """A file without a name, in memory where the system has such."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("headgate", os.MFD_CLOEXEC), "wb+", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def lock(connection: DuckDBPyConnection, seconds: int) -> None:
    """From here on this process can open nothing, and the database can change nothing."""
    for setting in (
        "enable_external_access = false",
        "disabled_filesystems = 'LocalFileSystem'",
        f"max_execution_time = {seconds * 1_000}",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def rows(connection: DuckDBPyConnection, query: str, most: int) -> dict[str, object]:
    """The rows of one query that only reads, as text."""
    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        return {"error": f"one query that only reads is answered: SELECT ... FROM {TABLE}"}
    query = statements[0].query.strip().rstrip(";")
    described = connection.execute(f"DESCRIBE (\n{query}\n)").fetchall()
    names, kinds = [row[0] for row in described], [row[1] for row in described]
    places = [f"c{number}" for number in range(len(names))]
    shown = ", ".join(map(as_text, places, kinds))
    wrapped = f"SELECT {shown} FROM (\n{query}\n) AS q({', '.join(places)})"
    found = connection.execute(wrapped).fetchmany(most + 1)
    return {"columns": names, "rows": found[:most], "more": len(found) > most}


def as_text(column: str, kind: str) -> str:
    """How a column is shown: what is nested as JSON, all else as it prints."""
    nested = kind.endswith("]") or kind.startswith(NESTED)
    return f"CAST(to_json({column}) AS VARCHAR)" if nested else f"CAST({column} AS VARCHAR)"


def in_short(error: Exception) -> str:
    """What the database says, on one line, without the drawing below it."""
    text = str(error).partition("\n\nLINE ")[0]
    return " ".join(text.split())[:ERROR_CHARS]


if __name__ == "__main__":
    main()
