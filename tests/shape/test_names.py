import pytest

from headgate.shape.lined import NAMES_CHARS, near_ends
from headgate.shape.names import naming as named_at


def naming(lines: list[str]) -> list[int]:
    return named_at(lines, near_ends(lines, NAMES_CHARS))


@pytest.mark.parametrize(
    "name",
    [
        *("src/shell/scripts", "website/sidebars.js", "settings.json", "https://example.org/a"),
        *("per_grader_summary", "noExplicitAny", "RemediateTab", "1572", "40e2e948", "v1.2.3"),
        *("D:\\work\\file", "@scope/package"),
    ],
)
def test_a_line_that_names_something_is_found(name):
    lines = ["some words that say nothing in particular", f"it stands in {name}, they say", "more"]

    assert naming(lines) == [1]


def test_words_of_a_language_are_no_names():
    assert (
        naming(["The quick brown fox.", "It (really) jumps: high, over-eager.", "A-B 12 345"]) == []
    )


def test_a_line_that_names_much_in_few_words_comes_first():
    lines = [
        "a long sentence that says at length where settings.json can be found",
        "see a.py, b.py",
    ]

    assert naming(lines) == [1, 0]


def test_what_was_named_already_comes_last():
    lines = ["open main.py", "and main.py again", "a rather long way round to other.py at last"]

    assert naming(lines) == [0, 2, 1]


def test_of_a_long_text_the_ends_are_looked_at():
    filler = ["nothing to be seen here at all"] * (NAMES_CHARS // 5)
    lines = ["in first.py", *filler, "in middle.py", *filler, "in last.py"]

    assert sorted(naming(lines)) == [0, len(lines) - 1]
