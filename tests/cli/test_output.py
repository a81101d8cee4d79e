import json

from hypothesis import given
from hypothesis import strategies as st

from headgate.cli.output import one_line, say, show, show_record, show_table, visible

LIVE = [
    *(chr(code) for code in range(0x20) if chr(code) not in "\n\t"),
    *(chr(code) for code in range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *(chr(code) for code in range(0xE0000, 0xE0080)),
]


def test_nothing_that_a_terminal_obeys_is_left_live():
    for char in LIVE:
        seen = visible(f"a{char}b")

        assert seen.isascii()
        assert seen.isprintable()
        assert seen.startswith("a\\")
        assert seen.endswith("b")


def test_an_escape_names_the_character():
    assert visible("\x1b[2J\x9b\u202e\U000e0041\r") == "\\x1b[2J\\u009b\\u202e\\udb40\\udc41\\r"


def test_plain_text_in_any_script_stays_as_it_is():
    text = "one\ttwo\nZeile mit Umlauten: äöü\n日本語 \N{GRINNING FACE} e\u0301\n"

    assert visible(text) == text


def test_a_lone_surrogate_becomes_an_escape():
    assert visible("a\ud800b\udc80c") == "a\\ud800b\\x80c"


@given(st.text(st.characters()))
def test_what_is_visible_is_valid_unicode_and_stays_so(text):
    seen = visible(text)

    seen.encode()
    assert visible(seen) == seen
    assert not set(seen) & set(LIVE)


def test_one_line_is_one_line():
    assert one_line("a\nb\tc\x1b[31m\r") == "a\\nb c\\x1b[31m\\r"


def test_a_message_is_one_line_on_stderr(capfdbinary):
    say("no result 'r_\x1b]0;x\x07' here\nreally")

    seen = capfdbinary.readouterr()
    assert seen.out == b""
    assert seen.err == b"headgate: no result 'r_\\x1b]0;x\\x07' here\\nreally\n"


def test_a_text_gets_one_line_end_if_it_has_none(capfdbinary):
    show("a\nb")
    show("c\n")
    show("é\ud800")

    assert capfdbinary.readouterr().out == "a\nb\nc\né\\ud800\n".encode()


def test_a_record_is_ascii_on_one_line(capfdbinary):
    record = {"text": "é\x1b[31m\n\x7f\u202e\ud800", "ref": None}
    show_record(record)

    out = capfdbinary.readouterr().out
    assert out == (b'{"text": "\\u00e9\\u001b[31m\\n\\u007f\\u202e\\ud800", "ref": null}\n')
    assert json.loads(out) == record


def test_columns_line_up_and_numbers_end_flush(capfdbinary):
    show_table(["ref", " bytes", "tool"], [["r_a", "1,234", "x\x1b"], ["r_bcd", "5", ""]])

    assert capfdbinary.readouterr().out.decode() == (
        "ref    bytes  tool\nr_a    1,234  x\\x1b\nr_bcd      5\n"
    )
