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
