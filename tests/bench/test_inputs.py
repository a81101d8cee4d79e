import sys
from pathlib import Path

import pytest

from headgate.shape.kinds import recognise

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
from inputs import AWKWARD, KINDS, vary  # noqa: E402  # the bench is no package

sys.path.remove(str(BENCH))

SIZE = 20_000
ALL = {**KINDS, **AWKWARD}
RECOGNISED = {
    "log": "log",
    "test output": "test",
    "CSV": "csv",
    "CSV, quoted": "csv",
    "table": "table",
    "JSON array": "json",
    "JSON indented": "json",
    "JSON lines": "jsonl",
    "HTML": "html",
    "Markdown": "markdown",
    "diff": "diff",
    "git log": "git-log",
    "search hits": "search",
    "listing": "listing",
    "source code": "code",
    "prose": "prose",
    "binary": "binary",
}


def written(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_the_bench_is_what_it_is_called(name):
    assert recognise(written(KINDS[name](SIZE))) == RECOGNISED[name]


@pytest.mark.parametrize("name", ALL)
def test_each_input_has_about_its_size_and_another_text_each_turn(name):
    made = ALL[name](SIZE)

    assert 0.6 * SIZE < len(written(made)) < 1.4 * SIZE
    assert len({written(vary(made, turn)) for turn in range(3)}) == 3
    assert {len(written(vary(made, turn))) for turn in range(3)} == {len(written(made))}
