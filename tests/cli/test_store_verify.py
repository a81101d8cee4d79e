import json

import pytest

from headgate import Gate, Policy, ToolResult, tokens

LOG = b"".join(b"%d INFO step %d of the build\n" % (n, n) for n in range(3_000))


def kept(inside, content=LOG, session="default"):
    """Keep an original, and answer with its ref."""
    gate = Gate(Policy(result=tokens(300)), session=session, state=inside.state)
    [shown] = gate.admit([ToolResult.of("bash", content, call_id="call_1")])
    return shown.verdict.ref


def objects(inside, session="default"):
    return inside.state / "sessions" / session / "objects"


@pytest.mark.proves("C-store")
def test_a_sound_store_has_no_faults(inside):
    kept(inside)

    ran = inside("store", "verify")

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr == f"headgate: 0 faults, 0 left, under {inside.state}\n".encode()


@pytest.mark.proves("C-store")
def test_a_fault_is_1_until_it_is_fixed(inside):
    ref = kept(inside)
    path = objects(inside) / ref
    path.write_bytes(b"X" + path.read_bytes()[1:])

    found = inside("store", "verify")
    fixed = inside("store", "verify", "--fix")
    after = inside("store", "verify")

    assert (found.returncode, fixed.returncode, after.returncode) == (1, 0, 0)
    heading, line = found.stdout.decode().splitlines()
    assert heading.split() == ["session", "what", "where", "found"]
    assert line.split(None, 3) == ["default", "damaged", ref, "its bytes are not what was written"]
    assert "; set aside, and told to its session" in fixed.stdout.decode()
    assert b"because its file was damaged" in inside("read", ref).stderr


@pytest.mark.proves("C-store", "P9")
def test_a_ref_that_was_shown_and_leads_nowhere_gets_a_tombstone(inside):
    ref = kept(inside)
    (objects(inside) / ref).unlink()
    (inside.state / "sessions" / "default" / "index").unlink()

    [fault] = [
        json.loads(line)
        for line in inside("store", "verify", "--json").stdout.splitlines()
        if b"it was shown" in line
    ]
    inside("store", "verify", "--fix")

    assert (fault["where"], fault["fixed"]) == (ref, "")
    assert inside("store", "verify").returncode == 0
    assert f"result '{ref}' is gone: removed ".encode() in inside("read", ref).stderr


@pytest.mark.proves("C-store")
def test_one_session_can_be_looked_at_alone(inside):
    broken = kept(inside, session="Odd Name")
    kept(inside, LOG.upper(), session="b")
    [folder] = [path for path in (inside.state / "sessions").iterdir() if path.name[0] == "="]
    (folder / "objects" / broken).write_bytes(b"short")

    assert inside("store", "verify", "--session", "b").returncode == 0
    assert inside("store", "verify", "--session", "Odd Name").returncode == 1


@pytest.mark.proves("C-store")
def test_all_sessions_are_listed_with_what_they_take(inside):
    kept(inside, session="a")
    kept(inside, LOG.upper(), session="b")

    ran = inside("store", "ls", "--all")
    records = [
        json.loads(line) for line in inside("store", "ls", "--all", "--json").stdout.splitlines()
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
    assert inside("store", "ls", "--all", "--session", "a").returncode == 2


@pytest.mark.proves("C-read", "K4")
def test_a_part_is_given_back_with_a_word_on_what_is_missing(inside, monkeypatch):
    monkeypatch.setenv("HEADGATE_RETENTION", "{ result_bytes = 5000 }")
    (inside.state.parent / "build.log").write_bytes(LOG)

    trimmed = inside("trim", "--tokens", "300", str(inside.state.parent / "build.log"))
    raw = inside("read", "--last", "--raw")

    told = f"only the first 5,000 of {len(LOG):,} bytes were kept"
    assert told.encode() in trimmed.stderr
    assert b"kept up to byte 5,000, nothing after it" in trimmed.stdout
    assert (raw.returncode, raw.stdout) == (0, LOG[:5_000])
    assert raw.stderr == f"headgate: {told}\n".encode()
