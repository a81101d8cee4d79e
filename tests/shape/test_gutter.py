"""Line numbers before lines."""

import pytest

from headgate.shape.gutter import has_gutter, unpadded, without_gutter

READ = ["     8→import os", "     9→", "    10→def run():", "    11→    return 1 → 2"]


def test_numbers_that_go_on_by_one_are_a_gutter():
    assert has_gutter([line.encode() for line in READ])
    assert has_gutter([b"8\tuse", b"9\tmod", b"10\tfn"])


@pytest.mark.parametrize(
    "lines",
    [
        [b"import os", b"8: x", b"9: y"],
        [b"  80: http", b"  443: https", b"  22: ssh"],
        [b"3|a", b"2|b", b"1|c"],
        [b"1\ta", b"2\tb"],
        [],
    ],
    ids=["few", "keys", "backwards", "short", "none"],
)
def test_other_numbers_are_none(lines):
    assert not has_gutter(lines)


def test_the_spaces_before_the_numbers_go_and_nothing_else():
    note = "   <note>unchanged   </note>"
    assert unpadded([*READ, "", note]) == [
        "8→import os",
        "9→",
        "10→def run():",
        "11→    return 1 → 2",
        "",
        note,
    ]


def test_a_text_without_numbers_stays_as_it_is():
    yaml = ["ports:", "  80: http", "  443: https"]
    assert unpadded(yaml) is yaml
    assert without_gutter(yaml) is yaml


def test_without_numbers_each_line_is_as_it_was_in_its_file():
    assert without_gutter(READ) == ["import os", "", "def run():", "    return 1 → 2"]
