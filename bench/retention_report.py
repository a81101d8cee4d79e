"""The numbers of a run as Markdown tables and as a plot."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

SEED = 20_261
DRAWS = 1_000
"""Of projects, with replacement, for the interval."""

FEW_NEEDED = 20
"""Up to this a count says more than a mean."""

COLOURS = ("#0b6e4f", "#6fb98f", "#c44536", "#e09f3e", "#335c81", "#7b6d8d", "#999999")


@dataclass(frozen=True, slots=True)
class Score:
    """How one way did on one item."""

    item: str
    kind: str
    project: str
    way: str
    budget: int
    """0: the way has a size of its own."""
    recall: float
    kept: int
    needed: int
    tokens: int
    whole_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """What the scores of one way on one kind at one budget come to."""

    recall: float
    low: float
    high: float
    """The interval that holds 95 % of the means of projects drawn again."""
    kept: int
    needed: int
    all_kept: float
    fill: float
    tokens: float
    milliseconds: float
    items: int
    over: int


def row_of(scores: Sequence[Score]) -> Row:
    """Sum up; fill and tokens speak of the items that had to be shortened."""
    low, high = interval(scores)
    budget = scores[0].budget
    short = [s for s in scores if s.whole_tokens > budget] or list(scores)
    return Row(
        statistics.fmean(s.recall for s in scores),
        low,
        high,
        sum(s.kept for s in scores),
        sum(s.needed for s in scores),
        statistics.fmean(s.recall > 0.9999 for s in scores),
        statistics.fmean(s.tokens / (budget or s.whole_tokens) for s in short),
        statistics.fmean(s.tokens for s in scores),
        statistics.median(s.seconds for s in scores) * 1e3,
        len(scores),
        sum(s.tokens > budget for s in scores) if budget else 0,
    )


def interval(scores: Sequence[Score]) -> tuple[float, float]:
    """Between which values the mean falls if other projects had been drawn."""
    by_project: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        by_project[score.project].append(score.recall)
    groups = [(sum(group), len(group)) for group in by_project.values()]
    draw = random.Random(SEED)
    means = sorted(
        sum(total for total, _ in drawn) / sum(count for _, count in drawn)
        for drawn in (draw.choices(groups, k=len(groups)) for _ in range(DRAWS))
    )
    return means[int(DRAWS * 0.025)], means[int(DRAWS * 0.975) - 1]


def grouped(scores: Sequence[Score]) -> dict[tuple[str, str, int], list[Score]]:
    groups: dict[tuple[str, str, int], list[Score]] = defaultdict(list)
    for score in scores:
        groups[score.kind, score.way, score.budget].append(score)
    return groups


def table(scores: Sequence[Score], kind: str) -> str:
    """Recall by way and budget, with its interval; then what else there is to know."""
    rows = {key[1:]: row_of(group) for key, group in grouped(scores).items() if key[0] == kind}
    budgets = sorted({budget for _, budget in rows if budget})
    ways = list(dict.fromkeys(way for way, budget in rows if budget))
    items = max((row.items for row in rows.values()), default=0)
    projects = len({s.project for s in scores if s.kind == kind})
    out = [f"## {kind}", "", f"{items} items of {projects} projects.", ""]
    if budgets:
        out += ["| recall | " + " | ".join(f"{b:,}" for b in budgets) + " |"]
        out += ["| --- |" + " --: |" * len(budgets)]
        for way in ways:
            cells = [recall_cell(rows[way, b]) for b in budgets if (way, b) in rows]
            out.append(f"| {way} | " + " | ".join(cells) + " |")
        out += ["", "| all kept · fill · ms | " + " | ".join(f"{b:,}" for b in budgets) + " |"]
        out += ["| --- |" + " --: |" * len(budgets)]
        for way in ways:
            cells = [other_cell(rows[way, b]) for b in budgets if (way, b) in rows]
            out.append(f"| {way} | " + " | ".join(cells) + " |")
    fixed = [way for way, budget in rows if not budget]
    if fixed:
        out += ["", "| at its default | recall | all kept | tokens | over 8,000 | ms |"]
        out += ["| --- | --: | --: | --: | --: | --: |"]
        for way in fixed:
            row = rows[way, 0]
            over = sum(s.tokens > 8_000 for s in scores if (s.kind, s.way) == (kind, way))
            out.append(
                f"| {way} | {recall_cell(row)} | {row.all_kept:.2f} | {row.tokens:,.0f} "
                f"| {over} of {row.items} | {row.milliseconds:.1f} |"
            )
    return "\n".join(out)


def recall_cell(row: Row) -> str:
    over = f" **{row.over} over**" if row.over else ""
    if row.needed < FEW_NEEDED and row.needed:
        return f"{row.kept} of {row.needed}{over}"
    return f"{row.recall:.3f} ({row.low:.2f}–{row.high:.2f}){over}"


def other_cell(row: Row) -> str:
    return f"{row.all_kept:.2f} · {row.fill:.2f} · {row.milliseconds:.1f}"


def against_cuts(scores: Sequence[Score], way: str, cuts: Sequence[str]) -> str:
    """Ours over the best positional cut, by kind and budget."""
    means = {key: statistics.fmean(s.recall for s in g) for key, g in grouped(scores).items()}
    kinds = list(dict.fromkeys(kind for kind, _, _ in means))
    budgets = sorted({budget for _, _, budget in means if budget})
    heading = " | ".join(f"{budget:,}" for budget in budgets)
    out = ["## Against the best positional cut", "", f"| ratio | {heading} |"]
    out += ["| --- |" + " --: |" * len(budgets)]
    for kind in kinds:
        cells = [ratio(means, kind, way, cuts, budget) for budget in budgets]
        out.append(f"| {kind} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def ratio(
    means: Mapping[tuple[str, str, int], float],
    kind: str,
    way: str,
    cuts: Sequence[str],
    budget: int,
) -> str:
    own = means.get((kind, way, budget))
    best = max((means.get((kind, cut, budget), 0.0) for cut in cuts), default=0.0)
    if own is None or not best:
        return "–" if own is None else "∞"
    return f"{own / best:.2f}" + (" (worse)" if own < best - 0.0005 else "")


def plot(scores: Sequence[Score]) -> str:
    """One small chart for each kind: recall over budget, as SVG."""
    groups = grouped(scores)
    kinds = list(dict.fromkeys(kind for kind, _, _ in groups))
    ways = list(dict.fromkeys(way for _, way, budget in groups if budget))
    colours = {way: COLOURS[i % len(COLOURS)] for i, way in enumerate(ways)}
    wide, high, columns = 300, 220, 3
    tall = -(-len(kinds) // columns) * high + 40
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide * columns}" height="{tall}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, way in enumerate(ways):
        x = 20 + i * 140
        out.append(f'<rect x="{x}" y="10" width="12" height="12" fill="{colours[way]}"/>')
        out.append(f'<text x="{x + 16}" y="20">{escape(way)}</text>')
    for i, kind in enumerate(kinds):
        left, top = i % columns * wide, 40 + i // columns * high
        out += chart(groups, kind, colours, left, top)
    return "\n".join([*out, "</svg>"])


def chart(
    groups: Mapping[tuple[str, str, int], list[Score]],
    kind: str,
    colours: Mapping[str, str],
    left: int,
    top: int,
) -> list[str]:
    budgets = sorted({budget for k, _, budget in groups if k == kind and budget})
    xs = {b: left + 40 + 230 * i / max(len(budgets) - 1, 1) for i, b in enumerate(budgets)}
    out = [f'<text x="{left + 40}" y="{top + 12}" font-weight="bold">{escape(kind)}</text>']
    for tenth in range(0, 11, 2):
        y = top + 180 - 16 * tenth
        out.append(f'<line x1="{left + 40}" x2="{left + 270}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        out.append(f'<text x="{left + 16}" y="{y + 4}">{tenth / 10:.1f}</text>')
    for budget, x in xs.items():
        out.append(f'<text x="{x - 12:.0f}" y="{top + 196}">{budget:,}</text>')
    for way, colour in colours.items():
        means = {
            b: statistics.fmean(s.recall for s in groups[kind, way, b])
            for b in budgets
            if (kind, way, b) in groups
        }
        points = " ".join(f"{xs[b]:.0f},{top + 180 - 160 * mean:.1f}" for b, mean in means.items())
        style = f'fill="none" stroke="{colour}" stroke-width="2"'
        out.append(f'<polyline points="{points}" {style}/>')
    return out
