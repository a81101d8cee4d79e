"""Facts planted in the middle of real command outputs: 12 outputs, 18 facts, nothing asked.

Everything is made from what any machine with Python and git has: the standard library, the packages
installed here, this repository. Each fact is something a reader would want to be told unasked.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from retention_items import Item

KIND = "facts"
LIBRARY = Path(sysconfig.get_path("stdlib"))

SUITE = """
import json
import pytest

def inner(n):
    settings = {"retries": 3, "ttl": n}
    return json.loads('{"a": %s}' % ("oops" if n == 451 else "1"))["a"]

def outer(n):
    return inner(n)

@pytest.mark.parametrize("n", range(900))
def test_row(n):
    if n == 120:
        assert n == 121, "ledger drift 0xBEEF at row 120"
    if n == 700:
        raise TimeoutError("replica lag 9321ms exceeded SLO")
    assert outer(n) == 1
"""


def planted() -> Iterator[Item]:
    """The outputs with their facts; one that cannot be made here is named and left out."""
    for name, make in MAKERS.items():
        try:
            text, facts = make()
        except (OSError, subprocess.SubprocessError) as error:
            print(f"retention: cannot make {name} here: {error}", file=sys.stderr)
            continue
        yield Item(name, KIND, name, text, values=facts)


def run(*command: str, at: Path | None = None, most: int = 1 << 30) -> str:
    """What a command prints, on either stream, whatever its exit code."""
    done = subprocess.run(command, capture_output=True, cwd=at, timeout=120, check=False)
    return (done.stdout + done.stderr)[:most].decode(errors="replace")


def with_lines(text: str, *lines: str) -> str:
    """Put lines into the middle of a text."""
    split = text.split("\n")
    half = len(split) // 2
    return "\n".join([*split[:half], *lines, *split[half:]])


def compile_log() -> tuple[str, tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        text = run(
            *(sys.executable, "-X", f"pycache_prefix={folder}", "-m", "compileall", "-f"),
            *(str(LIBRARY / package) for package in ("asyncio", "email", "json", "unittest")),
        )
    fact = "gcc exited with code 77 at qzx/core.c:4412"
    return with_lines(text, f"ERROR: Could not build wheels for qzx-solver: {fact}"), (fact,)


def import_log() -> tuple[str, tuple[str, ...]]:
    text = run(sys.executable, "-v", "-c", "import asyncio, email.mime.text, unittest, xml.dom")
    fact = "OOMKilled pod=cart-7f9 exit=137"
    return with_lines(text, f"# silly FATAL checkout-svc {fact} at shard 0x5EED"), (fact,)


def failing_tests() -> tuple[str, tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_bulk.py").write_text(SUITE)
        text = run(
            *(sys.executable, "-m", "pytest", "-v", "--color=no", "-p", "no:cacheprovider"),
            *("-o", "addopts=", "--rootdir", folder, folder),
            at=Path(folder),
        )
    return text, (
        "ledger drift 0xBEEF at row 120",
        "replica lag 9321ms exceeded SLO",
        "JSONDecodeError",
        "outer(n) == 1",
    )


def listing() -> tuple[str, tuple[str, ...]]:
    text = run("find", str(LIBRARY.parent), "-xdev", most=1_000_000)
    fact = "cryptominer_xmrig.so"
    return with_lines(text, f"{LIBRARY.parent}/.hidden/{fact}"), (fact,)


def modules() -> list[dict[str, object]]:
    records: list[dict[str, object]] = []
    for path in sorted(LIBRARY.rglob("*.py"))[:700]:
        source = path.read_text(encoding="utf-8", errors="replace")
        try:
            summary = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
        except SyntaxError:
            continue
        records.append(
            {
                "module": path.relative_to(LIBRARY).as_posix(),
                "bytes": len(source),
                "lines": source.count("\n"),
                "status": "installed",
                "summary": summary,
            }
        )
    odd = {
        "module": "libqzx7.py",
        "bytes": 99887766,
        "lines": 12,
        "status": "half-configured: postinst returned 127",
        "summary": "",
    }
    records.insert(len(records) // 2, odd)
    return records


RECORD_FACTS = ("half-configured: postinst returned 127", "99887766")


def pretty_records() -> tuple[str, tuple[str, ...]]:
    return json.dumps(modules(), indent=2), RECORD_FACTS


def dense_records() -> tuple[str, tuple[str, ...]]:
    return json.dumps(modules(), separators=(",", ":")), RECORD_FACTS


def inspected() -> tuple[str, tuple[str, ...]]:
    installed: list[dict[str, object]] = []
    for one in sorted(distributions(), key=lambda d: d.metadata["Name"].lower()):
        metadata = {k.lower(): v for k, v in one.metadata.items() if k != "Description"}
        files = [str(file) for file in (one.files or [])[:8]]
        installed.append({"metadata": metadata, "files": files, "requested": False})
    odd = {"name": "evil-typosquat", "version": "0.0.66", "summary": "CVE-2026-31337 backdoor"}
    installed.insert(len(installed) // 2, {"metadata": odd, "files": [], "requested": False})
    document = {"version": "1", "pip_version": "25.3", "installed": installed}
    return json.dumps(document, indent=2), ("CVE-2026-31337 backdoor", "evil-typosquat")


def commits() -> tuple[str, tuple[str, ...]]:
    text = run(
        *("git", "log", "-p", "-n", "12", "--no-color"), at=Path(__file__).parent, most=400_000
    )
    fact = "SENTINEL-7741"
    line = f"+    if token_budget < 0: raise BudgetUnderflow('{fact}')"
    return with_lines(text, line), (fact,)


def page() -> tuple[str, tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pydoc", "-w", "argparse", at=Path(folder))
        text = (Path(folder) / "argparse.html").read_text(encoding="utf-8")
    fact = "HELIOTROPE-19"
    at = text.find("</dd>", len(text) // 2)
    return f"{text[:at]} The rollback passphrase is {fact}. {text[at:]}", (fact,)


def table() -> tuple[str, tuple[str, ...]]:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["size", "mtime_days", "mode", "path"])
    for path in sorted(LIBRARY.rglob("*"))[:12_000]:
        if path.is_file():
            about = path.stat()
            rows.writerow([about.st_size, int(about.st_mtime // 86_400), oct(about.st_mode), path])
    fact = "suid_root_backdoor"
    return with_lines(out.getvalue(), f"-1,-1,0o104777,/usr/bin/{fact}"), (fact,)


def hits() -> tuple[str, tuple[str, ...]]:
    text = run(
        "grep", "-rn", "def ", str(LIBRARY / "asyncio"), str(LIBRARY / "email"), most=250_000
    )
    fact = "TODO-REMOVE-8842"
    line = f"lib/secretmod.py:77:    def exfiltrate_keys(self, sink):  # {fact}"
    return with_lines(text, line), (fact,)


def source() -> tuple[str, tuple[str, ...]]:
    text = (LIBRARY / "argparse.py").read_text(encoding="utf-8")
    fact = "0xDEADC0DE"
    return with_lines(text, f"        MAGIC_FENCE = {fact}  # off-by-one lives here"), (fact,)


MAKERS = {
    "compile.log": compile_log,
    "import.log": import_log,
    "pytest.txt": failing_tests,
    "find.txt": listing,
    "records.json": pretty_records,
    "records.min.json": dense_records,
    "inspect.json": inspected,
    "git-log.txt": commits,
    "page.html": page,
    "files.csv": table,
    "grep.txt": hits,
    "source.py": source,
}
