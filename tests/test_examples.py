"""The examples as a user runs them, offline: their model is the stand-in for the providers."""

import json
import os
import re
import runpy
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from headgate.testing import Call, Provider, Say, lines

EXAMPLES = Path(__file__).parent.parent / "examples"


KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "MODEL")


@pytest.fixture
def run(state, monkeypatch, capsys):
    """Runs an example as `python examples/…` does; gives what it printed."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)

    def run_example(example, *arguments, provider, asked="", dialect="anthropic"):
        if dialect == "anthropic":
            monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        else:
            monkeypatch.setenv("OPENAI_API_KEY", "key")
            monkeypatch.setenv("OPENAI_BASE_URL", provider.openai_url)
        monkeypatch.setattr(sys, "argv", [example, *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", StringIO(asked))
        runpy.run_path(str(EXAMPLES / example), run_name="__main__")
        return capsys.readouterr()

    return run_example


def last_result(request):
    """What the model was told last."""
    return json.dumps(request.json["messages"][-1], ensure_ascii=False)


def ref_in(text):
    return re.search(r"r_[a-z2-7]{12}", text)[0]


def test_the_page_on_frameworks_quotes_its_recipes_as_they_are():
    page = (EXAMPLES.parent / "docs" / "frameworks.md").read_text()
    quoted = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)

    recipes = sorted(path.read_text() for path in EXAMPLES.glob("frameworks/with_*.py"))
    assert len(recipes) == 5
    assert sorted(quoted) == recipes


@pytest.mark.proves("G5")
def test_the_log_investigator_finds_what_stands_in_the_middle(tmp_path, run):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "deploy.log").write_text(lines(9_000, n4700="FATAL: migration 0042 has no table users"))
    (logs / "web.log").write_text(lines(50))

    def reply(request):
        told = last_result(request)
        if "deploy.log" in told and "bytes" in told:
            return [Say("The deploy first."), Call("read_log", {"path": "deploy.log"})]
        if "omitted" in told:
            return Call("read_result", {"ref": ref_in(told), "lines": "4699-4701"})
        return "Migration 0042 expects a table users that is not there."

    with Provider(Call("list_logs"), answer=reply) as provider:
        ran = run("log_investigator.py", logs, "Why did it fail?", provider=provider)
        told = [last_result(request) for request in provider.requests]

    assert [request.status for request in provider.requests] == [200] * 4
    assert ran.out == ("The deploy first.Migration 0042 expects a table users that is not there.\n")
    assert "FATAL: migration 0042 has no table users" in told[2]
    assert "worker 4701 is fine" in told[3]
    assert "4 requests, 3 calls" in ran.err
    assert "read_log: reading deploy.log" in ran.err


@pytest.mark.proves("G5", "G3")
def test_the_repository_explorer_goes_on_where_it_was_and_is_warned(tmp_path, run):
    repository = tmp_path / "repository"
    (repository / "src").mkdir(parents=True)
    (repository / "src" / "app.py").write_text("def main():\n    return SESSIONS\n")
    same = Call("grep", {"pattern": "SESSIONS"})

    with Provider(Call("list_files"), same, same, same, "In src/app.py, line 2.") as provider:
        ran = run("repository_explorer.py", repository, asked="Where?\n", provider=provider)
        assert ran.out == "In src/app.py, line 2.\n"
        told = [last_result(request) for request in provider.requests]
        assert "src/app.py:2:    return SESSIONS" in told[2]
        assert "this is call 3 of grep in a row with the same arguments" in told[4]

        provider.script(Call("read_file", {"path": "../secret"}), "It stays inside.")
        again = run("repository_explorer.py", repository, asked="And?\n", provider=provider)
        assert again.out == "It stays inside.\n"
        assert "Where?" in json.dumps(provider.requests[-1].json)
        assert "../secret is outside of the folder" in last_result(provider.requests[-1])
        assert {request.status for request in provider.requests} == {200}


@pytest.mark.proves("G5", "K6")
def test_the_data_agent_pages_reads_by_path_and_sums(tmp_path, run):
    data = tmp_path / "data"
    data.mkdir()
    orders = [{"id": n, "customer": f"c{n % 7}", "paid": n * 10} for n in range(2_000)]
    (data / "orders.json").write_text(json.dumps(orders))
    rows = "\n".join(f"{order['id']},{order['paid']}" for order in orders)
    (data / "orders.csv").write_text(f"id,paid\n{rows}\n")
    sums = "SELECT customer, sum(paid) AS paid FROM data GROUP BY 1 ORDER BY 2 DESC LIMIT 1"

    def reply(request):
        told = last_result(request)
        if "orders.json" in told:
            return Call("load", {"path": "orders.json"})
        if "_omitted" in told or "omitted" in told:
            return Call("read_result", {"ref": ref_in(told), "path": "$[1234].paid"})
        if "12340" in told:
            return [
                Call("query", {"path": "orders.json", "sql": sums}),
                Call("query", {"path": "orders.csv", "sql": "SELECT max(paid) AS most FROM data"}),
                Call("query", {"path": "orders.csv", "sql": "ATTACH '/tmp/x' AS x"}),
            ]
        return "Customer c4 paid most."

    with Provider(Call("list_data"), answer=reply) as provider:
        question = "Who paid most?"
        ran = run("data_questions.py", data, question, provider=provider, dialect="openai-chat")
        told = [message["content"] for message in provider.requests[-1].json["messages"][-3:]]

    assert ran.out == "Customer c4 paid most.\n"
    assert {request.status for request in provider.requests} == {200}
    assert json.loads(told[0]) == [{"customer": "c4", "paid": 2_864_290}]
    assert json.loads(told[1]) == [{"most": 19_990}]
    assert "not authorized" in told[2]


def test_without_a_key_an_example_says_what_it_needs():
    environ = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "log_investigator.py"), str(EXAMPLES), "Why?"],
        capture_output=True,
        text=True,
        env=environ,
        timeout=60,
    )

    assert (ran.returncode, ran.stderr) == (1, "set ANTHROPIC_API_KEY or OPENAI_API_KEY\n")


@pytest.mark.parametrize("example", ["log_investigator", "repository_explorer", "data_questions"])
def test_a_folder_that_is_not_there_is_told_in_one_line(example, tmp_path):
    words = [str(tmp_path / "gone"), *(["Why?"] if example != "repository_explorer" else [])]

    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{example}.py"), *words], capture_output=True, text=True
    )

    assert ran.returncode == 1
    assert ran.stderr == f"{tmp_path / 'gone'} is no folder\n"
