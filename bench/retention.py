"""What a budget keeps of what a reader needs: `python bench/retention.py [DATA] [options]`.

For each kind of output and each budget (tokens in o200k; all that is shown counts, markers too):
mean recall of the needed lines or values, the share of items with all of them, how much of the
budget is used, and the time. Ours beside head, tail, head+tail and a grep for trouble; peers at
their defaults, each in its own environment (`bench/retention_peers.py` makes them).

    python bench/retention.py --kind ci_build_log --ours-only --budget 500 1000
    python bench/retention.py --kind html_page --limit 10
    python bench/retention.py --part held            the half of the projects nobody tuned on
    python bench/retention.py --misses 5 --kind csv  what was lost, the worst items first
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import retention_facts
import retention_peers
from retention_items import METER, OUTPUTS, USED, Item, outputs, used_later
from retention_report import SEED, Score, against_cuts, plot, table
from retention_ways import POSITIONAL, WAYS

DATA = Path("../shared/data")
BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
REPORT = Path("build") / "retention"


def main(argv: Sequence[str]) -> int:
    """Measure, print the tables, write them and the plot; 0 too where there is no data."""
    asked = parser().parse_args(argv)
    items = list(chosen(asked))
    if not items:
        print("retention: nothing to measure")
        return 0
    ways = ["headgate"] if asked.ours_only else asked.ways or list(WAYS)
    scores = measure(items, ways, asked.budget, asked.jobs)
    if not asked.ours_only and not asked.no_peers:
        scores += retention_peers.scores(items, asked.peers)
    kinds = list(dict.fromkeys(item.kind for item in items))
    tables = [table(scores, kind) for kind in kinds]
    if set(ways) & set(POSITIONAL):
        tables.append(against_cuts(scores, "headgate", POSITIONAL))
    text = "\n\n".join(tables)
    print(text)
    if asked.misses:
        show_misses(scores, items, asked.misses, asked.budget)
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "retention.md").write_text(f"# Retention\n\n{text}\n", encoding="utf-8")
        (asked.out / "retention.svg").write_text(plot(scores), encoding="utf-8")
        print(f"\nretention: wrote {asked.out}/retention.md and .svg", file=sys.stderr)
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="retention.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("data", nargs="?", type=Path, default=DATA)
    made.add_argument("--kind", nargs="*", default=[], help="only these kinds; facts, used_lines …")
    made.add_argument("--budget", nargs="*", type=int, default=list(BUDGETS))
    made.add_argument("--limit", type=int, help="at most so many items of each kind, drawn once")
    made.add_argument("--part", choices=("all", "tune", "held"), default="all")
    made.add_argument("--name", default="", help="only items whose name has this in it")
    made.add_argument("--ways", nargs="*", choices=[*WAYS], help="only these ways")
    made.add_argument("--ours-only", action="store_true")
    made.add_argument("--misses", type=int, default=0, metavar="N", help="show the N worst items")
    made.add_argument("--jobs", type=int, default=1)
    made.add_argument("--no-peers", action="store_true")
    made.add_argument("--peers", type=Path, default=retention_peers.FOLDER)
    made.add_argument("--out", type=Path, nargs="?", const=REPORT, help="write tables and plot")
    return made


def chosen(asked: argparse.Namespace) -> Iterator[Item]:
    """The items asked for, in a fixed order."""
    by_kind: dict[str, list[Item]] = {}
    for item in everything(asked.data, asked.kind):
        if asked.kind and item.kind not in asked.kind:
            continue
        if asked.part in ("all", part_of(item)) and asked.name in item.name:
            by_kind.setdefault(item.kind, []).append(item)
    draw = random.Random(SEED)
    for kind in sorted(by_kind):
        items = by_kind[kind]
        yield from draw.sample(items, min(asked.limit or len(items), len(items)))


def everything(data: Path, kinds: Sequence[str]) -> Iterator[Item]:
    facts = retention_facts.KIND
    if not kinds or {*kinds} - {"used_tokens", "used_lines", facts}:
        yield from read(data / OUTPUTS, lambda: outputs(data))
    if not kinds or {"used_tokens", "used_lines"} & {*kinds}:
        yield from read(data / USED, lambda: used_later(data))
    if not kinds or facts in kinds:
        yield from retention_facts.planted()


def read(file: Path, items: partial[Iterator[Item]]) -> Iterator[Item]:
    if file.exists():
        yield from items()
    else:
        print(f"retention: no {file}; name the folder that holds the data", file=sys.stderr)


def part_of(item: Item) -> str:
    """Half of the projects to tune on, half to judge by."""
    return "held" if hashlib.sha256(item.project.encode()).digest()[0] % 2 else "tune"


def measure(
    items: Sequence[Item], ways: Sequence[str], budgets: Sequence[int], jobs: int
) -> list[Score]:
    work = partial(scores_of, ways=ways, budgets=budgets)
    if jobs == 1:
        return [score for item in items for score in work(item)]
    with ProcessPoolExecutor(jobs) as pool:
        return [score for found in pool.map(work, items, chunksize=4) for score in found]


def scores_of(item: Item, ways: Sequence[str], budgets: Sequence[int]) -> list[Score]:
    return [scored(item, way, budget) for way in ways for budget in budgets]


def scored(item: Item, way: str, budget: int) -> Score:
    started = time.perf_counter()
    shown = WAYS[way](item, budget)
    seconds = time.perf_counter() - started
    return Score(
        item.name,
        item.kind,
        item.project,
        way,
        budget,
        item.recall(shown, budget),
        item.kept(shown),
        item.needed,
        METER.count(shown) if shown is not item.text else item.tokens,
        item.tokens,
        seconds,
    )


def show_misses(
    scores: Sequence[Score], items: Sequence[Item], most: int, budgets: Sequence[int]
) -> None:
    """The items that lost most, with what they lost."""
    by_name = {(item.kind, item.name): item for item in items}
    for budget in budgets:
        own = [s for s in scores if s.way == "headgate" and s.budget == budget and s.recall < 1]
        for score in sorted(own, key=lambda s: s.recall)[:most]:
            print(
                f"\n{budget:,} {score.recall:.2f} {score.kind} {score.item} "
                f"({score.whole_tokens:,} tokens)"
            )
            item = by_name[score.kind, score.item]
            shown = WAYS["headgate"](item, budget)
            visible = {line.strip() for line in shown.split("\n")}
            lost = [line for line in item.lines if line not in visible]
            lost += [value for value in (*item.values, *item.passages) if value not in shown]
            for each in lost[:4]:
                print(f"    lost: {each[:160]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
