import hashlib
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Policy, ToolRule, tokens
from headgate.events import Admitted, Deprecated, OverrideIgnored, Spilled
from headgate.ledger import Ledger
from headgate.limits import HOLD_BYTES
from headgate.measure.meters import meter_for
from headgate.normalise import Validator, only_unicode
from headgate.presets import PRESETS
from headgate.testing import BadStore, lines, result
from tests.nasty import chunked, nasty_bytes

METER = meter_for("o200k", "tokens")
SMALL = Policy(batch=tokens(400), result=tokens(400), error=tokens(400), classes={})
BIG = (lines(250_000, n200000="ERROR: replica lag 9321ms") + "\n").encode()


@pytest.fixture(scope="module")
def one_state(tmp_path_factory):
    """A state directory for many examples."""
    return tmp_path_factory.mktemp("state") / "headgate"


def streamed(gate: Gate, data: bytes, piece: int, **close):
    stream = gate.stream("call_1", "bash")
    for start in range(0, len(data), piece):
        stream.write(data[start : start + piece])
    return stream.close(**close)


@pytest.mark.proves("K9")
@given(st.binary(max_size=3_000), st.integers(1, 700))
@settings(max_examples=settings.default.max_examples // 4)
def test_a_small_stream_is_admitted_as_if_it_had_come_at_once(one_state, data, piece):
    gate = Gate(SMALL, store=BadStore(1 << 30), ledger=Ledger(None), state=one_state)
    whole = gate.admit([result("bash", data, call_id="call_1")])[0]

    assert streamed(gate, data, piece).text == whole.text


@pytest.mark.proves("K9", "P2")
def test_a_big_stream_is_shown_within_its_limit_and_kept_whole(state):
    assert len(BIG) > HOLD_BYTES
    events = []
    gate = Gate(SMALL, state=state, hooks=[events.append])

    shown = streamed(gate, BIG, 1 << 16)

    assert METER.count(shown.text) <= 400
    assert "ERROR: replica lag 9321ms" in shown.text
    assert "250,000 lines omitted" in shown.text
    assert gate.original(shown.verdict.ref) == BIG
    assert events[0] == Spilled(shown.verdict.ref, "call_1", len(BIG))
    assert [type(event) for event in events] == [Spilled, Admitted]


@pytest.mark.parametrize("size", [2_000, len(BIG)])
def test_what_a_stream_is_said_to_be_is_not_looked_for(gate_with, size):
    stream = gate_with(SMALL).stream("call_1", "bash", kind="prose")
    stream.write(BIG[:size])

    assert stream.close().verdict.kind == "prose"


@pytest.mark.proves("K9", "0.3")
def test_how_a_stream_was_cut_does_not_matter_where_the_key_is_shared(state):
    here = Gate(SMALL, state=state / "here")
    there = Gate(SMALL, state=state / "there", ledger=Ledger(None))
    (state / "there").mkdir(mode=0o700, parents=True)
    (state / "there" / "key").touch(mode=0o600)
    (state / "there" / "key").write_bytes(here.key)

    assert streamed(here, BIG, 1 << 16).text == streamed(there, BIG, 99_991).text


@pytest.mark.proves("K9", "R14")
def test_the_same_result_streamed_and_at_once_has_one_verdict(state):
    gate = Gate(SMALL, state=state)
    shown = streamed(gate, BIG, 1 << 16)

    [again] = gate.admit([result("bash", BIG, call_id="call_1")])

    assert again.text == shown.text


@pytest.mark.proves("K5", "K9")
def test_a_store_that_breaks_in_the_middle_of_a_stream_does_not_stop_it(state):
    gate = Gate(SMALL, store=BadStore(HOLD_BYTES + 100), state=state)

    shown = streamed(gate, BIG, 1 << 16)

    assert METER.count(shown.text) <= 400
    assert "not kept" in shown.text
    assert shown.verdict.ref is None


@pytest.mark.proves("K9", "P24")
def test_a_binary_stream_is_described(state):
    data = b"\x7fELF" + hashlib.sha256(b"x").digest() * (HOLD_BYTES // 16)

    shown = streamed(Gate(SMALL, state=state), data, 1 << 20)

    assert shown.text.startswith(f"Binary data, {len(data):,} bytes, ELF program.")
    size = shown.verdict.before
    assert (size.bytes, size.chars, size.lines, size.exact) == (len(data), len(data), 1, False)


@pytest.mark.proves("0.4", "K9")
@pytest.mark.parametrize(("tool", "normalise"), [("Read", True), ("bash", False)])
def test_a_stream_that_may_be_edited_is_only_made_valid(gate_with, tool, normalise):
    stream = gate_with(SMALL.replace(normalise=normalise)).stream("call_1", tool)
    stream.write(b"\xef\xbb\xbffirst \x1b[31mred\r\n\xff")
    stream.write(b"line of text\r\n" * 700_000)

    text = stream.close().text

    assert "\ufefffirst \x1b[31mred\r\n\\xffline of text\r\n" in text


@pytest.mark.proves("P18", "0.4", "K9")
@given(st.one_of(nasty_bytes, st.binary(max_size=300)), st.lists(st.integers(0), max_size=9))
def test_a_text_to_be_edited_is_made_valid_however_it_is_cut(data, cuts):
    validator = Validator()

    seen = b"".join(map(validator.feed, chunked(data, cuts))) + validator.close()

    assert seen == only_unicode(data)


@pytest.mark.proves("R11", "K9")
def test_a_stream_that_ends_badly_is_an_error_with_the_limit_of_errors(state):
    gate = Gate(SMALL.replace(error=tokens(200)), state=state)
    shown = streamed(gate, BIG + b"KeyError: 'x'", 1 << 20, is_error=True)

    assert shown.is_error
    assert METER.count(shown.text) <= 200
    assert shown.text.endswith("KeyError: 'x'")


@pytest.mark.proves("K9")
def test_memory_does_not_grow_with_the_stream(state):
    gate = Gate(SMALL, state=state)
    stream = gate.stream("call_1", "bash")
    piece = lines(20_000).encode() + b"\n"
    for _ in range(20):
        stream.write(piece)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        stream.write(piece)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    stream.close()

    assert grown * 1024 < 16 << 20


@pytest.mark.proves("S1", "K9")
@pytest.mark.parametrize(
    ("keep", "first", "last"),
    [("head", True, False), ("tail", False, True), ("head_tail", True, True)],
)
def test_a_policy_that_keeps_only_ends_keeps_them_of_a_stream_too(gate_with, keep, first, last):
    stream = gate_with(Policy(result=tokens(300), keep=keep)).stream("c1", "bash")
    stream.write(b"the first line\n")
    for _ in range(100):
        stream.write(b"ERROR in the middle of it all\n" * 5_000)
    stream.write(b"the last line\n")

    text = stream.close().text

    assert ("the first line" in text, "the last line" in text) == (first, last)


@pytest.mark.proves("K5", "P8")
def test_a_store_that_does_not_answer_stops_no_stream(gate_with):
    store = BadStore(hangs=True)
    gate = gate_with(SMALL.replace(store_timeout_s=0.05), store=store)

    shown = streamed(gate, BIG, 1 << 20)
    store.released.set()

    assert METER.count(shown.text) <= 400
    assert "not kept, run the tool again for less" in shown.text


@pytest.mark.proves("R3", "K9")
@pytest.mark.parametrize("keep", ["salient", "head", "envelope"])
def test_a_stream_of_blanks_says_that_there_was_no_output(gate_with, keep):
    data = b" \r\n\n" * (HOLD_BYTES // 3)
    gate = gate_with(SMALL.replace(keep=keep))
    shown = streamed(gate, data, 1 << 20)

    assert shown.text == "(bash finished without output)"
    assert gate.original(shown.verdict.ref) == data


@pytest.mark.proves("R5", "K9")
def test_a_stream_of_an_exempt_tool_has_the_limit_it_would_have_at_once(gate_with):
    policy = SMALL.replace(tools={"bash": ToolRule(exempt=True, limit=tokens(900))})

    shown = streamed(gate_with(policy), BIG, 1 << 20)

    assert shown.verdict.limit == tokens(900)
    assert METER.count(shown.text) > 800


@pytest.mark.proves("S8", "R11", "K9")
def test_a_stream_that_ends_badly_fills_the_room_of_an_error(gate_with):
    policy = SMALL.replace(batch=None, result=tokens(128), error=tokens(20_000))

    shown = streamed(gate_with(policy), BIG, 1 << 20, is_error=True)

    assert 18_000 <= METER.count(shown.text) <= 20_000


@pytest.mark.proves("R5", "K9")
def test_what_is_to_be_reported_of_a_stream_is_reported_once(gate_with):
    seen = []
    gate = gate_with(SMALL, hooks=[seen.append], overrides=lambda: {"batch": "many"})
    stream = gate.stream("call_1", "bash", arguments={"max_lines": 20})
    stream.write(BIG)
    stream.close()

    assert [type(event) for event in seen if not isinstance(event, Spilled | Admitted)] == [
        OverrideIgnored,
        Deprecated,
    ]


@pytest.mark.proves("K9")
@pytest.mark.parametrize("name", ["ethos", "claude_code", "chatcli", "vtcode"])
@pytest.mark.parametrize("line", ["\u4e2d\u6587\u5b57\n", "\u4e2d"])
@pytest.mark.parametrize("tool", ["bash", "read"])
def test_a_fixed_form_is_the_same_streamed_and_at_once(state, name, line, tool):
    data = (line * (HOLD_BYTES // len(line.encode()) + 1)).encode()
    whole = Gate(PRESETS[name], state=state, ledger=Ledger(None))
    stream = Gate(PRESETS[name], state=state, ledger=Ledger(None)).stream("call_1", tool)
    stream.write(data)

    [at_once] = whole.admit([result(tool, data, call_id="call_1")])

    assert stream.close().text == at_once.text
