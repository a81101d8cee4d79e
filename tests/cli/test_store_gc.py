import json
from argparse import ArgumentTypeError

import pytest

from headgate.cli.store_gc import seconds, size_bytes
from tests.cli.test_store_verify import LOG, kept


@pytest.fixture
def gc(inside, monkeypatch):
    """Runs it where nothing is live for long."""

    def ran(*words, retention="{ age_s = 86400, live_s = 0 }"):
        monkeypatch.setenv("HEADGATE_RETENTION", retention)
        done = inside("store", "gc", "--json", *words)
        monkeypatch.delenv("HEADGATE_RETENTION")
        assert done.returncode == 0, done.stderr
        *deeds, summary = [json.loads(line) for line in done.stdout.splitlines()]
        return deeds, summary

    return ran


@pytest.mark.proves("C-store", "K4")
def test_what_is_not_used_for_longer_than_was_asked_goes_and_leaves_a_tombstone(inside):
    ref = kept(inside, LOG)

    ran = inside("store", "gc", "--older-than", "0s")

    heading, line = ran.stdout.decode().splitlines()
    assert heading.split() == ["session", "ref", "bytes", "unused", "what"]
    assert line.split()[:3] == ["default", ref, f"{len(LOG):,}"]
    assert line.endswith("removed: it was not used for longer than results are kept")
    assert b"1 removed, 0 compressed, " in ran.stderr
    read = inside("read", ref)
    assert (read.returncode, read.stdout) == (1, b"")
    assert f"result '{ref}' is gone: removed ".encode() in read.stderr
    assert read.stderr.endswith(b"; run the tool again to get it back\n")


@pytest.mark.proves("C-store", "K10")
def test_what_is_left_over_is_compressed_and_reads_back_the_same(inside, gc):
    ref = kept(inside, LOG)

    [deed], summary = gc()

    assert (deed["ref"], deed["bytes"]) == (ref, len(LOG))
    assert deed["after_bytes"] < len(LOG) / 2
    assert deed["what"].startswith("compressed to ")
    assert summary == {
        "removed": 0,
        "compressed": 1,
        "freed_bytes": len(LOG) - deed["after_bytes"],
        "left": 1,
        "left_bytes": deed["after_bytes"],
        "dry_run": False,
    }
    assert inside("read", ref, "--raw").stdout == LOG
    assert gc()[1]["compressed"] == 0


@pytest.mark.proves("C-store", "K4")
def test_a_dry_run_says_what_would_go_and_leaves_it(inside, gc):
    ref = kept(inside, LOG)

    deeds, summary = gc("--dry-run", "--older-than", "0s")

    assert [deed["ref"] for deed in deeds] == [ref]
    assert (summary["removed"], summary["dry_run"]) == (1, True)
    assert inside("read", ref).returncode == 0


@pytest.mark.proves("C-store", "K4")
def test_the_total_holds_over_all_sessions_and_the_newest_stay(inside, gc):
    first = kept(inside, LOG, session="a")
    second = kept(inside, LOG.upper(), session="b")

    deeds, summary = gc("--total", "120kB", "--no-compress", retention="{}")

    assert [(deed["session"], deed["ref"]) for deed in deeds] == [("a", first)]
    assert deeds[0]["what"] == "removed: there was more than is kept in all"
    assert (summary["left"], summary["left_bytes"]) == (1, len(LOG))
    assert inside("read", second, "--session", "b").returncode == 0


@pytest.mark.proves("C-store")
def test_without_anything_kept_there_is_nothing_to_do(inside):
    ran = inside("store", "gc")

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr.startswith(b"headgate: nothing is kept under ")
    assert not inside.state.exists()


@pytest.mark.parametrize(
    ("value", "found"), [("45s", 45), ("10 min", 600), ("12h", 43_200), ("7d", 604_800)]
)
def test_an_age_is_a_number_and_a_unit(value, found):
    assert seconds(value) == found


@pytest.mark.parametrize(
    ("value", "found"), [("100", 100), ("5 B", 5), ("2kB", 2_000), ("3GB", 3_000_000_000)]
)
def test_a_size_is_a_number_and_a_unit(value, found):
    assert size_bytes(value) == found


@pytest.mark.parametrize("value", ["", "7", "h", "-1h", "7 w", "1e9s"])
def test_what_is_no_age_is_refused(value):
    with pytest.raises(ArgumentTypeError, match="it takes a number and s, min, h or d"):
        seconds(value)


@pytest.mark.parametrize("value", ["", "GB", "0", "-1", "2gb", "1.5GB"])
def test_what_is_no_size_is_refused(value):
    with pytest.raises(ArgumentTypeError, match="it takes a number and kB, MB, GB or TB"):
        size_bytes(value)
