import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shape.shown import O200K, lines_of, missing, shaped

HEADING = "id,city,status,load"


def table(count: int, **odd: str) -> str:
    rows = [f"{i},city {i * 7 % 50},ok,{50 + i % 9}" for i in range(1, count + 1)]
    for number, row in odd.items():
        rows[int(number.removeprefix("n")) - 1] = row
    return "\n".join([HEADING, *rows]) + "\n"


def test_the_heading_and_what_the_columns_hold_come_first():
    lines = shaped("csv", table(1_000), 900).split("\n")

    assert lines[0].startswith("[9")
    assert lines[1] == (
        "[columns: id int 1..1000; city text; status 1 values: ok; load int 50..58 #k7q2]"
    )
    assert lines[2:4] == [HEADING, "1,city 7,ok,51"]


@pytest.mark.proves("S4")
def test_the_most_and_the_least_of_an_asked_column_come_before_all_that_differ():
    rows = [[str(50 + (i * 7 + column) % 9) for column in range(8)] for i in range(900)]
    for column in range(8):
        rows[300 + 40 * column][column] = "99"
    text = "\n".join(["a,b,c,d,e,f,g,load", *map(",".join, rows)])
    shown = shaped("csv", text, 160, "highest", "load")

    assert ",".join(rows[580]) in shown


@pytest.mark.proves("S4")
def test_a_word_for_many_finds_the_word_for_one():
    shown = shaped("csv", table(1_000, n600="600,flood,ok,51"), 200, "floods")

    assert "\n600,flood,ok,51\n" in shown


@pytest.mark.proves("S4")
@pytest.mark.parametrize(("side", "rule"), [("|", "+"), ("│", "┼")])
def test_a_table_that_is_drawn_with_lines_keeps_its_heading(side, rule):
    border = f"{rule}-----{rule}--------{rule}" if rule == "+" else "┌─────┬────────┐"
    rows = [f"{side} {i:<3} {side} {i * 7 % 90:>6} {side}" for i in range(1, 400)]
    rows[222] = f"{side} 223 {side}   9999 {side}"
    under = border if rule == "+" else "├─────┼────────┤"
    drawn = [border, f"{side} id  {side} load   {side}", under, *rows, border]
    shown = shaped("table", "\n".join(drawn) + "\n", 300)

    assert "[columns: id int 1..399; load int 0..9999 #k7q2]\n" + "\n".join(drawn[:3]) in shown
    assert rows[222] in shown


@pytest.mark.proves("S4")
def test_rows_that_differ_are_shown():
    shown = shaped("csv", table(1_000, n600="600,city 3,lost,50", n700="700,city 4,ok,990"), 300)

    assert "600,city 3,lost,50" in shown
    assert "700,city 4,ok,990" in shown


@pytest.mark.proves("S4")
def test_rows_that_the_query_names_are_shown():
    shown = shaped("csv", table(1_000, n600="600,Bielsko,ok,50"), 300, "bielsko", "full", "row")

    assert "600,Bielsko,ok,50" in shown


def test_several_rows_that_the_query_names_are_all_shown():
    odd = {f"n{i}": f"{i},place{i},ok,50" for i in (100, 300, 500, 700)}
    shown = shaped("csv", table(1_000, **odd), 300, *(f"place{i}" for i in (100, 300, 500, 700)))

    assert [line for line in shown.split("\n") if "place" in line] == list(odd.values())


@pytest.mark.proves("S4", "S8")
@settings(max_examples=settings.default.max_examples // 4)
@given(st.integers(80, 400), st.integers(200, 900), st.sampled_from(["city 3", "nothing"]))
def test_gaps_name_exactly_the_rows_that_are_missing(count, limit, word):
    text = table(count)
    shown = shaped("csv", text, limit, word)
    source = text.removesuffix("\n").split("\n")
    numbers = [source.index(line) + 1 for line in lines_of(shown) if not line.startswith("[col")]

    assert numbers == sorted(numbers)
    assert missing(shown) <= {*range(1, len(source) + 1)} - {*numbers}
    if not shown.startswith((HEADING, "[columns")):
        assert missing(shown) == {*range(1, len(source) + 1)} - {*numbers}
    assert limit * 0.9 <= O200K.count(shown) <= limit or not missing(shown)


def test_a_row_of_several_lines_stays_together():
    rows = "".join(f'{i},"first\nsecond {i}"\n' for i in range(300))
    shown = shaped("csv", f"id,note\n{rows}", 300, "217")

    assert '217,"first\nsecond 217"' in shown
    assert "[lines " in shown


@pytest.mark.parametrize("sloppy", ['"never closed', 'an "odd" quote', '"closed" too early'])
def test_where_quotes_are_not_as_they_should_be_each_line_is_a_row(sloppy):
    rows = [f"{i},{sloppy},{i % 7}" for i in range(300)]
    lines = shaped("csv", "\n".join(["id,note,age", *rows]), 400, "217").split("\n")

    assert "age int 0..6 #k7q2]" in lines[1]
    assert lines[2:4] == ["id,note,age", rows[0]]
    assert rows[217] in lines


def test_columns_set_with_spaces_are_a_table_too():
    rows = [f"web-{i:<6} Running   {i % 3}" for i in range(400)]
    rows[250] = "web-250    Pending   0"
    shown = shaped("table", "\n".join(["NAME       STATUS    RESTARTS", *rows]), 300)

    assert "NAME       STATUS    RESTARTS" in shown
    assert "web-250    Pending   0" in shown


@pytest.mark.parametrize("between", ["   ", "  ", "\t", " | ", "     "])
def test_the_columns_of_a_table_are_told_by_what_stands_between_them(between):
    rows = [
        between.join((f"  web {i}", "ok" if i % 90 else "lost", str(i % 7))) for i in range(400)
    ]
    shown = shaped("table", "\n".join([between.join(("NAME", "STATE", "AGE")), *rows]), 300)

    assert "[columns: NAME text; STATE 2 values: ok, lost; AGE int 0..6 #k7q2]" in shown


def test_what_is_no_table_is_left_to_others():
    assert shaped("csv", 'id,text\n1,"' + "x" * 200_000 + '"\n2,y\n3,z', 200) is None
    assert shaped("csv", "one,line", 200) is None


def test_a_log_whose_lines_are_alike_is_no_table_of_one_column():
    rows = [f"worker {i}: compiled module_{i}.c in {i} ms" for i in range(1_000)]
    rows[500] = "ERROR: replica 7 is 9321 ms behind"

    assert shaped("table", "\n".join(rows), 300) is None


@pytest.mark.parametrize(
    ("first", "row", "told"),
    [
        ("name,amount", "item {},{}", True),
        ("item,2019", "item {},{}", True),
        ("item,2019", "thing,{}", False),
        ("2026-01-01,7", "2026-01-{:02},{}", False),
    ],
)
def test_a_first_row_like_the_others_is_no_heading(first, row, told):
    rows = [row.format(i % 28 + 1, i * 37 % 91) for i in range(300)]
    shown = shaped("csv", "\n".join([first, *rows]), 300)

    assert ("[columns: " in shown) is told
    assert first in shown.split("\n")
