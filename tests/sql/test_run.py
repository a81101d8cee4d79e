"""The process that answers queries, as hostile ones meet it."""

import os

import pytest

from headgate.errors import RequestError
from headgate.read.rows import Rows
from headgate.sql import run
from headgate.sql.run import run_query

DATA = b'[{"a": 1}, {"a": 2}]'


@pytest.mark.proves("K6")
def test_a_query_gives_its_rows():
    assert run_query("SELECT sum(a) AS total FROM result", "json", DATA) == Rows(
        ("total",), (("3",),), more=False
    )


@pytest.mark.proves("K6", "P24")
@pytest.mark.parametrize(
    "reach",
    [
        "read_text('{secret}')",
        "read_csv('file://{secret}')",
        "read_json('https://127.0.0.1:9/x')",
        "query('SELECT * FROM read_text(''{secret}'')')",
    ],
)
def test_no_query_reaches_beyond_its_result(tmp_path, reach):
    (tmp_path / "secret.csv").write_text("the secret\n")
    source = reach.format(secret=tmp_path / "secret.csv")

    with pytest.raises(RequestError) as caught:
        run_query(f"SELECT * FROM {source}", "json", DATA)
    assert "the secret" not in str(caught.value)
    assert str(caught.value).startswith("the query failed: ")


@pytest.mark.proves("K6", "P20")
def test_a_query_sees_nothing_of_the_environment(monkeypatch):
    monkeypatch.setenv("API_KEY", "sk-planted")
    settings = run_query("SELECT * FROM duckdb_settings()", "json", DATA)

    told = str(settings)
    assert "sk-planted" not in told
    assert os.path.expanduser("~") not in told.replace("'/'", "")


@pytest.mark.proves("K6", "P17", "P24")
@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "SELECT list(range) FROM range(100000000)",
        "SELECT string_agg(x, '') FROM (SELECT repeat('abc', 9000000) x FROM range(1000))",
    ],
)
def test_a_query_without_end_ends(monkeypatch, query):
    monkeypatch.setattr(run, "SECONDS", 1)

    with pytest.raises(RequestError, match=r"execution time|Memory|memory|out of time"):
        run_query(query, "json", DATA)


@pytest.mark.proves("P24")
@pytest.mark.parametrize(
    ("output", "code", "told"),
    [
        (b"", -9, "the query ran out of time or memory; ask for less"),
        (b"Fatal Python error", 1, "the query failed; ask for less"),
        (b'{"error": "no"}', 0, "no"),
    ],
)
def test_a_process_that_dies_is_told_in_words(output, code, told):
    with pytest.raises(RequestError) as caught:
        run._rows(output, code)
    assert str(caught.value) == told


def test_without_the_extra_its_name_is_told(monkeypatch):
    monkeypatch.setattr(run, "find_spec", lambda name: None)

    with pytest.raises(RequestError) as caught:
        run_query("SELECT 1", "json", DATA)
    assert str(caught.value) == "sql needs the 'sql' extra: pip install 'headgate[sql]'"
