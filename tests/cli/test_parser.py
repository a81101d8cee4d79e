from argparse import ArgumentTypeError

import pytest

from headgate.cli.output import CommandError
from headgate.cli.parser import Parser, limit, number, session, word


def parser():
    made = Parser("trim", usage="[--tokens N]", says="Show it.\n", examples="  headgate trim x\n")
    made.add_tokens()
    made.add_session()
    return made


@pytest.mark.parametrize(
    "value",
    ["0", "-1", "-500", "127", "1e3", "1_000", "12.5", "abc", "", " 200", "２００", "9" * 5000],
)
def test_a_limit_is_plain_digits_and_leaves_the_marker_its_room(value):
    with pytest.raises(
        ArgumentTypeError, match="it takes a whole number from 128 to 1,000,000,000"
    ):
        limit("tokens")(value)


def test_the_smallest_limits_are_those_of_a_policy():
    assert limit("tokens")("128") == 128
    assert limit("chars")("512") == 512
    with pytest.raises(ArgumentTypeError):
        limit("chars")("511")


def test_a_number_may_not_be_more_than_anybody_needs():
    assert number("1000000000", 1) == 1_000_000_000
    with pytest.raises(ArgumentTypeError):
        number("1000000001", 1)


@pytest.mark.parametrize("name", ["", "a\nb", "a\x1b[31m", "x" * 129])
def test_a_session_is_named_in_printable_characters(name):
    with pytest.raises(ArgumentTypeError, match="1 to 128 printable characters"):
        session(name)


def test_one_of_a_few_words_is_told_which_there_are():
    assert word("json", "log")("log") == "log"
    with pytest.raises(ArgumentTypeError, match="'lag'; it is one of json, log"):
        word("json", "log")("lag")


def test_what_cannot_be_read_is_one_line_that_says_where_to_look():
    with pytest.raises(CommandError) as raised:
        parser().parse_args(["--tokens", "abc"])

    assert str(raised.value) == (
        "--tokens: 'abc'; it takes a whole number from 128 to 1,000,000,000; "
        "see headgate trim --help"
    )


def test_an_option_is_never_guessed_from_its_start():
    with pytest.raises(CommandError, match="unrecognized arguments: --tok=500"):
        parser().parse_args(["--tok=500"])


def test_help_goes_to_stdout_with_its_examples(capfdbinary):
    with pytest.raises(SystemExit) as raised:
        parser().parse_args(["--help"])

    assert raised.value.code == 0
    assert capfdbinary.readouterr().out.startswith(
        b"usage: headgate trim [--tokens N]\n\nShow it.\n"
    )
    assert parser().format_help().endswith("examples:\n  headgate trim x\n")
