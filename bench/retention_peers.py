"""Peers at their defaults, each in an environment of its own: `python bench/retention_peers.py`.

That makes the environments (it needs a network and some minutes); `retention.py` uses those it
finds and names those it does not. The code that runs inside them is `retention_peer.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from retention_items import METER, Item
from retention_report import Score

FOLDER = Path("build") / "peers"
WORKER = Path(__file__).with_name("retention_peer.py")
MINUTES = 20

PACKAGES = ("headroom-ai", "deepagents", "pydantic-ai-harness", "strands-agents", "fastmcp")


def main(argv: Sequence[str]) -> int:
    """Make the environments that are not there yet."""
    folder = Path(argv[0]) if argv else FOLDER
    for package in PACKAGES:
        place = folder / package
        if not (place / "bin" / "python").exists():
            venv.create(place, with_pip=True)
        pip = [place / "bin" / "python", "-m", "pip", "install", "--quiet", package]
        done = subprocess.run(pip, check=False)
        print(f"{package}: {'ready' if done.returncode == 0 else 'cannot be installed'}")
    return 0


def scores(items: Sequence[Item], folder: Path) -> list[Score]:
    """How every peer that is installed does on the items, at its default."""
    found: list[Score] = []
    for package in PACKAGES:
        python = folder / package / "bin" / "python"
        if not python.exists():
            print(f"retention: no {package} in {folder}, left out", file=sys.stderr)
            continue
        found += peer_scores(package, python, items)
    return found


def peer_scores(package: str, python: Path, items: Sequence[Item]) -> list[Score]:
    asked = [{"name": i.name, "text": i.text, "tool": i.tool, "ask": i.question} for i in items]
    try:
        done = subprocess.run(
            [python.absolute(), WORKER, package],
            input="\n".join(json.dumps(one) for one in asked).encode(),
            capture_output=True,
            timeout=60 * MINUTES,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"retention: {package} took over {MINUTES} minutes, left out", file=sys.stderr)
        return []
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b'{"')]
    if done.returncode or len(answers) != len(items):
        last = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        print(f"retention: {package} gave {len(answers)} of {len(items)}: {last}", file=sys.stderr)
    name = f"{package} {answers[0]['version']}" if answers else package
    return [
        scored(item, name, answer["shown"], answer["seconds"])
        for item, answer in zip(items, answers, strict=False)
    ]


def scored(item: Item, way: str, shown: str, seconds: float) -> Score:
    tokens = METER.count(shown)
    needed, kept = item.needed, item.kept(shown)
    recall = item.recall(shown, tokens or 1)
    return Score(
        item.name,
        item.kind,
        item.project,
        way,
        0,
        recall,
        kept,
        needed,
        tokens,
        item.tokens,
        seconds,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
