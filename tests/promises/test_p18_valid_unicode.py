import json
import random
import unicodedata
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Policy, ToolResult, tokens
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.normalise import Normaliser, normalise, only_unicode
from headgate.policy import Keep
from headgate.presets import PRESETS
from headgate.types import Kind
from tests.nasty import nasty_bytes

BIDI = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), *"\u200e\u200f\u061c"}


def has_raw_controls(text: str) -> bool:
    return any(
        (unicodedata.category(char) == "Cc" and char not in "\t\n")
        or char in BIDI
        or 0xE0000 <= ord(char) <= 0xE007F
        for char in text
    )


@pytest.mark.proves("P18")
@given(st.one_of(nasty_bytes, st.binary(max_size=300)))
def test_any_bytes_are_normalised_to_valid_unicode_without_raw_controls(data):
    assert not has_raw_controls(normalise(data).decode())


@pytest.mark.proves("P18")
@given(st.text(st.characters(), max_size=200))
def test_any_text_is_normalised_to_valid_unicode_without_raw_controls(text):
    assert not has_raw_controls(normalise(text.encode("utf-8", "surrogatepass")).decode())


@pytest.mark.proves("P18")
@given(st.lists(st.binary(max_size=20), max_size=20))
def test_every_stream_of_chunks_is_normalised_to_valid_unicode(chunks):
    normaliser = Normaliser()

    seen = b"".join(map(normaliser.feed, chunks)) + normaliser.close()

    assert not has_raw_controls(seen.decode())


@pytest.mark.proves("P18", "0.4")
@given(st.one_of(nasty_bytes, st.binary(max_size=300)))
def test_a_text_to_be_edited_is_valid_unicode(data):
    valid = only_unicode(data)

    assert valid.decode().encode() == valid


POLICIES = [
    *PRESETS.values(),
    *(Policy(result=tokens(128), batch=None, keep=keep) for keep in get_args(Keep)),
]


def seen_of(data: bytes, policy: Policy, kind: Kind | None = None) -> str:
    desk = Desk(policy, meter_for(policy.vocab, policy.unit), bytes(32), "default")
    result = ToolResult.of("bash", data, call_id="call_1", kind=kind)
    [verdict] = plan_batch([result], Ledger(None), desk, NO_OVERRIDES).verdicts
    return data.decode() if verdict.text is None else verdict.text


@pytest.mark.proves("P18")
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.keep)
@pytest.mark.parametrize("size", [1_000, 200_000])
@pytest.mark.parametrize("kind", [None, "log", "csv", "json", "binary"])
def test_binary_data_is_shown_without_raw_controls_whatever_the_policy_keeps(policy, size, kind):
    data = random.Random(size).randbytes(size)

    assert not has_raw_controls(seen_of(data, policy, kind))


@pytest.mark.proves("P18")
@given(st.one_of(nasty_bytes, st.binary(max_size=300)), st.sampled_from(POLICIES))
def test_whatever_comes_in_is_shown_without_raw_controls(data, policy):
    assert not has_raw_controls(seen_of(data * 20, policy))


INTRODUCERS = "\x90\x98\x9b\x9d\x9e\x9f"
"""Characters that begin a control sequence, which is taken out."""

json_texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=INTRODUCERS), max_size=30),
    st.sampled_from(["[9 lines omitted #k7q2]", "\x85 \x7f", "\U000e0041", "\ufe0f\ufe0e"]),
)


@pytest.mark.proves("R4", "S6")
@given(
    st.recursive(
        json_texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(json_texts, inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_that_is_made_readable_is_still_the_same_json(value):
    written = json.dumps(value, ensure_ascii=False)

    assert json.loads(normalise(written.encode())) == value
