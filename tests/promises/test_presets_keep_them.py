"""The promises hold under every preset, whatever its form."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Media, Text, ToolResult
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.presets import PRESETS
from headgate.testing import BadStore, lines
from headgate.types import Amount
from tests.histories import body, round_of, user
from tests.nasty import nasty_bytes

NAMES = list(PRESETS)
TIGHT = {
    name: policy.replace(result=Amount(policy.minimum * 3, policy.unit))
    for name, policy in PRESETS.items()
}
"""The same forms with limits that small texts exceed."""

texts = st.one_of(
    nasty_bytes.map(lambda data: data * 40),
    st.integers(0, 400).map(lambda count: lines(count).encode()),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=200),
        lambda inner: st.lists(inner, max_size=60) | st.dictionaries(st.text(), inner),
        max_leaves=60,
    ).map(lambda value: json.dumps(value).encode()),
)


def desk_of(policy):
    meter = meter_for(policy.vocab, policy.unit)
    return Desk(policy, meter, bytes(32), "s", lambda ref, call_id: f"/files/{ref}.txt")


def planned(policy, contents, tool="fetch", ledger=None):
    batch = [ToolResult.of(tool, data, call_id=f"c{n}") for n, data in enumerate(contents)]
    return plan_batch(batch, ledger or Ledger(None), desk_of(policy), NO_OVERRIDES)


@pytest.mark.proves("P2", "P18", "R10")
@pytest.mark.parametrize("name", NAMES)
@given(texts)
@settings(max_examples=settings.default.max_examples // 5)
def test_nothing_shortened_exceeds_its_limit_and_all_is_valid(name, data):
    policy = TIGHT[name]

    [verdict] = planned(policy, [data]).verdicts

    most = min(verdict.limit.count, policy.batch_count or verdict.limit.count)
    assert verdict.after.of(policy.unit) + policy.block_overhead <= most
    if verdict.text is not None:
        verdict.text.encode()
        assert not any(ord(char) < 32 and char not in "\t\n" for char in verdict.text)


@pytest.mark.proves("P3")
@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.integers(0, 300_000), min_size=1, max_size=14))
@settings(max_examples=settings.default.max_examples // 10)
def test_a_batch_keeps_to_its_budget(name, sizes):
    policy = PRESETS[name]
    plan = planned(policy, [("word " * (size // 5 + 1))[:size].encode() for size in sizes])

    if plan.budget is not None:
        spent = [v.after.of(policy.unit) + policy.block_overhead for v in plan.verdicts]
        assert sum(spent) <= plan.budget


@pytest.mark.proves("P3")
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_many_small_results_keeps_to_its_budget(name):
    policy = PRESETS[name]
    plan = planned(policy, [b"word " * 500] * 120)

    if plan.budget is not None:
        spent = [v.after.of(policy.unit) + policy.block_overhead for v in plan.verdicts]
        assert sum(spent) <= plan.budget


@pytest.mark.proves("P1", "0.5", "K1")
@pytest.mark.parametrize("name", NAMES)
@given(texts)
@settings(max_examples=settings.default.max_examples // 20)
def test_every_original_reads_back(tmp_path_factory, name, data):
    gate = Gate(TIGHT[name], state=tmp_path_factory.mktemp("state"), session="s")

    [shown] = gate.admit([ToolResult.of("fetch", data, call_id="c1")])

    if shown.verdict.text is not None and data.strip():
        assert gate.original(shown.verdict.ref) == data


@pytest.mark.proves("P4", "R14")
@pytest.mark.parametrize("name", NAMES)
def test_what_was_sent_once_is_sent_again(state, name):
    history = user("anthropic", "go") + round_of("anthropic", 1, lines(5_000), lines(300))
    gates = [Gate(PRESETS[name], state=state, session="s") for _ in range(2)]
    first = gates[0].prepare(body("anthropic", history, model="claude-opus-5"))

    longer = [*history, {"role": "assistant", "content": "well"}, *user("anthropic", "on")]
    second = gates[1].prepare(body("anthropic", longer, model="claude-opus-5"))

    sent, again = (json.loads(outcome.body)["messages"] for outcome in (first, second))
    assert again[: len(sent)] == sent


@pytest.mark.proves("P8", "K5")
@pytest.mark.parametrize("name", NAMES)
def test_no_store_failure_stops_a_turn(state, name):
    gate = Gate(TIGHT[name], state=state, session="s", store=BadStore())

    shown = gate.admit(
        [
            ToolResult.of("fetch", lines(900), call_id="c1"),
            ToolResult.of("fetch", "short", call_id="c2"),
        ]
    )

    assert shown[1].text == "short"
    assert shown[0].text


@pytest.mark.proves("R2", "P7")
@pytest.mark.parametrize("name", NAMES)
def test_media_pass_untouched(state, name):
    image = Media("image", {"type": "image", "source": {"data": "A" * 9_000}})
    gate = Gate(TIGHT[name], state=state, session="s")

    [shown] = gate.admit([ToolResult.of("shot", [Text(lines(900)), image], call_id="c1")])

    assert shown.blocks[-1] == image


@pytest.mark.proves("P24", "K9")
@pytest.mark.parametrize("name", NAMES)
def test_a_stream_of_anything_ends_within_its_limit(state, name):
    piece = b"\x00\xff\xfe\xf0\x9f" * 100 + b"[" * 300_000
    policy = TIGHT[name]
    stream = Gate(policy, state=state, session="s").stream("c1", "fetch")
    for _ in range(30):
        stream.write(piece)

    shown = stream.close()

    size = meter_for(policy.vocab, policy.unit).count(shown.text)
    assert size + policy.block_overhead <= policy.result.count
