import json

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.strings import chars_written, head_of, quoted, tail_of

FAMILY = "👩‍👩‍👧"
PARTS = ["a", "\r\n", "é", "e\u0301", FAMILY, "\n", "\\", '"', "\ud800", "中", " ", "u0041"]
contents = st.builds(
    lambda text, escaped: json.dumps(text, ensure_ascii=escaped)[1:-1].encode("utf-8", "replace"),
    st.lists(st.sampled_from(PARTS), max_size=40).map("".join),
    st.booleans(),
)


def said(content: bytes) -> str:
    return json.loads(b'"%b"' % content)


@given(contents, st.integers(0, 200))
def test_a_head_is_a_string_that_the_whole_begins_with(content, most):
    head = head_of(content, most)

    assert len(head) <= most or head == content
    assert content.startswith(head)
    assert said(content).startswith(said(head))


@given(contents, st.integers(0, 200))
def test_a_tail_is_a_string_that_the_whole_ends_with(content, most):
    tail = tail_of(content, most)

    assert len(tail) <= most or tail == content
    assert content.endswith(tail)
    assert said(content).endswith(said(tail))


@pytest.mark.proves("S1")
@pytest.mark.parametrize("escaped", [True, False])
def test_no_grapheme_is_cut_however_it_is_written(escaped):
    text = f"one {FAMILY} e\u0301 two \r\n{FAMILY} end"
    content = json.dumps(text, ensure_ascii=escaped)[1:-1].encode()
    boundaries = {0, *(found.end() for found in regex.finditer(r"\X", text))}

    for most in range(len(content)):
        assert len(said(head_of(content, most))) in boundaries
        assert len(text) - len(said(tail_of(content, most))) in boundaries


@given(contents)
def test_the_characters_a_string_stands_for_are_counted(content):
    assert chars_written(content) == len(said(content))


def test_a_cut_among_backslashes_leaves_pairs():
    content = b"\\\\" * 5_000

    assert [len(head_of(content, most)) for most in (5_000, 5_001, 5_002)] == [5_000, 5_000, 5_002]
    assert [len(tail_of(content, most)) for most in (5_000, 5_001, 5_002)] == [5_000, 5_000, 5_002]


def test_quoting_escapes_what_json_needs_and_nothing_else():
    assert quoted('a "b"\n…') == b'"a \\"b\\"\\n\xe2\x80\xa6"'


@pytest.mark.proves("P24", "S6")
def test_half_a_pair_of_surrogates_is_written_as_its_escape():
    assert quoted('é "\ud800') == b'"\xc3\xa9 \\"\\ud800"'
