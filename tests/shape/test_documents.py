import pytest

from headgate.shape.documents import headings
from tests.shape.shown import shaped

TEXT = "A line of text under its heading, long enough to take its share of the room."


def test_headings_are_ranked_by_their_level_and_comments_in_code_are_none():
    lines = ["# A", "text", "## B", "```", "# no", "```", "C", "===", "### D"]

    assert headings(lines) == [0, 6, 2, 8]


@pytest.mark.proves("S4")
def test_the_headings_of_a_document_are_shown():
    text = "\n".join(f"## Part {i}\n" + f"{TEXT}\n" * 30 for i in range(8))
    shown = shaped("markdown", text, 1_500)

    assert [line for line in shown.split("\n") if line.startswith("##")] == [
        f"## Part {i}" for i in range(8)
    ]


@pytest.mark.proves("S4")
def test_both_ends_of_prose_and_what_goes_wrong_between_are_shown():
    lines = [f"{TEXT} {i}" for i in range(500)]
    lines[250] = "ERROR: the disk of replica eu-3 is full"
    shown = shaped("prose", "\n".join(lines), 600)

    assert lines[0] in shown
    assert lines[250] in shown
    assert lines[499] in shown
