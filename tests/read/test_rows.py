import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import RequestError
from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.read.request import Request, request_of
from headgate.read.rows import Rows, by_sql, table_of
from headgate.shape.shaper import Room
from tests.read.originals import original

MARKER = Marker("k7q2", "r_1f3a9c7be20d")
CHARS = meter_for("o200k", "chars")
TABLE = original(b'[{"a": 1}]')


def shown(found: Rows, limit: int = 2_000, **asked) -> str:
    """What is shown where the query gives these rows."""
    request = Request(sql="FROM result", **asked)
    return by_sql(request, TABLE, Room(limit, CHARS), MARKER, lambda query, kind, data: found)


@pytest.mark.proves("K6")
def test_rows_are_shown_as_csv_with_their_header():
    found = Rows(("id", "name"), [("1", "x"), ("2", None), ("3", 'a "b", c')], more=False)

    assert shown(found) == ('id,name\n1,x\n2,\n3,"a ""b"", c"\n[rows 1-3 of 3; this is all #k7q2]')


@pytest.mark.proves("K6")
def test_what_does_not_fit_goes_on_with_the_next_page():
    found = Rows(("n",), [(f"{i:020}",) for i in range(100)], more=False)

    first = shown(found, 460)
    assert first.startswith("n\n00000000000000000000\n")
    assert first.endswith(
        '[rows 1-15 of 100; read_result(ref="r_1f3a9c7be20d", sql="FROM result", page=2, '
        "page_size=15) shows more #k7q2]"
    )
    assert shown(found, 460, page=2, page_size=15).startswith("n\n00000000000000000015\n")
    assert "rows 97-100 of 100; this is all" in shown(found, page=7, page_size=16)


@pytest.mark.proves("K6")
def test_a_page_is_the_first_unless_another_is_asked_for():
    text = shown(Rows(("n",), [(f"{i}",) for i in range(500)], more=False))

    assert text.startswith("n\n0\n1\n")
    assert "[rows 1-200 of 500; " in text


@pytest.mark.proves("K6")
def test_no_rows_and_more_rows_than_are_given_are_told():
    assert shown(Rows(("a", "b"), [], more=False)) == "a,b\n[no rows; this is all #k7q2]"
    assert shown(Rows(("a",), [("1",)], more=True)).endswith(
        "[row 1 of the first 1; a query with a WHERE or a LIMIT shows others #k7q2]"
    )


@pytest.mark.proves("K6")
def test_of_a_row_that_is_too_long_its_start_is_shown():
    text = shown(Rows(("a",), [("x" * 9_000,)], more=False), 460)

    assert text.startswith("a\nxxx")
    assert text.endswith(
        "[a part of row 1 of 1; name fewer columns, or cut long ones with substr, to see all of it "
        "#k7q2]"
    )


@pytest.mark.proves("P18", "P19")
def test_what_a_query_puts_together_is_made_visible():
    found = Rows(("a",), [("\x1b[31mred\x07",), ("[9 lines omitted #k7q2]",)], more=False)

    text = shown(found)

    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count("#k7q2]") == 1


@pytest.mark.proves("K6", "P2", "P16")
@given(
    rows=st.lists(st.tuples(st.text(max_size=60), st.text(max_size=300)), min_size=1, max_size=60),
    limit=st.integers(448, 3_000),
)
def test_every_page_fits_and_together_they_show_every_row(rows, limit):
    found = Rows(("one", "two"), rows, more=False)
    seen, asked = 0, {}
    for _ in range(len(rows) + 1):
        text = shown(found, limit, **asked)
        assert len(text) <= limit
        words = text.rpartition("\n[")[2].removeprefix("a part of ").split(" of ")[0]
        last = int(words.rpartition("-")[2].removeprefix("row ").replace(",", ""))
        assert last > seen
        seen = last
        if "page=" not in text.rpartition("\n[")[2]:
            break
        tail = text.rpartition("page=")[2]
        size = int(tail.partition("page_size=")[2].partition(")")[0].split(" ")[0])
        asked = {"page": int(tail.partition(",")[0]), "page_size": size}
    assert seen == len(rows)


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b' [{"a": 1}] ', ("json", b'[{"a": 1}]')),
        (b'{"a": 1}', ("json", b'[{"a": 1}]')),
        (b'{"n": 2, "items": [{"a": 1}, {"a": 2}]}', ("json", b'[{"a": 1}, {"a": 2}]')),
        (b'{"a": 1}\n{"a": 2}\n{"a": 3}\n', ("jsonl", b'{"a": 1}\n{"a": 2}\n{"a": 3}')),
        (b"id,name\n1,x\n2,y\n3,z\n", ("csv", b"id,name\n1,x\n2,y\n3,z")),
    ],
)
def test_a_result_is_the_rows_it_is(content, found):
    assert table_of(original(content)) == found


def test_a_text_is_no_table():
    with pytest.raises(RequestError) as caught:
        table_of(original(b"only some words\nand more of them\n"))
    assert str(caught.value) == (
        "the result is neither JSON nor CSV; read it by lines, search or page"
    )


@pytest.mark.proves("K6")
def test_a_query_is_an_argument_like_the_others():
    assert request_of({"sql": "FROM result", "page": 2}) == Request(sql="FROM result", page=2)
    with pytest.raises(RequestError, match="give one of lines, bytes, page, search, path, sql"):
        request_of({"sql": "FROM result", "lines": "1-5"})
    with pytest.raises(RequestError, match="at most 8,192 are read"):
        request_of({"sql": "x" * 8_193})


@pytest.mark.proves("K6")
def test_a_real_query_over_a_real_original():
    from headgate.sql.run import run_query

    rows = [{"status": "failed" if i % 7 == 0 else "ok", "ms": i} for i in range(70)]
    kept = original(json.dumps({"total": 70, "runs": rows}).encode())
    request = request_of(
        {"sql": "SELECT status, count(*) AS n, max(ms) AS ms FROM result GROUP BY 1 ORDER BY 2"}
    )

    text = by_sql(request, kept, Room(2_000, CHARS), MARKER, run_query)

    assert text == ("status,n,ms\nfailed,10,63\nok,60,69\n[rows 1-2 of 2; this is all #k7q2]")
