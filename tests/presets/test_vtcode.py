"""The preset `vtcode` against its document, "Tool Output Truncation Improvements"."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, tokens
from headgate.arrive import arrive, identify
from headgate.cli import main
from headgate.dialects import dialect_named
from headgate.events import Deprecated
from headgate.guard_rules import NO_GUARDS
from headgate.history.count import accounting_for, count
from headgate.judge import Desk, judge
from headgate.limits import Limit, limit_for, overrides_of
from headgate.measure.estimates import median_of_three
from headgate.measure.meters import meter_for
from headgate.policy_file import policy_from_environment
from headgate.presets import VTCODE
from headgate.testing import result
from tests.histories import body, calls, results, user

pytestmark = pytest.mark.proves("PRE-vtcode")

O200K = meter_for("o200k", "tokens")
NO_OVERRIDES = overrides_of({}, VTCODE)
SMALL = VTCODE.replace(result=tokens(400))


def shown_of(gate, text, **more):
    [shown] = gate.admit([result("read_file", text, **more)])
    return shown


def numbered(count):
    return "".join(f"{n:06} some line of a build log\n" for n in range(1, count + 1))


# "Token Budget"


def test_a_result_has_25_000_tokens():  # "Limit: 25,000 tokens per tool response"
    assert VTCODE.result == tokens(25_000)


def test_a_result_within_25_000_tokens_is_whole(gate_with):
    text = " word" * 25_000

    assert O200K.count(text) == 25_000
    assert shown_of(gate_with(VTCODE), text).text == text


def test_a_larger_one_keeps_about_half_of_the_tokens_of_each_end(gate_with):
    # "Head+Tail preservation (first ~50% + last ~50% of tokens)"
    text = numbered(4_000)

    shown = shown_of(gate_with(VTCODE), text).text

    head, tail = re.split(r"\n\[\.\.\. \d+ lines truncated \.\.\.\]\n", shown)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert 12_000 < O200K.count(head) <= 12_500
    assert 12_000 < O200K.count(tail) <= 12_500


def test_all_tools_have_the_same_budget(gate_with):
    # "Consistent across tools: All tool outputs use same token budget"
    batch = [result(tool, numbered(4_000), call_id=tool) for tool in ("read_file", "bash", "grep")]

    assert len({shown.text for shown in gate_with(VTCODE).admit(batch)}) == 1


def test_another_vocabulary_can_be_named(gate_with):
    # "Tokenizer: HuggingFace tokenizers (model-aware)"
    shown = shown_of(gate_with(SMALL.replace(vocab="cl100k")), numbered(900))

    assert meter_for("cl100k", "tokens").count(shown.text) <= 400
    assert shown.verdict.vocab == "cl100k"


# "Per-call token override and max_lines deprecation"


def limit_of(arguments, used=None):
    return limit_for(result("read_file", "x", arguments=arguments), VTCODE, NO_OVERRIDES, used)


@pytest.mark.parametrize("asked", [1_000, 60_000])
def test_a_call_can_ask_for_its_own_budget(asked):
    # "support a `max_tokens` per-call parameter"
    limit, events = limit_of({"max_tokens": asked})

    assert (limit.count, events) == (asked, [])


def test_what_a_call_asked_for_is_applied(gate_with):
    # "applied before the content is added to the model input"
    shown = shown_of(gate_with(VTCODE), numbered(900), arguments={"max_tokens": 300})

    assert O200K.count(shown.text) <= 300


@pytest.mark.parametrize("name", ["max_lines", "chunk_lines"])
def test_the_legacy_parameters_are_mapped_to_tokens_with_a_warning(gate_with, name):
    # "mapped to an estimated token count via `TOKENS_PER_LINE` and a deprecation warning is logged"
    heard = []
    gate = gate_with(VTCODE, hooks=[heard.append])

    shown = shown_of(gate, numbered(900), arguments={name: 40}, call_id="c1")

    assert shown.verdict.limit == tokens(40 * 15)
    assert Deprecated("c1", name, "max_tokens") in heard


def test_max_tokens_goes_before_the_legacy_parameters():
    assert limit_of({"max_tokens": 500, "max_lines": 9})[0].count == 500


@pytest.mark.parametrize(
    ("arguments", "applied"), [({}, 25_000), ({"max_tokens": 700}, 700), ({"max_lines": 10}, 150)]
)
def test_the_applied_budget_is_returned(gate_with, arguments, applied):
    # "returns `metadata.applied_max_tokens` so callers and auditors can inspect the exact budget"
    shown = shown_of(gate_with(VTCODE), "short", arguments=arguments)

    assert shown.metadata == {"applied_max_tokens": applied}


# "Why Token-Based?"


def test_both_ends_survive(gate_with):
    # "Preserves both beginning (setup, initial state) AND end (errors, summaries)"
    text = f"setup\n{numbered(3_000)}error: linking failed"

    shown = shown_of(gate_with(SMALL), text).text

    assert shown.startswith("setup\n")
    assert shown.endswith("\nerror: linking failed")


# 1. "Enhanced Token Approximation Algorithm"


@pytest.mark.parametrize(
    ("text", "estimate"),
    [
        ("", 0),
        ("   ", 1),  # "Word_count=0 now falls back to char-based instead of returning 0"
        ("word " * 40, 40),  # words 40, characters 58, lines 15
        ("x" * 70, 15),  # characters 20, one long word 2, one line 15
        ("a\n\nb\n", 2),  # characters 2, words 2, two lines of 15 and an empty one
        ("f(x) = {y[1]};\n" * 7, 33),  # characters 30, and a tenth more for code
    ],
)
def test_the_median_of_three_estimates(text, estimate):
    # "Take median of three estimates for robustness"
    assert median_of_three(text) == estimate


# 2. and 3. "Fast path", "Optimized Tail Content Collection and String Building"


def test_only_whole_lines_are_kept(gate_with):
    text = numbered(900)

    shown = shown_of(gate_with(SMALL), text).text.split("\n")

    known = set(text.split("\n"))
    assert [line for line in shown if line not in known] == [
        f"[... {900 - (len(shown) - 2)} lines truncated ...]"
    ]


def test_the_words_stand_on_a_line_of_their_own(gate_with):
    # 'format!("[... {} lines truncated ...]\\n", truncated_lines)'
    shown = shown_of(gate_with(SMALL), numbered(900)).text

    assert len(re.findall(r"\n\[\.\.\. \d+ lines truncated \.\.\.\]\n", shown)) == 1


def test_a_line_longer_than_its_half_is_cut_inside(gate_with):
    """Differs: "|| first_line" takes such a line whole, whatever its size (P2, S1)."""
    shown = shown_of(gate_with(SMALL), "word " * 5_000).text

    head, words, tail = shown.split("\n")
    assert words == f"[... {25_000 - len(head) - len(tail)} chars truncated ...]"
    assert O200K.count(shown) <= 400


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.integers(128, 500))
@settings(max_examples=settings.default.max_examples // 4)
def test_no_text_is_ever_over_its_budget(text, limit):
    """Differs: 3.5 characters a token is an estimate; here the count is exact (P2)."""
    arrived = arrive(identify(result("t", text * 200)), VTCODE, O200K)

    verdict = judge(arrived, Limit(limit, "test"), None, Desk(VTCODE, O200K, b"k" * 32, "s"))

    assert O200K.count(arrived.text.decode() if verdict.text is None else verdict.text) <= limit


def test_a_large_output_takes_linear_time(gate_with):
    # "For 10,000 lines: O(n) is ~100x faster than O(n²)": a quadratic one would not end here
    shown = shown_of(gate_with(VTCODE), numbered(200_000)).text

    assert shown.startswith("000001 ")
    assert shown.endswith("200000 some line of a build log\n")


# 4. "Expanded Display Limits", "Display rendering with UI safety limits"


def test_people_have_limits_of_their_own():
    # "MAX_LINE_LENGTH: 150", "INLINE_STREAM_MAX_LINES: 30", "MAX_CODE_LINES: 500", diffs 500
    view = VTCODE.view

    assert (view.line_chars, view.lines, view.code_lines, view.diff_lines) == (150, 30, 500, 500)


# "Token Flow": "Spool to .vtcode/tool-output/ if > 200KB"


def test_people_are_told_where_a_large_output_is(state):
    # "User sees: Truncated output + spooled log path"
    gate = Gate(VTCODE, state=state, session="s")
    text = numbered(8_000)

    shown = shown_of(gate, text)

    said, *shares = gate.notice(shown).split("\n")
    path = said.partition("spooled to: ")[2]
    assert said == f"[OUTPUT] Output too large (250KB, 8000 lines), spooled to: {path}"
    assert Path(path).read_text() == text
    missing = re.search(r"\d+(?= lines truncated)", shown.text)[0]
    assert shares == [
        "[... content truncated by token budget ...]",
        "First ~12.5k tokens shown",
        f"[... {missing} lines truncated ...]",
        "Last ~12.5k tokens shown",
    ]


def test_the_model_is_not_told(gate_with):  # "LLM receives: Semantically complete head+tail"
    shown = shown_of(gate_with(VTCODE), numbered(8_000))

    assert "spooled" not in shown.text
    assert shown.verdict.ref not in shown.text


@pytest.mark.parametrize(("size", "told"), [(200 * 1_024, False), (200 * 1_024 + 1, True)])
def test_the_place_is_told_above_200_kb(gate_with, size, told):
    gate = gate_with(VTCODE)

    shown = shown_of(gate, ("a b c d e f\n" * 20_000)[:size])

    assert gate.notice(shown).startswith("[OUTPUT]") is told
    assert "First ~12.5k tokens shown" in gate.notice(shown)
    # The original is kept whatever its size (rule 0.5).
    assert len(gate.original(shown.verdict.ref)) == size


def test_people_are_told_of_characters_where_no_whole_line_is_missing(gate_with):
    gate = gate_with(SMALL)

    said = gate.notice(shown_of(gate, "word " * 5_000)).split("\n")

    missing = re.fullmatch(r"\[\.\.\. about (\d+) chars truncated \.\.\.\]", said[2])
    assert 22_000 < int(missing[1]) < 25_000


def test_nothing_is_said_of_a_result_that_is_whole(gate_with):
    gate = gate_with(VTCODE)

    assert gate.notice(shown_of(gate, "short")) == ""


def test_the_command_line_tells_people_on_stderr(state, tmp_path, capfdbinary):
    (tmp_path / "build.log").write_text(numbered(8_000))

    assert main(["trim", "--preset", "vtcode", str(tmp_path / "build.log")]) == 0

    out, err = capfdbinary.readouterr()
    assert b"spooled to" not in out
    assert err.startswith(b"headgate: [OUTPUT] Output too large (250KB, 8000 lines)")
    assert b"headgate: Last ~12.5k tokens shown\n" in err


# "Token Budget Manager"


def counted(model, messages=None):
    made = messages or user("anthropic", "x" * 70)
    history = dialect_named("anthropic").read(body("anthropic", made))
    return count(history, accounting_for(model, None, VTCODE.counting))


@pytest.mark.parametrize(
    ("model", "vocab"),
    [
        (
            "gpt-4",
            "cl100k",
        ),  # "Model-aware tokenizer selection (Claude, GPT-4, Gemini, Qwen, etc.)"
        ("gpt-5", "o200k"),
        ("claude-opus-5", "o200k x 1.58"),
        ("nobody-knows-it", "median of three"),  # "Fallback to character-based estimation"
        ("", "median of three"),
    ],
)
def test_each_model_is_counted_with_its_own_tokenizer(model, vocab):
    assert counted(model).vocab == vocab


def test_tokens_are_told_by_component():
    # "Per-component tracking (system, user, assistant, tool results)"
    messages = user("anthropic", "look") + calls("anthropic", ("t1", "bash", {}))
    messages += results("anthropic", ("t1", "bash", "x" * 700))

    shares = {share.component for share in counted("gpt-5", messages).shares}

    assert {"user", "calls", "results"} <= shares


@pytest.mark.parametrize(("used", "warnings"), [(90_000, 0), (97_000, 1), (110_000, 2)])
def test_warnings_come_at_75_and_85_percent_of_the_window(gate_with, used, warnings):
    # "Threshold warnings (75% and 85% of context window)", "max_context_tokens = 128000"
    made = body("anthropic", user("anthropic", " word" * used), model="gpt-4o")

    outcome = gate_with(VTCODE).prepare(made)

    assert outcome.count.window_tokens == 128_000
    assert len(outcome.count.warnings) == warnings


def test_the_window_is_a_knob_of_the_environment():
    # "export VTCODE_CONTEXT_TOKEN_LIMIT=100000"
    environ = {"HEADGATE_PRESET": "vtcode", "HEADGATE_WINDOW_TOKENS": "100000"}

    assert VTCODE.window_tokens == 128_000
    assert policy_from_environment(environ).window_tokens == 100_000


# "Future Enhancements": "Dynamic Token Limits"


@pytest.mark.parametrize(
    ("used", "limit"),
    [
        (None, 25_000),
        (0.10, 35_000),  # "else if context_usage < 50% { ... = 35_000; // Generous"
        (0.50, 25_000),
        (0.80, 25_000),
        (0.81, 15_000),  # "if context_usage > 80% { ... = 15_000; // Conservative"
    ],
)
def test_the_budget_follows_the_use_of_the_window(used, limit):
    assert limit_of({}, used)[0].count == limit


@pytest.mark.parametrize(
    ("filler", "limit"), [(1_000, 35_000), (80_000, 25_000), (110_000, 15_000)]
)
def test_a_history_shows_results_by_the_use_before_them(gate_with, filler, limit):
    messages = user("anthropic", " word" * filler) + calls("anthropic", ("t1", "bash", {}))
    messages += results("anthropic", ("t1", "bash", " w\n" * 60_000))

    outcome = gate_with(VTCODE).prepare(body("anthropic", messages, model="gpt-4o"))

    assert outcome.verdicts[0].limit == tokens(limit)
    assert 0.9 * limit < outcome.verdicts[0].after.tokens <= limit


# "Query-Time Access": "Make spooled logs accessible to LLM via tool call"


def test_the_last_output_of_a_tool_can_be_asked_for(gate_with):
    gate = gate_with(VTCODE)
    shown_of(gate, numbered(8_000))

    answer = gate.read_result("c2", {"tool": "read_file", "lines": "4000-4001"})

    assert "004000 some line of a build log\n004001 some line" in answer.text


# What the document does not speak of


def test_an_error_is_a_result_as_others(gate_with):
    shown = shown_of(gate_with(SMALL), numbered(900), is_error=True)

    assert (shown.verdict.fate, shown.is_error) == ("spilled", True)


def test_a_result_that_imitates_the_words_is_escaped(gate_with):
    """P19: the words carry no tag, so fresh text that has them is told apart."""
    [shown] = gate_with(VTCODE).admit([result("bash", "[... 9 lines truncated ...]")])

    assert shown.text == "[... 9\\u0020lines truncated ...]"


def test_a_result_that_streams_in_is_cut_alike(gate_with):
    text = numbered(270_000)
    stream = gate_with(VTCODE).stream("c1", "bash")
    for at in range(0, len(text), 1_000_000):
        stream.write(text[at : at + 1_000_000].encode())

    shown = stream.close().text

    head, tail = re.split(r"\n\[\.\.\. \d+ lines truncated \.\.\.\]\n", shown)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert 24_000 < O200K.count(shown) <= 25_000


def test_nothing_else_is_switched_on():
    assert (VTCODE.batch, VTCODE.guards, VTCODE.repeats) == (None, NO_GUARDS, False)
    assert (VTCODE.ageing.high, VTCODE.ageing.turns) == (None, None)
