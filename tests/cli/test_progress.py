import os
import pty
import subprocess
import sys

import pytest

from headgate.cli.progress import Progress, size


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (12_345_678, "12.3 MB"),
        (2_000_000_000, "2.00 GB"),
        (1_234_000_000_000, "1,234.00 GB"),
    ],
)
def test_bytes_are_told_as_a_person_reads_them(count, text):
    assert size(count) == text


def test_the_line_tells_how_much_and_how_fast():
    progress = Progress()
    progress.add(b"x" * 3_000_000)

    assert progress.line(2.0) == "headgate: 3.0 MB, 1.5 MB/s"


def test_nothing_is_shown_where_stderr_is_no_terminal(capfdbinary):
    with Progress(count_lines=True) as progress:
        assert list(progress.watching(iter([b"a\n", b"b\n"]))) == [b"a\n", b"b\n"]
        progress.tick()

    assert capfdbinary.readouterr() == (b"", b"")


SHOWN = """
import itertools
from headgate.cli.progress import Progress

ticks = itertools.count(0, 0.3)
with Progress(count_lines=True, clock=lambda: next(ticks)) as progress:
    for _ in range(7):
        progress.add(b"a\\nb\\n" * 1000)
print("done")
"""


def test_a_terminal_sees_the_line_after_a_second_and_no_trace_of_it_at_the_end():
    ours, theirs = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", SHOWN], stdout=subprocess.PIPE, stderr=theirs, timeout=20
    )
    seen = os.read(ours, 4096).decode()
    os.close(ours)
    os.close(theirs)

    lines = seen.split("\r\x1b[K")
    assert ran.stdout == b"done\n"
    assert lines == [
        "",
        "headgate: 16.0 kB, 8,000 lines, 1 s",
        "headgate: 20.0 kB, 10,000 lines, 2 s",
        "headgate: 24.0 kB, 12,000 lines, 2 s",
        "headgate: 28.0 kB, 14,000 lines, 2 s",
        "",
    ]
