import json

import pytest

from headgate.check import check
from headgate.dialects import DIALECTS, dialect_named
from headgate.history.repair import repair
from tests.histories import body, round_of, user

every_dialect = pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])


def mended(name, raw):
    dialect = dialect_named(name)
    repaired = repair(dialect.read(raw))
    return repaired, dialect.write(repaired.history)


@pytest.mark.proves("H1", "H5")
@every_dialect
@pytest.mark.parametrize(
    ("half", "whole"),
    [
        (b"cut \\ud83d", b"cut \\ufffd"),
        (b"\\uDE00 low", b"\\ufffd low"),
        (b"\\ud83d\\ud83d\\ude00", b"\\ufffd\\ud83d\\ude00"),
        (b"\\\\ud83d \\ud83d", b"\\\\ud83d \\ufffd"),
        (b"raw \xed\xa0\xbd", b"raw \xef\xbf\xbd"),
    ],
)
def test_failure_54_half_of_a_surrogate_pair_is_replaced_and_nothing_else_moves(name, half, whole):
    raw = body(name, user(name, "x") + round_of(name, 1, "HERE")).replace(b"HERE", half)
    assert [violation.rule for violation in check(raw, name)] == ["A22"]

    repaired, out = mended(name, raw)

    assert out == raw.replace(half, whole)
    assert repaired.counts == {"surrogate": 1}
    assert check(out, name) == []


@pytest.mark.proves("H3")
@every_dialect
@pytest.mark.parametrize(
    "text", [b"\\ud83d\\ude00", b"\\\\ud83d", b"\\\\\\\\ud800", "\ud55c\uae00 \ud7ff".encode()]
)
def test_whole_pairs_escaped_backslashes_and_hangul_are_left_alone(name, text):
    raw = body(name, user(name, "x") + round_of(name, 1, "HERE")).replace(b"HERE", text)

    repaired, out = mended(name, raw)

    assert out is raw
    assert repaired.fixes == ()


@pytest.mark.proves("H1")
def test_what_stands_beside_the_messages_is_mended_too():
    raw = b'{"system": "s \\ud800", "messages": [{"role": "user", "content": "x"}]}'

    repaired, out = mended("anthropic", raw)

    assert out == raw.replace(b"\\ud800", b"\\ufffd")
    assert [fix.where for fix in repaired.fixes] == ["system"]


@pytest.mark.proves("H3", "H4")
def test_beside_thinking_nothing_is_replaced():
    thought = {"type": "thinking", "thinking": "HERE", "signature": "s"}
    items = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [thought]}]
    raw = json.dumps(items).encode().replace(b"HERE", b"\\ud800")

    repaired, out = mended("anthropic", raw)

    assert out is raw
    assert repaired.gave_up == "half of a surrogate pair stands beside thinking"


@pytest.mark.proves("P24", "H3")
@every_dialect
@pytest.mark.parametrize("odd", [b"NaN", b"-Infinity", b"[" * 6_000 + b"]" * 6_000, b'"\xff"'])
def test_what_is_odd_but_no_half_of_a_pair_passes_as_it_came(name, odd):
    items = user(name, "x") + round_of(name, 1, "r")
    items[1]["x_unknown"] = "HERE"
    raw = body(name, items).replace(b'"HERE"', odd)

    repaired, out = mended(name, raw)

    assert out is raw
    assert repaired.fixes == ()


@pytest.mark.proves("P24", "H1")
@every_dialect
@pytest.mark.parametrize("odd", [b"NaN", b"[" * 6_000 + b"]" * 6_000, b'"\xff"'])
def test_beside_what_is_odd_the_rest_is_repaired(name, odd):
    items = user(name, "x") + round_of(name, 1, "r")[:1] + user(name, "y")
    items[1]["x_unknown"] = "HERE"
    raw = body(name, items).replace(b'"HERE"', odd)

    repaired, out = mended(name, raw)

    assert repaired.counts["missing"] == 1
    assert odd in out
    assert check(out.replace(odd, b"1"), name) == []
