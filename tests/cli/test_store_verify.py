import json

import pytest

LOG = b"".join(b"%d INFO step %d of the build\n" % (n, n) for n in range(3_000))


def kept(headgate, content=LOG, session="default"):
    words = ["--tokens", "300", "--session", session]
    return json.loads(headgate("trim", "--json", *words, stdin=content).stdout)["ref"]


def objects(headgate, session="default"):
    return headgate.state / "sessions" / session / "objects"


@pytest.mark.proves("C-store")
def test_a_sound_store_has_no_faults(headgate):
    kept(headgate)

    ran = headgate("store", "verify")

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr == f"headgate: 0 faults, 0 left, under {headgate.state}\n".encode()


@pytest.mark.proves("C-store")
def test_a_fault_is_1_until_it_is_fixed(headgate):
    ref = kept(headgate)
    path = objects(headgate) / ref
    path.write_bytes(b"X" + path.read_bytes()[1:])

    found = headgate("store", "verify")
    fixed = headgate("store", "verify", "--fix")
    after = headgate("store", "verify")

    assert (found.returncode, fixed.returncode, after.returncode) == (1, 0, 0)
    heading, line = found.stdout.decode().splitlines()
    assert heading.split() == ["session", "what", "where", "found"]
    assert line.split(None, 3) == ["default", "damaged", ref, "its bytes are not what was written"]
    assert "; set aside, and told to its session" in fixed.stdout.decode()
    assert b"because its file was damaged" in headgate("read", ref).stderr


@pytest.mark.proves("C-store", "P9")
def test_a_ref_that_was_shown_and_leads_nowhere_gets_a_tombstone(headgate):
    ref = kept(headgate)
    (objects(headgate) / ref).unlink()
    (headgate.state / "sessions" / "default" / "index").unlink()

    [fault] = [
        json.loads(line)
        for line in headgate("store", "verify", "--json").stdout.splitlines()
        if b"it was shown" in line
    ]
    headgate("store", "verify", "--fix")

    assert (fault["where"], fault["fixed"]) == (ref, "")
    assert headgate("store", "verify").returncode == 0
    assert f"result '{ref}' is gone: removed ".encode() in headgate("read", ref).stderr


@pytest.mark.proves("C-store")
def test_one_session_can_be_looked_at_alone(headgate):
    broken = kept(headgate, session="Odd Name")
    kept(headgate, LOG.upper(), session="b")
    [folder] = [path for path in (headgate.state / "sessions").iterdir() if path.name[0] == "="]
    (folder / "objects" / broken).write_bytes(b"short")

    assert headgate("store", "verify", "--session", "b").returncode == 0
    assert headgate("store", "verify", "--session", "Odd Name").returncode == 1


@pytest.mark.proves("C-store")
def test_all_sessions_are_listed_with_what_they_take(headgate):
    kept(headgate, session="a")
    kept(headgate, LOG.upper(), session="b")

    ran = headgate("store", "ls", "--all")
    records = [
        json.loads(line) for line in headgate("store", "ls", "--all", "--json").stdout.splitlines()
    ]

    heading, first, second = ran.stdout.decode().splitlines()
    assert heading.split("  ")[0] == "session"
    assert first.split()[:3] == ["a", "1", f"{len(LOG):,}"]
    assert second.split()[:3] == ["b", "1", f"{len(LOG):,}"]
    assert ran.stderr.startswith(b"headgate: 2 sessions, 2 originals, ")
    assert [(one["session"], one["originals"], one["bytes"]) for one in records] == [
        ("a", 1, len(LOG)),
        ("b", 1, len(LOG)),
    ]
    assert headgate("store", "ls", "--all", "--session", "a").returncode == 2
