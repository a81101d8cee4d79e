import pytest

from headgate.shape.code import CODE
from headgate.shape.documents import PROSE, headings
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


@pytest.mark.proves("S4")
def test_what_a_line_stands_under_is_shown_with_it():
    entries = [
        line
        for i in range(60)
        for line in [f"Version 9.{i}", "", *(f"    fixed part {n} of {i}" for n in range(20))]
    ]
    entries[22 * 30 + 15] = "    fixed CVE-2025-32728 of the forwarding"
    shown = shaped("prose", "\n".join(entries), 400, "cve-2025-32728")

    assert "    fixed CVE-2025-32728 of the forwarding" in shown
    assert "\nVersion 9.30\n" in shown


@pytest.mark.proves("S4")
def test_a_question_gets_more_room_for_its_answer_than_a_long_task():
    lines = [f"{TEXT} {i} in src/part_{i}/file_{i}.py" for i in range(300)]
    for i in range(100, 124):
        lines[i] = f"The replica of shard {i} answers late, and nobody knows for how long."
    text = "\n".join(lines)
    task = [f"word{i}" for i in range(20)]

    def answered(*words: str) -> int:
        return shaped("prose", text, 700, *words).count("The replica of shard")

    assert answered("replica") > answered("replica", *task)


def test_a_question_shows_fewer_lines_around_each_place_but_never_next_to_none():
    assert (CODE.near, CODE.for_a_question().near) == (14, 8)
    assert (PROSE.near, PROSE.for_a_question().near) == (3, 3)
