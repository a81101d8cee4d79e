import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.normalise import HEAD_BYTES, is_binary
from headgate.shape.kinds import TAIL_BYTES, language_of, recognise
from headgate.types import KINDS
from tests.nasty import nasty_bytes
from tests.shape.kind_samples import SAMPLES, SOURCES

NAMED = [pytest.param(kind, text, id=f"{kind} {name}") for kind, name, text in SAMPLES]


@pytest.mark.proves("S3")
@pytest.mark.parametrize(("kind", "text"), NAMED)
def test_a_result_is_known_by_its_structure(kind, text):
    assert recognise(text.encode()) == kind


@pytest.mark.proves("S3")
@pytest.mark.parametrize(("language", "text"), SOURCES, ids=[name for name, _ in SOURCES])
def test_source_code_is_known_with_its_language(language, text):
    assert recognise(text.encode()) == "code"
    assert language_of(text.encode()) == language


def test_every_kind_has_a_sample():
    assert {kind for kind, _, _ in SAMPLES} | {"code", "binary"} == set(KINDS)


@pytest.mark.proves("S3")
@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + b"\x00" * 60 + b"/lib64/ld-linux-x86-64.so.2\x00",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00",
        bytes(range(256)) * 20,
        b"\x00" * 1_000,
    ],
)
def test_what_is_no_text_is_binary(data):
    assert recognise(data) == "binary"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m\n",
        "caf\u00e9 cr\u00e8me".encode("latin-1"),
        "привет, мир".encode("cp1251"),
        "text with a mark\n".encode("utf-16"),
        b"src/a.py\0src/gate/b.py\0tests/test_a.py\0",
        b"beep\x07 back\b\f",
    ],
)
def test_text_in_any_encoding_is_not_binary(data):
    assert not is_binary(data)


@pytest.mark.parametrize(("kind", "text"), NAMED)
def test_colour_and_line_ends_of_other_systems_hide_no_kind(kind, text):
    if kind in ("json", "jsonl", "html") or not text.strip():
        return
    coloured = "".join(f"\x1b[32m{line}\x1b[0m\r\n" for line in text.splitlines())

    assert recognise(coloured.encode()) == kind


@pytest.mark.parametrize(("language", "text"), SOURCES, ids=[name for name, _ in SOURCES])
@pytest.mark.parametrize("gutter", ["{:6}\t", "{}→", "{}: ", "{:4} | "])
def test_line_numbers_of_a_file_reader_are_looked_through(language, text, gutter):
    lines = text.splitlines()
    numbered = "\n".join(gutter.format(i) + line for i, line in enumerate(lines, 17))

    assert recognise(numbered.encode()) == "code"
    assert language_of(numbered.encode()) == language


@pytest.mark.proves("S3")
@pytest.mark.parametrize(
    "text",
    [
        "package attach\n\nimport (\n" + "".join(f'\t"lib/part{i}"\n' for i in range(60)) + ")",
        "\n".join(
            f'<p className="note">part {i}</p>' if i % 9 else "const shown = ready;"
            for i in range(60)
        ),
        "\n".join(f"set --global POSH_PART_{i} 'x'" for i in range(60)) + "\nlet part = 1",
    ],
    ids=["imports", "markup", "settings"],
)
def test_a_numbered_file_that_shows_a_little_of_a_language_is_code(text):
    numbered = "\n".join(f"{i:6}→{line}" for i, line in enumerate(text.split("\n"), 1))

    assert recognise(numbered.encode()) == "code"


@pytest.mark.proves("S3")
def test_hits_with_lines_around_them_are_known_under_a_drive_too():
    around = [rf"D:\src\kinds_test.go-{i}-	case {i}:" for i in range(117, 126)]
    hit = r"D:\src\kinds_test.go:126:	return env.On(126)"

    assert recognise("\n".join([*around, hit, "--", *around, hit]).encode()) == "search"


@pytest.mark.proves("S3")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "trace",
            "reading a.lua\n==2962==ERROR: AddressSanitizer: heap-use-after-free\n    #0 0x1",
        ),
        ("trace", "==7== Memcheck, a memory error detector\n==7== Invalid read of size 4"),
        ("trace", "Starting program: ./a\n\nProgram received signal SIGSEGV, Segmentation fault."),
        ("build", "PLAY [web] *****\n\nTASK [Gathering Facts] *****\nok: [web1]"),
        ("test", "ok 1 - opens\nok 2 - closes\nnot ok 3 - locks"),
        (
            "log",
            'openat(3, "a", O_RDONLY) = -1 ENOENT (No such file)\nclose(3) = 0\n+++ exited +++',
        ),
        ("test", "function a(b) {\nPASS: empty function\nfunction b(c) {\nFAIL: remount\n"),
        ("log", '{"ts": 1, "level": "info"}\n{"ts": 2, "level": "info"}\nTraceback\n'),
        ("build", 'insert into a values (1);\npsql:s.sql:2: ERROR:  duplicate key "a_key"\n'),
        ("markdown", "Version 3.1\n-----------\n\n-   Drop support.\n\nVersion 3.0\n-----------\n"),
        ("log", "• Ran git status\n  └ clean\n\n" + "─" * 60 + "\n\n• Done.\n\n› Explain this\n"),
    ],
    ids=[
        "sanitizer",
        "valgrind",
        "gdb",
        "ansible",
        "tap",
        "strace",
        "suite",
        "objects",
        "sql",
        "rst",
        "screen",
    ],
)
def test_what_tools_print_that_watch_others_is_known(kind, text):
    assert recognise(text.encode()) == kind


@pytest.mark.parametrize(("kind", "text"), NAMED)
def test_a_mark_at_the_start_changes_no_kind(kind, text):
    assert recognise(b"\xef\xbb\xbf" + text.encode()) == kind
    if text.strip():
        assert recognise(text.encode("utf-16")) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[2026-01-31 12:00:00] started [ok]\n[2026-01-31 12:00:01] done [ok]", "log"),
        ("{'a': 1}", "prose"),
        ('{"a": 1}\ntrailing words', "prose"),
        ("[see below]", "prose"),
        ('{"a": 1,', "prose"),
    ],
)
def test_what_only_begins_like_json_is_not(text, kind):
    assert recognise(text.encode()) == kind


def test_json_of_any_size_is_known_by_both_ends():
    data = b"[" + b",".join(b'{"id": %d}' % i for i in range(20_000)) + b"]"

    assert len(data) > HEAD_BYTES + TAIL_BYTES
    assert recognise(data) == "json"
    assert recognise(data[:-1]) != "json"


def test_no_more_is_read_than_the_ends():
    log = b"2026-01-31 12:00:00 INFO all well\n" * 4_000
    middle = b"\x00" * 100_000

    assert recognise(log[:HEAD_BYTES] + middle + log[-TAIL_BYTES:]) == "log"


def test_the_tools_name_helps_where_the_text_says_little():
    text = b"src/a.py:import os\nsrc/b.py:import re\nnothing else\n"

    assert recognise(text) == "prose"
    assert recognise(text, tool="Grep") == "search"


def test_prose_has_no_language():
    assert language_of(b"The gate is open and the water runs.\n") is None
    assert language_of(b"") is None


@pytest.mark.proves("S3")
@given(st.one_of(nasty_bytes, st.binary(max_size=400)))
def test_any_bytes_have_a_kind(data):
    assert recognise(data) in KINDS


@pytest.mark.parametrize(
    "data",
    [
        b" " * 300_000,
        b"\n" * 300_000,
        b"a" * 300_000,
        b"/" * 300_000,
        b"a:" * 150_000,
        b"#" * 300_000,
        b'"' * 300_000,
        b"1-" * 150_000,
        b"a.b-1" * 60_000 + b"\n",
        (b"x" * 239 + b"\n") * 500,
        (b"[" * 239 + b"\n") * 500,
        random.Random(1).randbytes(300_000),
    ],
    ids=lambda data: repr(data[:6]),
)
def test_hostile_texts_have_a_kind_at_once(data):
    assert recognise(data) in KINDS
    assert language_of(data) is None or is_binary(data)


def test_one_line_over_and_over_is_no_table():
    assert recognise(b"the same line again\n" * 40) == "prose"


@pytest.mark.proves("S3", "S6")
@pytest.mark.parametrize("end", ["", "\n", "\r\n\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("form", ["[{}]", '{{"rows":[{}]}}', "[NaN, {}]", "[-Infinity, {}]"])
def test_much_json_in_one_line_is_json_whatever_follows_it(form, encoding, end):
    rows = ",".join(f'{{"id":{number},"text":"some words"}}' for number in range(4_001))
    data = f"{form.format(rows)}{end}".encode(encoding)

    assert len(data) > HEAD_BYTES + TAIL_BYTES
    assert recognise(data) == "json"
