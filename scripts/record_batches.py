"""Records ten batches of real tool output for docs/comparison.md: `record_batches.py`.

Runs real programs over a copy of this repository and writes what they printed to `batches.json.gz`
beside this file. It is run by hand when the batches should change; `comparison.py` reads them.
"""

import gzip
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
BATCHES = HERE / "batches.json.gz"

BUG = ("left // (len(wants) - served)", "left // len(wants)")
"""What the copy gets wrong, so that its tests fail for a reason."""


def recorded(copy: Path) -> list[dict]:
    """The batches: what was asked for, what to look for in the answer, and the results."""
    plant_bug(copy)
    site = Path(os.__file__).parent
    subject = run(["git", "log", "-n", "1", "--skip", "6", "--format=%s"], ROOT).strip()
    packages = {name: about(name) for name in installed()}
    records = [record(path) for path in sorted((copy / "tests").rglob("*.py"))]
    return [
        batch(
            "Where does outgoing.py use the ledger?",
            "src/headgate/outgoing.py:",
            ("Grep", run(["grep", "-rn", "ledger", "src", "tests"], copy)),
        ),
        batch(
            "How is the budget of a batch computed?",
            "def batch_budget(self",
            *(("Read", (copy / "src/headgate" / name).read_text()) for name in FILES),
        ),
        batch(
            "Why do the tests fail?",
            "FAILED tests/test_budget.py",
            (
                "Bash",
                run(
                    [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", *TESTS], copy
                ),
            ),
        ),
        batch(
            f'Which commit says "{subject}"?',
            subject,
            ("Bash", run(["git", "log", "-p", "-n", "12", "--format=commit %h%n%n    %s%n"], ROOT)),
        ),
        batch(
            "Is json/decoder.py in the standard library?",
            "./json/decoder.py",
            (
                "tree",
                run(["find", ".", "-name", "*.py", "-not", "-path", "./site-packages/*"], site),
            ),
        ),
        batch(
            "How large is tests/test_budget.py?", "tests/test_budget.py", ("list_records", records)
        ),
        batch(
            "Which version of pytest-xdist is installed?",
            '"pytest-xdist"',
            ("get_packages", packages),
        ),
        batch(
            "What does parse_intermixed_args do?",
            "parse_intermixed_args",
            ("web_fetch", page(copy)),
        ),
        batch(
            "Where is the class StoreError defined?",
            "class StoreError",
            *(("Grep", run(["grep", "-rn", word, "src"], copy)) for word in WORDS),
        ),
        batch(
            "How many findings does the linter have?",
            "Found ",
            (
                "Bash",
                run(
                    [
                        sys.executable,
                        "-m",
                        "ruff",
                        "check",
                        "--select",
                        "ALL",
                        "--output-format",
                        "concise",
                        "src",
                    ],
                    copy,
                ),
                True,
            ),
            ("Bash", run(["wc", "-l", "README.md"], copy)),
            ("Bash", ""),
        ),
    ]


FILES = ("policy.py", "marker.py", "types.py")
TESTS = (
    *(
        "tests/test_budget.py",
        "tests/test_limits.py",
        "tests/test_policy.py",
        "tests/test_slices.py",
    ),
    *("tests/shape/test_pages.py", "tests/shape/test_kinds.py", "tests/read/test_path.py"),
    *("tests/history/test_repair.py", "tests/history/test_usage.py"),
)
WORDS = (
    "policy",
    "verdict",
    "store",
    "marker",
    "limit",
    "tokens",
    "result",
    "batch",
    "ref",
    "Error",
)


def batch(asked: str, sought: str, *results: tuple) -> dict:
    """One batch as it is written."""
    made = [
        {"tool": tool, "content": content, "is_error": bool(rest and rest[0])}
        for tool, content, *rest in results
    ]
    return {"asked": asked, "sought": sought, "results": made}


def run(command: list[str], where: Path) -> str:
    """What a program prints, whatever it exits with."""
    # The copy's own code, and few examples: it is the output that matters.
    environ = {**os.environ, "PYTHONPATH": str(where / "src"), "HEADGATE_EXAMPLES": "5"}
    ran = subprocess.run(command, cwd=where, env=environ, capture_output=True, check=False)
    return (ran.stdout + ran.stderr).decode(errors="replace")


def plant_bug(copy: Path) -> None:
    """Make the copy wrong in one place."""
    path = copy / "src/headgate/budget.py"
    path.write_text(path.read_text().replace(*BUG))


def installed() -> list[str]:
    """The packages of this environment."""
    return sorted({dist.metadata["Name"] for dist in importlib.metadata.distributions()})


def about(name: str) -> dict:
    """What a package says of itself."""
    found = importlib.metadata.metadata(name)
    return {
        "version": found["Version"],
        "summary": found["Summary"],
        "requires_python": found["Requires-Python"],
        "requires": importlib.metadata.requires(name) or [],
        "classifiers": found.get_all("Classifier") or [],
    }


def record(path: Path) -> dict:
    """A file as a record of an API would have it."""
    data = path.read_bytes()
    parts = path.parts[path.parts.index("tests") :]
    return {
        "path": "/".join(parts),
        "bytes": len(data),
        "lines": data.count(b"\n"),
        "sha256": sha256(data).hexdigest(),
    }


def page(where: Path) -> str:
    """A page of documentation as HTML."""
    run([sys.executable, "-m", "pydoc", "-w", "argparse"], where)
    return (where / "argparse.html").read_text()


def anonymous(batches: list[dict], copy: Path) -> list[dict]:
    """The batches without the places of the machine they were recorded on."""
    text = json.dumps(batches)
    site = str(Path(os.__file__).parent)
    for place, name in (
        (str(copy), "/repo"),
        (str(ROOT), "/repo"),
        (sys.prefix, "/venv"),
        (site, "/python"),
    ):
        text = text.replace(json.dumps(place)[1:-1], name)
    return json.loads(text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "repo"
        copy.mkdir()
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x"], cwd=copy, input=archive.stdout, check=True)
        made = anonymous(recorded(copy), copy)
    BATCHES.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))
    for each in made:
        sizes = [len(json.dumps(result["content"])) for result in each["results"]]
        sys.stdout.write(f"{each['asked']:45} {sizes}\n")
