import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.shape.code import CODE
from headgate.types import Query
from tests.shape.shown import O200K, lines_of, missing, shaped

BODY = [f"    total = total + values[{i}] * weights[{i}]" for i in range(12)]


def module(count: int) -> str:
    lines = ["import os", "from sys import argv", ""]
    for i in range(count):
        lines += [
            f"def function_{i}(values, weights):",
            "    total = 0",
            *BODY,
            "    return total",
            "",
        ]
    return "\n".join(lines)


@pytest.mark.proves("S10")
def test_imports_and_signatures_are_shown_before_bodies():
    shown = shaped("code", module(20), 1_000)

    assert shown.split("\n")[1:3] == ["import os", "from sys import argv"]
    assert all(f"def function_{i}(values, weights):" in shown for i in range(20))


@pytest.mark.proves("S10")
def test_a_body_left_out_says_so_in_its_place():
    lines = shaped("code", module(20), 1_000).split("\n")
    place = lines.index("def function_9(values, weights):")

    assert lines[place + 1] == "[lines 149-163 omitted #k7q2]"


@pytest.mark.proves("S10")
def test_lines_of_an_outline_that_stand_together_take_no_room_for_gaps():
    imports = "\n".join(f"import package_{i}" for i in range(40))
    shown = shaped("code", f"{imports}\n{module(20)}", 1_600)

    assert all(f"import package_{i}\n" in shown for i in range(40))
    assert all(f"def function_{i}(values, weights):" in shown for i in range(20))


def test_line_numbers_are_shown_without_the_spaces_before_them():
    numbered = "\n".join(f"{i:6}→{line}" for i, line in enumerate(module(20).split("\n"), 1))
    lines = lines_of(shaped("code", numbered, 1_000))

    assert lines[:2] == ["1→import os", "2→from sys import argv"]
    assert "4→def function_0(values, weights):" in lines
    assert "6→" + BODY[0] in lines


def test_numbered_lines_that_fit_without_those_spaces_are_all_there():
    numbered = "\n".join(f"{i:6}→{line}" for i, line in enumerate(module(5).split("\n"), 1))
    bare = "\n".join(line.lstrip(" ") for line in numbered.split("\n"))

    assert shaped("code", numbered, O200K.count(numbered) - 40) == bare


@pytest.mark.proves("S4", "S10")
def test_what_the_query_points_at_is_shown_with_what_is_around_it():
    text = module(40).replace("    total = 0", "    total = start_of_ledger()", 1)
    text = module(20) + text
    shown = shaped("code", text, 600, "start_of_ledger")

    assert "def function_0(values, weights):\n    total = start_of_ledger()\n" + BODY[0] in shown


@pytest.mark.proves("S4", "S10")
def test_a_definition_that_the_query_names_is_shown_whole():
    body = "def rate(values):\n" + "\n".join(f"    values[{i}] += {i}" for i in range(30))
    shown = shaped("code", f"{module(40)}\n{body}\n\n{module(40)}", 900, "rate")

    assert body in shown


def test_a_short_definition_is_shown_whole_if_its_first_line_is_what_was_looked_for():
    short = "def rounded(price_of_ledger):\n" + "\n".join(f"    price += {i}" for i in range(15))
    shown = shaped("code", f"{module(40)}\n{short}\n\n{module(40)}", 600, "price_of_ledger")

    assert short in shown


def test_a_name_of_many_definitions_names_none_of_them():
    lines = ["def load(x):", "    return x", "", "def rate(y):", "    return y", ""]
    focus = CODE.focus
    assert focus is not None

    assert focus([*lines] * 4, dict.fromkeys((1, *range(24)), 1.0), Query(("load",))) == []
    assert focus([*lines] * 2, dict.fromkeys((1, *range(12)), 1.0), Query(("load",))) == [
        range(2),
        range(6, 8),
    ]


@pytest.mark.proves("S4", "S8")
@settings(max_examples=settings.default.max_examples // 8)
@given(st.integers(5, 40), st.integers(300, 1_500))
def test_gaps_name_exactly_the_lines_that_are_missing(count, limit):
    numbered = [f"{line}  # {i}" for i, line in enumerate(module(count).split("\n"), 1)]
    shown = shaped("code", "\n".join(numbered), limit)
    numbers = [int(line.rpartition("# ")[2]) for line in lines_of(shown)]

    assert numbers == sorted(numbers)
    if shown.startswith("["):
        assert missing(shown) == {*range(1, len(numbered) + 1)} - {*numbers}
        assert limit * 0.9 <= O200K.count(shown)
