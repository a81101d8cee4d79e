"""Answers a question over CSV and JSON files, however large.

    python examples/data_questions.py data/ "Which customer paid most in March?"

`load` gives a file as it is. What the model sees of a large one is a page and the keys; it goes
deeper with `read_result`, by page, by JSON path or by search, without loading it again. Sums over
all rows are left to SQLite, which can only read.
"""

import asyncio
import csv
import json
import sqlite3
import sys

from folder import Folder
from talk import model, show

from headgate import Context, Gate, Json, Registry, tokens
from headgate.agent import Agent

SYSTEM = (
    "You answer questions about data. Look at a file with `load` first. To see more of it use "
    "read_result with its ref; to count, sum, join or sort all rows use `query`. Say how you got "
    "the answer in one sentence."
)

READING = dict.fromkeys(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
    sqlite3.SQLITE_OK,
)
"""What a query may do: no other file, no change."""

MOST_STEPS = 50_000_000
"""Instructions of SQLite's machine for one query: seconds, not minutes."""


def tools_for(data: Folder) -> Registry:
    """What the model may do."""
    tools = Registry(timeout_s=60)

    @tools.tool
    def list_data() -> list[str]:
        """List the files."""
        return [name for name in data.names() if name.endswith((".csv", ".json"))]

    @tools.tool(limit=tokens(2_000))
    def load(path: str) -> Json | str:
        """Load a file: JSON as it is, CSV as text.

        Args:
            path: As `list_data` names it.
        """
        text = data.text(path)
        return Json(text) if path.endswith(".json") else text

    @tools.tool(limit=tokens(2_000))
    async def query(path: str, sql: str, context: Context) -> list[dict[str, object]]:
        """Run one SELECT over a file, whose rows are in the table `data`.

        Args:
            path: A CSV file, or a JSON file that is a list of objects.
            sql: In the dialect of SQLite.
        """
        context.progress(f"querying {path}")
        return await asyncio.to_thread(lambda: select(rows_of(data, path), sql))

    return tools


def rows_of(data: Folder, path: str) -> list[dict[str, object]]:
    """The rows of a file."""
    if path.endswith(".csv"):
        return [dict(row) for row in csv.DictReader(data.text(path).splitlines())]
    rows = json.loads(data.text(path))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} is no list of objects; load it and read it by path")
    return rows


def select(rows: list[dict[str, object]], sql: str) -> list[dict[str, object]]:
    """What a query gives; it can change nothing and does not run for ever."""
    database = sqlite3.connect(":memory:")
    try:
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = ", ".join('"' + name.replace('"', '""') + '" NUMERIC' for name in names)
        database.execute(f"CREATE TABLE data ({columns})")
        marks = ", ".join("?" * len(names))
        values = ([_cell(row.get(name)) for name in names] for row in rows)
        database.executemany(f"INSERT INTO data VALUES ({marks})", values)
        database.set_authorizer(lambda action, *_: READING.get(action, sqlite3.SQLITE_DENY))
        database.set_progress_handler(lambda: 1, MOST_STEPS)
        found = database.execute(sql)
        titles = [column[0] for column in found.description or ()]
        return [dict(zip(titles, row, strict=True)) for row in found]
    finally:
        database.close()


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list) else value


def main(folder: str, question: str) -> None:
    """Ask one question."""
    tools = tools_for(Folder(folder))
    gate = Gate(tools.policy(), session="data-questions")
    with model(SYSTEM) as chosen, Agent(chosen, tools, gate) as agent:
        show(agent, question)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: data_questions.py FOLDER QUESTION")
    main(*sys.argv[1:])
