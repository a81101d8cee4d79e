import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(BENCH))
    import retention
    import retention_items
    import retention_report

    yield retention, retention_items, retention_report
    sys.path.remove(str(BENCH))


def item(bench, **needs):
    return bench[1].Item("a/b/1", "log", "a/b", "", **needs)


def test_a_needed_line_counts_where_it_stands_as_a_line(bench):
    needed = item(bench, lines=("one two", "\x1b[31mred\x1b[0m", "gone"))

    assert needed.recall("x\n  one two \nred\nnot gone", 100) == 2 / 3


def test_a_needed_value_counts_as_a_word_of_its_own(bench):
    needed = item(bench, values=("24.2", 'a "b"'))

    assert needed.recall('{"x":24.2,"y":"a \\"b\\""}', 100) == 1.0
    assert needed.recall("124.25", 100) == 0.0


def test_main_text_counts_as_a_share_of_what_the_budget_could_hold(bench):
    passage = "the quick brown fox jumps over the lazy dog again and again"
    needed = item(bench, passages=(passage, "another passage that is not shown at all here"))

    assert needed.recall(f"menu {passage} footer", budget=12) == 1.0
    assert 0.4 < needed.recall(passage, budget=1_000) < 0.7
    assert needed.recall("the lazy fox jumps", budget=12) == 0.0


def test_projects_stay_on_one_side_of_the_split(bench):
    part_of = bench[0].part_of
    items = [item(bench, lines=("x",)) for _ in range(3)]

    assert len({part_of(each) for each in items}) == 1


def test_the_interval_is_drawn_over_projects(bench):
    report = bench[2]
    scores = [
        report.Score(str(i), "log", f"p{i % 2}", "head", 500, float(i % 2), 0, 1, 9, 99, 0.1)
        for i in range(40)
    ]

    assert report.interval(scores) == (0.0, 1.0)
    assert report.interval(scores) == report.interval(scores)


def test_where_there_is_no_data_it_says_so(bench, capsys):
    assert bench[0].main(["/nowhere", "--kind", "csv"]) == 0
    assert "retention: no /nowhere/B_tool_outputs/items.jsonl.gz" in capsys.readouterr().err
