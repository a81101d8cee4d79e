"""P16: doing what each answer says enumerates the whole original, in steps that fit their limit."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headgate import Gate, Policy, tokens
from headgate.normalise import normalise, only_unicode
from headgate.testing import result
from tests.promises.inputs import any_text
from tests.read.originals import (
    LEAST,
    O200K,
    meters,
    next_arguments,
    odd_bytes,
    original,
    read_on,
)

texts = any_text.map(lambda text: text.encode("utf-8", "replace"))


@pytest.mark.proves("P16", "K6")
@given(odd_bytes | texts, meters, st.integers(0, 600), st.booleans(), st.integers(1, 3_000))
@example(b"", O200K, 0, False, 64)
@example(b"\n", O200K, 0, False, 64)
@example(b"a", O200K, 0, True, 64)
@example(b"\n" * 2_000, O200K, 0, False, 64)
@example(b"a\r\n" * 500 + b"b\r", O200K, 0, True, 1)
@example("日本語👩‍👧‍👦é".encode() * 300, O200K, 0, False, 5)
@example(bytes(range(256)) * 8, O200K, 0, False, 100)
@example(b"\x1b[31m" * 500 + b"x" * 500, O200K, 0, False, 100)
def test_reading_on_gives_the_whole_in_bounded_steps(data, meter, more, exact, chunk_bytes):
    kept = original(data, exact=exact, chunk_bytes=chunk_bytes)

    whole = read_on(kept, meter=meter, limit=LEAST[meter.unit] + more)

    assert whole == (only_unicode(data) if exact else normalise(data)).decode()


@pytest.mark.proves("P16")
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_reading_on_gives_the_whole_of_a_text_in_utf_16(encoding):
    data = "\ufeff".encode(encoding) + ("Zeile äöü 日本\r\n" * 200).encode(encoding)

    assert read_on(original(data), limit=300) == "Zeile äöü 日本\n" * 200


@pytest.mark.proves("P16", "P24")
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@given(st.text("a \n\u0a1b\u0a0a\u010aé日\x1b", max_size=40), st.integers(1, 60), st.booleans())
def test_characters_of_utf_16_that_look_like_line_ends_are_read_back(encoding, text, times, exact):
    data = ("\ufeff" + text * times).encode(encoding)

    whole = read_on(original(data, exact=exact), limit=112)

    assert whole == (only_unicode(data) if exact else normalise(data)).decode()


@pytest.mark.proves("P16")
@pytest.mark.parametrize(
    "data",
    [
        b"0123456789 abcdef " * 60_000,
        "ünïcödé 日本語 👩‍👧‍👦 ".encode() * 40_000,
        b"\x1b[32mok\x1b[0m " * 100_000,
        b"".join(b"%d%%\r" % (percent % 100) for percent in range(300_000)) + b"x" * 200_000,
        b"[" + b",".join(b'{"id": %d}' % number for number in range(150_000)) + b"]",
    ],
    ids=["ascii", "unicode", "colours", "progress", "json"],
)
def test_one_line_of_megabytes_is_read_to_its_end(data):
    kept = original(data, chunk_bytes=1 << 18)

    assert len(data) > 1_000_000
    assert read_on(kept, limit=60_000) == normalise(data).decode()


@pytest.mark.proves("R15", "K6")
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_the_lines_a_marker_names_are_those_that_are_read_back(state, encoding):
    gate = Gate(Policy(result=tokens(300)))
    text = "".join(f"\u4e0a\u300a\u0a1b{number}\n" for number in range(1, 901))
    [shown] = gate.admit([result("bash", f"\ufeff{text}".encode(encoding))])
    first = int(re.search(r'lines="(\d+)-', shown.text)[1])

    answer = gate.read(shown.verdict.ref, {"lines": f"{first}-{first}"})

    assert answer.split("\n")[0] == f"\u4e0a\u300a\u0a1b{first}"
    assert f"\u4e0a\u300a\u0a1b{first}" not in shown.text.split("\n")
    assert "777: " in gate.read(shown.verdict.ref, {"search": "\u0a1b777"})


@pytest.mark.proves("P16", "P1")
def test_through_the_gate_a_shortened_result_is_read_to_its_end(state):
    gate = Gate()
    text = "".join(f"{number} {'word ' * (number * 37 % 900)}\n" for number in range(150))
    [shown] = gate.admit([result("bash", text)])
    asked, read = {"ref": shown.verdict.ref}, []
    while asked is not None:
        answer = gate.read_result("again", asked, tokens=600)
        assert not answer.is_error
        assert gate.meter.count(answer.text) <= 600
        body, _, end = answer.text.rpartition("\n")
        read.append(body if 'bytes="' in end else f"{body}\n")
        told = next_arguments(end, asked)
        asked = None if told is None else {"ref": shown.verdict.ref, **told}

    assert "".join(read) == text
    assert len(read) > 100
