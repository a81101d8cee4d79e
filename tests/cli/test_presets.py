import json

import pytest

from headgate.policy_file import policy_from_toml
from headgate.presets import PRESETS


@pytest.mark.proves("C-presets")
def test_the_presets_are_listed_with_their_numbers(headgate):
    ran = headgate("presets")

    assert ran.returncode == 0
    heading, *rows = ran.stdout.decode().splitlines()
    assert heading.split() == ["preset", "one", "result", "a", "batch", "about"]
    assert [row.split()[0] for row in rows] == list(PRESETS)
    assert rows[0].split()[1:5] == ["8,000", "tokens", "20,000", "tokens"]


@pytest.mark.proves("C-presets")
@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_is_written_as_toml_that_reads_back_the_same(headgate, name):
    ran = headgate("presets", name)

    assert ran.returncode == 0
    assert policy_from_toml(ran.stdout.decode()) == PRESETS[name]
    assert ran.stdout.startswith(f"# {name}: ".encode())


def test_a_record_for_each_preset(headgate):
    records = [json.loads(line) for line in headgate("presets", "--json").stdout.splitlines()]

    assert [record["preset"] for record in records] == list(PRESETS)
    assert records[0]["result"] == "8,000 tokens"


@pytest.mark.proves("C-presets")
def test_a_preset_that_is_not_there_is_one_clear_line(headgate):
    ran = headgate("presets", "nope\x1b[31m")

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: no preset 'nope\\x1b[31m'; there is default")
    assert ran.stderr.count(b"\n") == 1
