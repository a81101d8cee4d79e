"""Inputs of every kind and of every awkward form, of any size; drawn once, the same for everybody.

Each holds the number 7919, so that whoever replaces it has another text of the same form and size.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from types import MappingProxyType

from bench_path import texts

Make = Callable[[int], str | bytes]

MARK = "7919"
SEED = 20261115
VOCABULARY = (
    "accept account balance batch branch buffer cache change client close cluster commit config "
    "connect context cursor daemon deliver depend detail device digest driver effect encode engine "
    "entity event expire export factor filter flush format frame gather handle header import index "
    "inner input item journal kernel layer ledger limit local lookup memory merge method metric "
    "mirror module network notify number object offset option outer output packet parent parse "
    "partial pattern period policy pool prefix process profile project query queue record region "
    "remote render replica report request resolve result retry router sample schema scope segment "
    "select sender server session shard signal socket source stage stream string table target task "
    "thread token topic total trace update upload value vector version volume worker writer zone"
)
WORDS = VOCABULARY.split()

DRAWN = 1_000_000
"""What is larger repeats a part of this size: drawing takes longer than what is measured."""


def vary(made: str | bytes, turn: int) -> str | bytes:
    """The same text with another number in it; no cache knows it."""
    number = str(7_000 + turn)
    if isinstance(made, bytes):
        return made.replace(MARK.encode(), number.encode())
    return made.replace(MARK, number)


def lines_of(size: int, rows: Iterator[str]) -> str:
    """As many rows as fit into the size, the mark in the first."""
    lines, left = [], size
    for row in rows:
        left -= len(row) + 1
        if left < 0 and lines:
            break
        lines.append(row)
    return "\n".join(lines) + "\n"


def some(dice: random.Random, least: int, most: int) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(least, most)))


def named(dice: random.Random) -> str:
    return f"src/{dice.choice(WORDS)}/{dice.choice(WORDS)}_{dice.choice(WORDS)}.py"


def log(size: int) -> str:
    """The one that `bench_path.py` measures over the floor of its store."""
    return next(texts(size, 1)).replace("7000", MARK)


def tests(size: int) -> str:
    dice = random.Random(SEED)
    head = "===== test session starts =====\nplatform linux -- Python 3.12.4, pytest-9.0.1\n"
    rows = (
        f"tests/{dice.choice(WORDS)}/test_{dice.choice(WORDS)}.py::test_{dice.choice(WORDS)}_{i} "
        f"{'FAILED' if i % 97 == 50 else 'PASSED'} [{i % 100:3}%]"
        for i in count(7919)
    )
    return head + lines_of(size - 900, rows) + _failed(dice)


def _failed(dice: random.Random) -> str:
    name = named(dice)
    return (
        "===== FAILURES =====\n_____ test_total _____\n\n    def test_total():\n"
        ">       assert total() == 4\nE       assert 5 == 4\n\n"
        f"{name}:31: AssertionError\n===== 1 failed, 7919 passed in 3.21s =====\n"
    )


def table(size: int) -> str:
    dice = random.Random(SEED)
    rows = (
        f"{i},{dice.choice(WORDS)},{some(dice, 2, 2)},{dice.random() * 1e4:.2f},"
        f"2026-{i % 12 + 1:02}-{i % 28 + 1:02},{'failed' if i % 700 == 400 else 'ok'}"
        for i in count(7919)
    )
    return "id,name,title,amount,day,state\n" + lines_of(size - 31, rows)


def objects(size: int) -> Iterator[str]:
    dice, left = random.Random(SEED), size
    for i in count(7919):
        one = {
            "id": i,
            "name": some(dice, 2, 3),
            "state": "failed" if i % 300 == 200 else "active",
            "tags": dice.choices(WORDS, k=3),
            "owner": {"login": dice.choice(WORDS), "admin": i % 50 == 0, "score": dice.random()},
        }
        text = json.dumps(one)
        left -= len(text) + 2
        if left < 0:
            return
        yield text


def array(size: int) -> str:
    drawn = list(objects(min(size, DRAWN)))
    return "[" + ", ".join(drawn * max(size // DRAWN, 1)) + "]"


def indented(size: int) -> str:
    """About as large as asked for, once it is indented."""
    return json.dumps(json.loads(array(size * 5 // 8)), indent=2)


def json_lines(size: int) -> str:
    return "\n".join(objects(size)) + "\n"


def page(size: int) -> str:
    dice = random.Random(SEED)
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS[:30])
    head = (
        "<!DOCTYPE html>\n<html><head><title>Report 7919</title><script>var a = 1;</script></head>"
        f'\n<body>\n<nav class="menu"><ul>{menu}</ul></nav>\n<main>\n'
    )
    end = "</main>\n<footer>All rights reserved</footer>\n</body></html>\n"
    rows = (
        f"<h2>{some(dice, 3, 5)}</h2>\n"
        f'<p class="text">{some(dice, 30, 60)}, <a href="/{i}">{some(dice, 2, 3)}</a> and '
        f"<b>{some(dice, 1, 3)}</b> {some(dice, 10, 30)}.</p>"
        for i in count(7919)
    )
    return head + lines_of(size - len(head) - len(end), rows) + end


def markdown(size: int) -> str:
    dice = random.Random(SEED)
    rows = (
        f"## {some(dice, 2, 5)} {i}\n\n{some(dice, 20, 60)}\n\n- {some(dice, 3, 9)}\n"
        f"- **{some(dice, 1, 2)}** [{some(dice, 1, 2)}](https://example.org/{i})\n"
        for i in count(7919)
    )
    return "# The handbook\n\n" + lines_of(size, rows)


def diff(size: int) -> str:
    dice = random.Random(SEED)
    return lines_of(size, (_changed(i, dice) for i in count(7919)))


def _changed(i: int, dice: random.Random) -> str:
    name = named(dice)
    lines = [f"diff --git a/{name} b/{name}", f"--- a/{name}", f"+++ b/{name}"]
    for hunk in range(dice.randint(1, 4)):
        lines.append(f"@@ -{i + hunk},7 +{i + hunk},7 @@ def {dice.choice(WORDS)}():")
        lines += [f"{sign}    {statement(dice)}" for sign in "   -+-+   "]
    return "\n".join(lines)


def statement(dice: random.Random) -> str:
    return f"{dice.choice(WORDS)} = {dice.choice(WORDS)}.{dice.choice(WORDS)}({some(dice, 1, 1)})"


def commits(size: int) -> str:
    dice = random.Random(SEED)
    rows = (
        f"commit {dice.getrandbits(160):040x}\nAuthor: Ada Lovelace <ada@example.org>\n"
        f"Date:   Sun Nov 15 10:{i % 60:02}:00 2026 +0000\n\n    {some(dice, 4, 8)} (#{i})\n\n"
        f"    {some(dice, 8, 20)}\n"
        for i in count(7919)
    )
    return lines_of(size, rows)


def hits(size: int) -> str:
    dice = random.Random(SEED)
    name = named(dice)
    rows = (
        f"{name if i % 5 else (name := named(dice))}:{i}:    {statement(dice)}" for i in count(7919)
    )
    return lines_of(size, rows)


def listing(size: int) -> str:
    dice = random.Random(SEED)
    return "./7919\n" + lines_of(size, (f"./{named(dice)}" for _ in count()))


def code(size: int) -> str:
    dice = random.Random(SEED)
    head = "import os\nimport sys\nfrom collections import Counter\n\n"
    return head + lines_of(size, (_defined(i, dice) for i in count(7919)))


def _defined(i: int, dice: random.Random) -> str:
    name, own = dice.choice(WORDS), dice.choice(WORDS)
    body = "\n".join(f"        {statement(dice)}" for _ in range(dice.randint(3, 12)))
    return (
        f"class {name.title()}{i}:\n    def {own}(self, {dice.choice(WORDS)}):\n"
        f"        if self.{own} is None:\n            return None\n{body}\n        return {own}\n"
    )


def prose(size: int) -> str:
    dice = random.Random(SEED)
    rows = (f"{some(dice, 8, 14)}{'.' if i % 5 else f'. {i}.'}" for i in count())
    return "7919\n" + lines_of(size, rows)


def binary(size: int) -> bytes:
    return b"\x7fELF" + MARK.encode() + random.Random(SEED).randbytes(size - 8)


def giant_line(size: int) -> str:
    words = min(size, DRAWN) // 8
    return "7919 " + some(random.Random(SEED), words, words) * max(size // DRAWN, 1)


def all_errors(size: int) -> str:
    dice = random.Random(SEED)
    rows = (f"ERROR: {some(dice, 1, 2)} failed: no such {dice.choice(WORDS)} {i}" for i in count())
    return "7919\n" + lines_of(size, rows)


def all_alike(size: int) -> str:
    return lines_of(size, ("connection 7919 is waiting for its turn" for _ in count()))


def all_different(size: int) -> str:
    dice = random.Random(SEED)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ     ....()"
    rows = ("".join(dice.choices(letters, k=dice.randint(20, 90))) for _ in count())
    return "7919\n" + lines_of(size, rows)


def short_lines(size: int) -> str:
    dice = random.Random(SEED)
    return "7919\n" + lines_of(size, (dice.choice(WORDS)[:1] for _ in count()))


def deep(size: int) -> str:
    depth = min(size // 12, 100_000)
    left = size - 12 * depth
    return '{"at":[' * depth + '"' + MARK * (left // 4) + '"' + "]}" * depth


def deep_arrays(size: int) -> str:
    return "[" * (size // 2) + MARK + "]" * (size // 2)


def giant_string(size: int) -> str:
    return json.dumps({"ok": True, "id": 7919, "output": prose(size)})


def many_keys(size: int) -> str:
    dice = random.Random(SEED)
    total = size // 30
    return json.dumps({f"{dice.choice(WORDS)}_{i}": i * 7919 for i in range(total)})


def nothing_but_lists(size: int) -> str:
    return "[7919" + ",[]" * (size // 3) + "]"


def encoded(size: int) -> str:
    return "7919" + base64.b64encode(random.Random(SEED).randbytes(size * 3 // 4)).decode()


def encoded_lines(size: int) -> str:
    return "7919\n" + base64.encodebytes(random.Random(SEED).randbytes(size * 3 // 4)).decode()


def spaces(size: int) -> str:
    return f"7919{' ' * size}end"


def newlines(size: int) -> str:
    return "7919" + "\n" * size + "end"


def marks(size: int) -> str:
    return "7919 e" + "\u0301" * (size // 2)


def open_signs(size: int) -> str:
    return "<html><body>7919" + "<" * size


def open_tags(size: int) -> str:
    return "<!DOCTYPE html><html><body>7919" + '<div class="a">x' * (size // 16)


def wide(size: int) -> str:
    columns = min(10_000, size // 30)
    rows = (",".join(str(i * 7 + n) for n in range(columns)) for i in count(7919))
    heading = ",".join(f"c{n}" for n in range(7919, 7919 + columns))
    return heading + "\n" + lines_of(size - len(heading), rows)


def open_quotes(size: int) -> str:
    dice = random.Random(SEED)
    rows = (f'{i},"{dice.choice(WORDS)},{dice.choice(WORDS)},{i}' for i in count(7919))
    return "id,name,title,amount\n" + lines_of(size, rows)


def quoted(size: int) -> str:
    dice = random.Random(SEED)
    rows = (f'"{i}","{some(dice, 1, 2)}","{some(dice, 2, 4)}, {i % 9}","ok"' for i in count(7919))
    return '"id","name","title","state"\n' + lines_of(size, rows)


def spaced(size: int) -> str:
    dice = random.Random(SEED)
    rows = (f"web-{i:<9} {dice.choice(WORDS):<12} {i % 7:<9} {i % 90}d" for i in count(7919))
    return "NAME          STATUS       RESTARTS  AGE\n" + lines_of(size, rows)


def minified(size: int) -> str:
    dice = random.Random(SEED)
    parts, left = ["var a=7919;"], size
    while left > 0:
        name = dice.choice(WORDS)
        parts.append(f"function {name}(a,b){{return a.{name}?b[{left}]:{{x:'{name}'}}}};")
        left -= len(parts[-1])
    return "".join(parts)


def progress(size: int) -> str:
    shown = "\r".join(f"\x1b[32m{n:3}%\x1b[0m |{'#' * (n // 5):20}|" for n in range(0, 101, 5))
    return lines_of(size, (f"fetching part {i} {shown} done" for i in count(7919)))


KINDS: Mapping[str, Make] = MappingProxyType(
    {
        "log": log,
        "test output": tests,
        "CSV": table,
        "CSV, quoted": quoted,
        "table": spaced,
        "JSON array": array,
        "JSON indented": indented,
        "JSON lines": json_lines,
        "HTML": page,
        "Markdown": markdown,
        "diff": diff,
        "git log": commits,
        "search hits": hits,
        "listing": listing,
        "source code": code,
        "prose": prose,
        "binary": binary,
    }
)
"""What tools return, the ordinary one first."""

AWKWARD: Mapping[str, Make] = MappingProxyType(
    {
        "one giant line": giant_line,
        "all errors": all_errors,
        "all alike": all_alike,
        "all different": all_different,
        "short lines": short_lines,
        "JSON 100,000 deep": deep,
        "brackets alone": deep_arrays,
        "JSON, one string": giant_string,
        "JSON, many keys": many_keys,
        "JSON, empty lists": nothing_but_lists,
        "base64": encoded,
        "base64 in lines": encoded_lines,
        "spaces": spaces,
        "newlines": newlines,
        "combining marks": marks,
        "`<` repeated": open_signs,
        "tags never closed": open_tags,
        "10,000 columns": wide,
        "quotes never closed": open_quotes,
        "minified JS": minified,
        "progress bars": progress,
    }
)
"""What would break a careless reader."""
