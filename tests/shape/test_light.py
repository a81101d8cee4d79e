import pytest

from headgate.shape.light import lit
from headgate.shape.sketch import Found

LINES = """compiling a
compiling b
b.c:4: error: no such thing
    in function f
    in function g

compiling c
compiling d
make: *** [all] Error 2
cleaning up
""".splitlines()


def text_of(number):
    return LINES[number - 1] if 0 < number <= len(LINES) else None


def found(number, score, *, is_end=False):
    return Found(number, LINES[number - 1].encode(), 0, score, is_end)


@pytest.mark.proves("S4")
def test_light_fades_from_line_to_line_and_less_into_what_is_indented():
    lights = lit([found(3, 8.0)], text_of, len(LINES))

    assert lights[3] > lights[4] > lights[5] > lights[7]
    assert lights[4] > lights[2]


@pytest.mark.proves("S4")
def test_what_stands_far_from_everything_is_dark():
    lights = lit([found(3, 1.2)], text_of, len(LINES))

    assert 9 not in lights
    assert 10 not in lights


@pytest.mark.proves("S4")
def test_a_command_that_failed_lights_up_all_that_stands_before_it():
    lights = lit([found(9, 1.0, is_end=True)], text_of, len(LINES))

    assert set(lights) >= set(range(1, 10))
    assert lights[8] > lights[1]


@pytest.mark.proves("S4")
def test_the_first_failed_command_shines_brighter_than_those_after_it():
    first = lit([found(3, 1.0, is_end=True), found(9, 1.0, is_end=True)], text_of, len(LINES))
    last = lit([found(9, 1.0, is_end=True)], text_of, len(LINES))

    assert first[2] > first[8]
    assert first[2] > last[2]


@pytest.mark.proves("S4")
def test_no_light_goes_where_no_text_is_at_hand():
    lights = lit([found(3, 8.0)], lambda number: text_of(number) if number < 5 else None, 10)

    assert set(lights) == {1, 2, 3, 4}


@pytest.mark.proves("S4")
def test_nothing_that_stands_out_means_no_light():
    assert lit([], text_of, len(LINES)) == {}


@pytest.mark.proves("S4")
def test_light_goes_further_into_what_stands_deeper_than_into_what_stands_beside_it():
    lines = ["suite", "  adds (FAILED)", "  takes", "    got 3", "  adds (FAILED)", "    got 3"]
    anchors = [Found(2, b"  adds (FAILED)", 0, 8.0), Found(5, b"  adds (FAILED)", 0, 8.0)]
    lights = lit(anchors[:1], lambda n: lines[n - 1] if 0 < n <= 3 else None, len(lines))
    below = lit(anchors[1:], lambda n: lines[n - 1] if 4 < n <= 6 else None, len(lines))

    assert lights[3] < 8.0 * 0.85 < 8.0 * 0.85 * 1.05 < below[6]


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    ("well", "plainly"),
    [
        ("  ✓ adds", "  adds"),
        ("a.py::test_b PASSED   [ 66%]", "a.py::test_b [ 66%]"),
        ("test a::b ... ok", "test a::b"),
        ("[       OK ] Cart.Adds", "[ Cart.Adds ]"),
        ("ok 12 - adds", "12 - adds"),
        ("lists: reverse...ok", "lists: reverse"),
    ],
)
def test_a_test_that_went_well_takes_the_light_of_one_that_failed(well, plainly):
    lines = [" FAIL  cart.test.js", well, well, "    Expected: 3"]
    plain = [" FAIL  cart.test.js", plainly, plainly, "    Expected: 3"]
    anchor = Found(1, b" FAIL  cart.test.js", 0, 11.0)

    shaded = lit([anchor], lambda n: lines[n - 1] if 0 < n <= 4 else None, 4)
    bright = lit([anchor], lambda n: plain[n - 1] if 0 < n <= 4 else None, 4)

    assert shaded[3] < bright[3] / 2


@pytest.mark.parametrize("detail", ["DEBUG cache is warm", "  --- PASS: TestErrors", "t_a PASSED"])
def test_a_line_of_details_keeps_little_of_the_light_that_falls_on_it(detail):
    def light_on(beside):
        lines = ["ERROR: it failed", beside]
        error = Found(1, lines[0].encode(), 0, 20.0, False)
        return lit([error], lambda n: lines[n - 1] if 0 < n <= 2 else None, 2)[2]

    assert light_on(detail) < 0.5 * light_on("x" * len(detail))


def before_an_end(*lines):
    """The light on each line that stands before one that says that a command failed."""
    texts = [*lines, "exit code 1"]
    end = Found(len(texts), b"exit code 1", 0, 1.0, is_end=True)
    lights = lit([end], lambda n: texts[n - 1] if 0 < n <= len(texts) else None, len(texts))
    return [lights[number] for number in range(1, len(texts))]


@pytest.mark.proves("S4")
@pytest.mark.parametrize("beside", ["a.c:4: warning: unused b", "  ⚠ no units in a", "note: see b"])
def test_a_warning_has_little_of_the_light_from_a_command_that_failed(beside):
    plain, dim = before_an_end("x" * len(beside), beside)

    assert dim < plain / 2


@pytest.mark.proves("S4")
def test_what_a_compiler_quotes_is_as_dim_as_what_it_says_above():
    warned = before_an_end("a.c:4: warning: unused b", "    4 |   int b;", "      |       ^")
    failed = before_an_end("a.c:4: error: unknown b", "    4 |   int b;", "      |       ^")

    assert all(dim < bright / 2 for dim, bright in zip(warned, failed, strict=True))


@pytest.mark.proves("S4")
def test_how_a_command_is_used_is_not_why_it_failed():
    usage = ["  --omit <dev|peer>", "  --force", "    without asking", "  -g, --global"]
    first, *options, last = before_an_end("the lock file is out of date", *usage, "and so it ends")

    assert max(options) < min(first, last) / 2


@pytest.mark.proves("S4")
def test_of_lines_that_say_the_same_one_keeps_its_light():
    lines = ["npm warn Unknown env config: x", "other words", "npm warn Unknown env config: x"]
    first, _, again = before_an_end(*lines)

    assert first < again / 1.5
