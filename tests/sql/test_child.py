import duckdb
import pytest

from headgate.sql.child import answered, as_text, in_short, load, rows

OBJECTS = b'[{"id": 1, "tags": ["a", "b"], "at": {"x": null}}, {"id": 2, "name": "B \\"q\\""}]'


@pytest.fixture
def table():
    """Makes data a table, without the locks that would hold this process too."""

    def made(kind: str, data: bytes):
        connection = duckdb.connect(":memory:", config={"python_enable_replacements": False})
        load(connection, kind, data)
        return connection

    return made


@pytest.mark.proves("K6")
def test_what_is_nested_is_shown_as_json_and_all_else_as_it_prints(table):
    found = rows(table("json", OBJECTS), "SELECT * FROM result ORDER BY id;", 10)

    assert found == {
        "columns": ["id", "tags", "at", "name"],
        "rows": [("1", '["a","b"]', '{"x":null}', None), ("2", None, None, 'B "q"')],
        "more": False,
    }


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("jsonl", b'{"n": 1, "s": "x"}\n{"n": 2, "s": "y"}\n'),
        ("csv", b"n,s\n1,x\n2,y\n"),
        ("csv", b"n\ts\n1\tx\n2\ty\n"),
        ("csv", b'n;s\n1;"x"\n2;y\n'),
    ],
)
def test_lines_of_json_and_tables_are_rows(table, kind, data):
    found = rows(table(kind, data), "SELECT n + 1 AS m, s FROM result", 10)

    assert (found["columns"], found["rows"]) == (["m", "s"], [("2", "x"), ("3", "y")])


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'n,s\n1,"a ""b"" c"\n2,y\n', [["1", 'a "b" c'], ["2", "y"]]),
        (b'n,s\n1,"a, b"\n2,it\'s\n', [["1", "a, b"], ["2", "it's"]]),
        (b'n,s\r\n1,"a\r\nb"\r\n2,y\r\n', [["1", "a\r\nb"], ["2", "y"]]),
        (b'n,s\n1,2\n3,"x" y\n4,5,6\n', [["1", "2", None], ["3", '"x" y', None], ["4", "5", "6"]]),
    ],
)
def test_a_csv_says_what_it_says_quoted_or_not(table, data, told):
    assert [list(row) for row in rows(table("csv", data), "FROM result", 9)["rows"]] == told


def test_values_without_common_columns_are_one_column_of_json(table):
    mixed = table("json", b'[1, "two", [3], {"four": 4}]')

    found = rows(mixed, "SELECT * FROM result", 10)

    assert found["columns"] == ["json"]
    assert [row[0] for row in found["rows"]] == ["1", '"two"', "[3]", '{"four":4}']


def test_no_more_rows_come_than_were_asked_for(table):
    found = rows(table("csv", b"n\n" + b"1\n" * 30), "FROM result", 10)

    assert (len(found["rows"]), found["more"]) == (10, True)


def test_two_columns_of_one_name_stay_two(table):
    found = rows(table("json", OBJECTS), "SELECT 1 AS a, 2 AS a -- twice", 10)

    assert (found["columns"], found["rows"]) == (["a", "a"], [("1", "2")])


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; SELECT 2",
        "DROP TABLE result",
        "INSERT INTO result VALUES (1)",
        "UPDATE result SET id = 1",
        "CREATE TABLE x AS SELECT 1",
        "COPY result TO '/tmp/x'",
        "ATTACH '/tmp/x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 4",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "EXPLAIN ANALYZE SELECT 1",
        "EXPORT DATABASE '/tmp/x'",
        "",
        "-- nothing",
    ],
)
def test_only_one_query_that_reads_is_answered(table, query):
    assert rows(table("json", OBJECTS), query, 10) == {
        "error": "one query that only reads is answered: SELECT ... FROM result"
    }


def test_a_query_cannot_close_what_it_stands_in(table):
    with pytest.raises(duckdb.Error):
        rows(table("json", OBJECTS), "SELECT 1) AS q(a); DROP TABLE result; SELECT (1", 10)


def test_data_that_is_no_table_is_told():
    asked = {"format": "json", "query": "SELECT 1", "memory_bytes": 1 << 28, "seconds": 1}

    answer = answered(asked, b"[1, 2")

    assert answer["error"].startswith("the result cannot be read as a table: ")


def test_an_error_is_one_short_line():
    assert in_short(ValueError("Binder Error: no\n  such\n\nLINE 1: SELECT\n  ^")) == (
        "Binder Error: no such"
    )
    assert len(in_short(ValueError("x" * 9_000))) == 400


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("BIGINT", "CAST(c AS VARCHAR)"),
        ("VARCHAR[]", "CAST(to_json(c) AS VARCHAR)"),
        ("STRUCT(a INTEGER)", "CAST(to_json(c) AS VARCHAR)"),
        ("JSON", "CAST(to_json(c) AS VARCHAR)"),
    ],
)
def test_a_column_is_shown_by_its_type(kind, text):
    assert as_text("c", kind) == text
