import hashlib
import json
from pathlib import Path

import pytest

from headgate.cli.store_ls import age

LOG = b"".join(b"%d INFO step %d of the build\n" % (n, n) for n in range(3_000))


@pytest.mark.proves("C-store")
def test_what_is_kept_is_listed_oldest_first(headgate):
    headgate("trim", "--tokens", "300", "--tool", "make", stdin=LOG)
    headgate("trim", "--tokens", "300", "--tool", "gr\x1bep", stdin=LOG.upper())

    ran = headgate("store", "ls")

    heading, first, second = ran.stdout.decode().splitlines()
    assert ran.returncode == 0
    assert heading.split() == ["ref", "bytes", "lines", "age", "wanted", "tool", "call"]
    assert first.split()[1:3] == [f"{len(LOG):,}", "3,000"]
    assert first.split()[-2] == "make"
    assert second.split()[-2] == "gr\\x1bep"
    assert ran.stderr.startswith(b"headgate: 2 originals, ")


@pytest.mark.proves("C-store", "K8")
def test_the_same_content_is_listed_once(headgate):
    headgate("trim", "--tokens", "300", stdin=LOG)
    headgate("trim", "--tokens", "500", stdin=LOG)

    assert headgate("store", "ls", "--json").stdout.count(b"\n") == 1


@pytest.mark.proves("C-store")
def test_one_object_for_each_original(headgate):
    text = json.loads(headgate("trim", "--json", "--tokens", "300", stdin=LOG).stdout)

    [record] = [json.loads(line) for line in headgate("store", "ls", "--json").stdout.splitlines()]

    assert record["ref"] == text["ref"]
    assert (record["bytes"], record["lines"], record["tool"]) == (len(LOG), 3_000, "tool")
    assert record["sha256"] == hashlib.sha256(LOG).hexdigest()
    assert Path(record["file"]).read_bytes() == LOG


@pytest.mark.proves("C-store", "P14")
def test_a_session_lists_its_own(headgate):
    headgate("trim", "--tokens", "300", "--session", "a", stdin=LOG)

    assert headgate("store", "ls", "--session", "a", "--json").stdout.count(b"\n") == 1
    empty = headgate("store", "ls")
    assert (empty.returncode, empty.stdout) == (0, b"")
    assert empty.stderr.startswith(b"headgate: 0 originals, 0 B, in session 'default' under ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h"), (172_800, "2 d")],
)
def test_an_age_is_told_in_the_largest_unit_that_says_something(seconds, text):
    assert age(seconds) == text
