"""The preset `claude_code` against its document, "Token Budgeting Strategies"."""

import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, chars
from headgate.admit import plan_batch
from headgate.dialects import dialect_named
from headgate.errors import StoreError
from headgate.events import OverrideIgnored, SpillFailed
from headgate.guard_rules import NO_GUARDS
from headgate.history.count import accounting_for, count
from headgate.history.exact import exact_count, small_model_for
from headgate.history.usage import Usage, usage_of
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import limit_for, overrides_of
from headgate.measure.estimates import image_tokens, rounded, rounded_for_file
from headgate.measure.meters import meter_for
from headgate.presets import CLAUDE_CODE
from headgate.testing import BadStore, result
from headgate.types import Media, Text
from tests.histories import body, calls, results, round_of, user

pytestmark = pytest.mark.proves("PRE-claude_code")

IMAGE = Media("image", {"type": "image", "source": {"data": "A" * 90_000}})
NOTHING_SAID = overrides_of({}, CLAUDE_CODE)


def admitted(gate, *batch):
    return gate.admit(list(batch))


def grep(size, call_id="toolu_01XYZ", **more):
    return result("Grep", "x" * size, call_id=call_id, **more)


def is_persisted(shown):
    return shown.text.startswith("<persisted-output>\n")


def limit_of(made, values=None):
    overrides = overrides_of(values, CLAUDE_CODE) if values else NOTHING_SAID
    return limit_for(made, CLAUDE_CODE, overrides)[0]


# "Core Constants"


def test_a_result_has_50_000_and_a_message_200_000_characters():
    # "DEFAULT_MAX_RESULT_SIZE_CHARS = 50_000", "MAX_TOOL_RESULTS_PER_MESSAGE_CHARS = 200_000"
    assert (CLAUDE_CODE.result, CLAUDE_CODE.batch) == (chars(50_000), chars(200_000))


@pytest.mark.parametrize(("size", "persisted"), [(50_000, False), (50_001, True)])
def test_only_what_exceeds_50_000_characters_is_persisted(gate_with, size, persisted):
    # "when a tool's output exceeds 50,000 characters"; "size <= threshold? Return as-is"
    [shown] = admitted(gate_with(CLAUDE_CODE), grep(size))

    assert is_persisted(shown) is persisted
    assert persisted or shown.text == "x" * 50_000


def test_four_results_at_their_ceiling_are_safe_in_one_message(gate_with):
    # "even if four tools each reach the per-tool ceiling, they're still safe"
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(50_000, f"t{n}") for n in range(4)))

    assert [each.text for each in shown] == ["x" * 50_000] * 4


def test_a_fifth_makes_the_budget_of_the_message_hold(gate_with):
    # "if five or more parallel tools ... the message-level budget enforcement kicks in"
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(50_000, f"t{n}") for n in range(5)))

    assert any(map(is_persisted, shown))
    assert sum(len(each.text) for each in shown) <= 200_000


# "Persistence Threshold Calculation", table 12-1


def test_first_an_exempt_tool_is_never_persisted(gate_with):
    # "1 (highest) | Tool declares maxResultSizeChars: Infinity | Never persist (Read tool ...)"
    read = result("Read", "x" * 190_000)

    [shown] = admitted(gate_with(CLAUDE_CODE), read)

    assert shown.text == "x" * 190_000
    assert limit_of(read, {"tools": {"Read": 600}}).count is None


def test_then_an_override_holds_even_above_the_ceiling(gate_with):
    # "2 | ... has an override for this tool | Use remote override value"
    gate = gate_with(CLAUDE_CODE, overrides=lambda: {"tools": {"Grep": 120_000, "Bash": 1_000}})

    shown = admitted(gate, grep(119_000), result("Bash", "x" * 1_001))

    assert [is_persisted(each) for each in shown] == [False, True]


@pytest.mark.parametrize(
    "value", ["60000", None, math.nan, math.inf, -math.inf, 0, -5, True, [60_000]]
)
def test_an_override_that_is_no_number_above_zero_is_ignored(gate_with, value):
    # "typeof override === 'number' && Number.isFinite(override) && override > 0"
    heard = []
    gate = gate_with(
        CLAUDE_CODE, overrides=lambda: {"tools": {"Grep": value}}, hooks=[heard.append]
    )

    [shown] = admitted(gate, grep(50_001))

    assert is_persisted(shown)
    assert OverrideIgnored("Grep", repr(value)) in heard


@pytest.mark.parametrize(("declared", "most"), [(30_000, 30_000), (90_000, 50_000)])
def test_then_a_declaration_may_only_lower_it(declared, most):
    # "3 | ... | Math.min(declared value, 50_000)"
    assert limit_of(grep(1, declared=chars(declared))).count == most


def test_last_50_000_is_the_default():  # "4 (default) | No special declaration | 50,000 characters"
    assert limit_of(grep(1)).count == 50_000


def test_the_chain_holds_in_its_order():
    declared = grep(1, declared=chars(30_000))

    assert limit_of(declared, {"tools": {"Grep": 70_000}}).count == 70_000
    assert "override" in limit_of(declared, {"tools": {"Grep": 70_000}}).by


def test_what_a_call_asks_for_is_no_part_of_the_chain():
    assert limit_of(grep(1, arguments={"max_tokens": 600, "max_lines": 3})).count == 50_000


def test_an_override_below_the_smallest_limit_is_that_limit():
    """Differs: rule 0.6, a marker needs 512 characters."""
    assert limit_of(grep(1), {"tools": {"Grep": 10}}).count == 512
    assert limit_of(grep(1), {"tools": {"Grep": 0.5}}).count == 512


# "Persistence Flow", figure 12-1


@pytest.mark.parametrize("content", ["", " \n", None])
def test_an_empty_result_gets_a_placeholder(gate_with, content):
    # "(toolName completed with no output)"
    [shown] = admitted(gate_with(CLAUDE_CODE), result("Grep", content))

    assert shown.text == "(Grep completed with no output)"


def test_a_result_with_an_image_is_returned_as_it_is(gate_with):
    # "Contains image blocks? Return as-is (images must be sent to the model)"
    made = result("Shot", [IMAGE, Text("x" * 60_000)])

    [shown] = admitted(gate_with(CLAUDE_CODE), made)

    assert shown.blocks == made.blocks


def test_a_document_is_no_image(gate_with):
    document = Media("document", {"data": "AAAA"})

    [shown] = admitted(gate_with(CLAUDE_CODE), result("Web", [document, Text("x" * 60_000)]))

    assert shown.blocks[0] == document
    assert is_persisted(shown)


def test_the_file_is_named_by_the_call_and_written_once(state):
    # "tool_use_id is unique per invocation, ... so skipping existing files is safe"
    first = Gate(CLAUDE_CODE, state=state, session="s").admit([grep(60_000)])[0]
    path = Path(first.text.split("\n")[2])
    written = os.stat(path)

    again = Gate(CLAUDE_CODE, state=state, session="s").admit([grep(60_000)])[0]

    assert path.name == "toolu_01XYZ.txt"
    assert path.read_text() == "x" * 60_000
    assert again.text == first.text
    assert os.stat(path).st_ino == written.st_ino
    assert os.stat(path).st_mtime_ns == written.st_mtime_ns


def test_an_id_that_is_no_file_name_becomes_its_digest(state):
    """Differs: K2, an id may not lead out of the folder."""
    [shown] = Gate(CLAUDE_CODE, state=state, session="s").admit([grep(60_000, "../../etc/x")])

    path = Path(shown.text.split("\n")[2])
    assert path.read_text() == "x" * 60_000
    assert path.resolve().is_relative_to(state.resolve())


# "Post-Persistence Message Format"


def test_the_substitute_line_by_line(state):
    text = "".join(f"{n:08} some output\n" for n in range(4_000))
    gate = Gate(CLAUDE_CODE, state=state, session="s")

    [shown] = gate.admit([result("Bash", text, call_id="toolu_01XYZ")])

    opening, size, path, preview, *shown_lines, dots, closing = shown.text.split("\n")
    assert opening == "<persisted-output>"
    assert size == "Output too large (82.0 KB). Full output saved to:"
    assert path == f"{state}/sessions/s/files/toolu_01XYZ.txt"
    assert preview == "Preview (first 2.0 KB):"
    assert shown_lines == text.split("\n")[: 2_000 // 21]
    assert (dots, closing) == ("...", "</persisted-output>")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (84_275, "82.3 KB"),  # "Output too large (82.3 KB)."
        (50_001, "48.8 KB"),
        (1_048_575, "1.0 MB"),
        (5_000_000, "4.8 MB"),
    ],
)
def test_a_size_is_written_as_people_write_it(gate_with, size, words):
    [shown] = admitted(gate_with(CLAUDE_CODE), grep(size))

    assert shown.text.split("\n")[1] == f"Output too large ({words}). Full output saved to:"


def preview_of(gate, text):
    [shown] = admitted(gate, result("Bash", text))
    return "\n".join(shown.text.split("\n")[4:-2])


def test_a_preview_is_cut_at_the_last_line_end(gate_with):
    # "tries to truncate at newline boundaries to avoid cutting a line in the middle"
    text = "a" * 1_500 + "\n" + "b" * 60_000

    assert preview_of(gate_with(CLAUDE_CODE), text) == "a" * 1_500


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        (999, 2_000),  # "before 50% of the limit ... falls back to the exact byte limit"
        (1_000, 1_000),
    ],
)
def test_a_line_end_before_half_of_the_limit_does_not_count(gate_with, at, kept):
    text = "a" * at + "\n" + "b" * 60_000

    assert len(preview_of(gate_with(CLAUDE_CODE), text)) == kept


def test_one_long_line_is_cut_at_the_exact_byte(gate_with):
    assert preview_of(gate_with(CLAUDE_CODE), "x" * 60_000) == "x" * 2_000


def test_the_preview_counts_bytes_and_never_cuts_a_character(gate_with):
    """Differs: "the exact byte limit" would fall inside a character of three bytes."""
    assert preview_of(gate_with(CLAUDE_CODE), "中" * 60_000) == "中" * 666


def test_a_result_that_streams_in_gets_the_same_substitute(gate_with):
    gate = gate_with(CLAUDE_CODE)
    stream = gate.stream("toolu_9", "Bash")
    for _ in range(100):
        stream.write(b"a line of it\n" * 10_000)

    lines = stream.close().text.split("\n")

    assert lines[1] == "Output too large (12.4 MB). Full output saved to:"
    assert Path(lines[2]).stat().st_size == 13_000_000
    assert lines[4:-2] == ["a line of it"] * 153


# 12.2 "Per-Message Budget: The 200K Aggregate Ceiling"


def test_ten_results_of_40_000_do_not_go_in_together(gate_with):
    # "10 Grep calls ..., each returning 40K characters — individually all under the 50K threshold"
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(40_000, f"t{n}") for n in range(10)))

    assert sum(len(each.text) for each in shown) <= 200_000
    # Differs: the document stops when the five that are left fit; here the previews fit too (P3).
    assert [is_persisted(each) for each in shown] == [True] * 6 + [False] * 4


def test_each_message_is_evaluated_independently(gate_with):
    # "150K of results in one round and 150K in another are each within budget"
    gate = gate_with(CLAUDE_CODE)
    for round_ in range(3):
        shown = admitted(gate, *(grep(50_000, f"{round_}{n}") for n in range(3)))
        assert not any(map(is_persisted, shown))


def test_the_largest_go_first(gate_with):
    # "sort in descending size, select one by one until the remaining total ... drops below"
    sizes = [30_000, 49_000, 10_000, 48_000, 45_000, 40_000]

    shown = admitted(gate_with(CLAUDE_CODE), *(grep(size, f"t{n}") for n, size in enumerate(sizes)))

    assert [is_persisted(each) for each in shown] == [False, True, False, False, False, False]


def test_a_result_below_its_own_limit_is_persisted_for_the_budget(gate_with):
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(45_000, f"t{n}") for n in range(5)))

    assert [is_persisted(each) for each in shown] == [True, False, False, False, False]
    assert shown[0].verdict.limit == CLAUDE_CODE.preview


@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=12))
@settings(max_examples=settings.default.max_examples // 4)
def test_a_message_of_results_never_exceeds_its_budget(sizes):
    meter = meter_for("o200k", "chars")
    desk = Desk(CLAUDE_CODE, meter, b"k" * 32, "s", lambda ref, call: "/f.txt")
    batch = [grep(size, str(n)) for n, size in enumerate(sizes)]

    plan = plan_batch(batch, Ledger(), desk, NOTHING_SAID)

    assert sum(verdict.after.chars for verdict in plan.verdicts) <= 200_000


# "Message Grouping Complexity"


def fragment(message_id, *asked):
    return {**calls("anthropic", *asked)[0], "id": message_id}


def prepared(gate, messages, **more):
    outcome = gate.prepare(body("anthropic", messages, model="claude-opus-5"), **more)
    return outcome, json.loads(outcome.body)["messages"]


def shown_in(messages):
    return [
        block["content"]
        for message in messages
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block["type"] == "tool_result"
    ]


def test_fragments_of_one_response_are_one_group(gate_with):
    # "only previously unseen assistant message.ids create new group boundaries"
    messages = user("anthropic", "search")
    for n in range(5):
        messages.append(fragment("A", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 45_000))

    _, sent = prepared(gate_with(CLAUDE_CODE), messages)

    assert sum(map(len, shown_in(sent))) <= 200_000


def test_what_stands_between_two_results_does_not_split_a_group(gate_with):
    # "The code avoids this by only creating groups at assistant messages"
    messages = user("anthropic", "search")
    for n in range(5):
        messages.append(fragment("A", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 45_000))
        messages[-1]["content"].append({"type": "text", "text": f"attachment {n}"})

    _, sent = prepared(gate_with(CLAUDE_CODE), messages)

    assert sum(map(len, shown_in(sent))) <= 200_000


def test_other_responses_are_groups_of_their_own(gate_with):
    messages = user("anthropic", "search")
    for n in range(5):
        messages.append(fragment(f"A{n}", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 45_000))

    _, sent = prepared(gate_with(CLAUDE_CODE), messages)

    assert list(map(len, shown_in(sent))) == [45_000] * 5


# "Budget Enforcement and State Freezing"


def test_what_was_seen_whole_stays_whole(gate_with):
    # "frozen: Previously seen but not replaced results — can no longer be replaced"
    gate = gate_with(CLAUDE_CODE)
    first = user("anthropic", "go") + round_of("anthropic", 1, "x" * 49_000)
    prepared(gate, first)
    tight = gate_with(CLAUDE_CODE.replace(result=chars(5_000), batch=chars(5_000)))

    outcome, sent = prepared(tight, first)

    assert shown_in(sent) == ["x" * 49_000]
    assert outcome.states == ("frozen",)


def test_what_was_replaced_is_replaced_by_the_same_bytes_without_io(gate_with):
    # "mustReapply: ... re-apply it identically — zero I/O, byte-level consistency"
    gate = gate_with(CLAUDE_CODE)
    history = user("anthropic", "go") + round_of("anthropic", 1, "x" * 60_000)
    _, first = prepared(gate, history)
    path = Path(shown_in(first)[0].split("\n")[2])
    path.unlink()

    outcome, second = prepared(gate, history + user("anthropic", "and now?"))

    assert shown_in(second) == shown_in(first)
    assert outcome.states == ("replaced",)
    assert not path.exists()


def test_the_state_survives_a_resume(gate_with):
    # "the state must survive across session resumes"
    history = user("anthropic", "go") + round_of("anthropic", 1, "x" * 60_000, "y" * 40_000)
    _, first = prepared(gate_with(CLAUDE_CODE), history)

    outcome, resumed = prepared(gate_with(CLAUDE_CODE.replace(result=chars(900))), history)

    assert shown_in(resumed) == shown_in(first)
    assert outcome.states == ("replaced", "frozen")


def test_frozen_results_over_the_budget_are_accepted_and_reported(gate_with):
    # "If frozen results alone exceed the budget, accept the overage"
    gate = gate_with(CLAUDE_CODE)
    messages = user("anthropic", "go")
    for n in range(4):
        messages.append(fragment("A", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 49_000))
    prepared(gate, messages)
    tight = gate_with(CLAUDE_CODE.replace(batch=chars(100_000)))
    messages.append(fragment("A", ("t5", "Grep", {"n": 5})))
    messages += results("anthropic", ("t5", "Grep", "y" * 40_000))

    outcome, sent = prepared(tight, messages)

    assert [len(text) for text in shown_in(sent)[:4]] == [49_000] * 4
    assert shown_in(sent)[4].startswith("<persisted-output>")
    assert outcome.over_budget > 90_000


# "State Marking Timing"


class Deaf(BadStore):
    """A store that forgets what it is told to keep."""

    def writer(self, **_):
        raise StoreError("no")


def test_a_replacement_is_recorded_only_after_its_file_is_written(gate_with):
    # "candidates selected for persistence are only marked after await persistToolResult()"
    gate = gate_with(CLAUDE_CODE, store=Deaf())

    [shown] = admitted(gate, grep(60_000))

    assert (shown.text, shown.verdict.fate) == ("x" * 60_000, "whole")


# 12.3 "Token Counting: Canonical vs. Rough Estimation"


@pytest.mark.parametrize(
    ("usage", "context"),
    [
        (
            {
                "input_tokens": 1_000,
                "cache_creation_input_tokens": 200,
                "cache_read_input_tokens": 30,
                "output_tokens": 4,
            },
            1_234,
        ),
        ({"input_tokens": 1_000, "output_tokens": 4}, 1_004),  # "(?? 0)"
    ],
)
def test_usage_is_the_sum_of_four(usage, context):
    assert usage_of(usage).context == context


@pytest.mark.parametrize(
    ("size", "tokens"), [(0, 0), (1, 0), (2, 1), (5, 1), (6, 2), (7, 2), (100_000, 25_000)]
)
def test_four_characters_are_a_token_rounded_half_up(size, tokens):
    # "Math.round(content.length / bytesPerToken)"
    assert rounded(size) == tokens
    assert CLAUDE_CODE.counting.vocab == "chars/4 rounded"


@pytest.mark.parametrize(
    ("extension", "tokens"),
    [("json", 50_000), ("jsonl", 50_000), ("jsonc", 50_000), ("ts", 25_000), ("", 25_000)],
)
def test_json_files_have_two_characters_a_token(extension, tokens):
    # "a 100KB JSON file would be estimated at 25K tokens, while it's actually closer to 50K"
    assert rounded_for_file(100_000, extension) == tokens


def rough():
    return accounting_for("claude-opus-5", None, CLAUDE_CODE.counting)


def counted(messages, **more):
    history = dialect_named("anthropic").read(body("anthropic", messages, model="claude-opus-5"))
    return count(history, rough(), **more)


@pytest.mark.parametrize(("path", "tokens"), [("a/data.JSON", 2_000), ("a/data.ts", 1_000)])
def test_a_file_that_was_read_is_counted_by_its_extension(path, tokens):
    # "bytesPerTokenForFileType ... returns different factors based on file extension"
    messages = calls("anthropic", ("t1", "Read", {"file_path": path}))
    messages += results("anthropic", ("t1", "Read", "x" * 4_000))

    shares = {share.tool: share.tokens for share in counted(messages).shares}

    assert shares["Read"] == tokens


def test_images_and_documents_are_2_000_tokens():
    # "uniformly uses a fixed 2,000 tokens"
    blocks = [
        {"type": kind, "source": {"type": "base64", "data": "A" * 1_330_000}}
        for kind in ("image", "document")
    ]

    assert counted([{"role": "user", "content": blocks}]).likely == 4_000


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(750, 100, 100), (2_000, 2_000, 5_333), (8_000, 8_000, 5_333), (1_092, 1_092, 1_590)],
)
def test_the_api_bills_an_image_by_its_area(width, height, tokens):
    # "(width x height) / 750, with images scaled to a maximum of 2000x2000 pixels"
    assert image_tokens(width, height) == tokens


# 12.4 "The Token Counting Pitfall of Parallel Tool Calls"


def interleaved():
    """assistant A, result, assistant A, result: one response with a usage, kept in two records."""
    return [
        *user("anthropic", "go"),
        fragment("A", ("t1", "Grep", {})),
        *results("anthropic", ("t1", "Grep", "x" * 4_000)),
        fragment("A", ("t2", "Grep", {})),
        *results("anthropic", ("t2", "Grep", "y" * 8_000)),
    ]


def test_results_between_the_fragments_of_a_response_are_not_missed():
    # "Backtrack to first assistant with same ID ... Estimate all subsequent messages from here"
    found = counted(interleaved(), usage=Usage(10_000, output_tokens=50))

    # The second fragment is estimated again, as `messages.slice(i + 1)` has it: "Grep\n{}".
    assert found.likely == 10_050 + 1_000 + 2_000 + rounded(len("Grep\n{}"))


def test_another_response_ends_the_way_back():
    # "Hit a different API response, stop backtracking"
    messages = [*interleaved(), fragment("B", ("t3", "Grep", {}))]
    messages += results("anthropic", ("t3", "Grep", "z" * 400))

    assert counted(messages, usage=Usage(20_000)).likely == 20_100


def test_the_estimate_alone_counts_where_nothing_was_reported():
    # "When API usage is unavailable"
    assert counted(user("anthropic", "x" * 4_000)).likely == 1_000


# 12.5 "Auxiliary Counting: API Token Counting and Haiku Fallback"


def post_refusing(*paths):
    """An endpoint that refuses some paths and counts 777 on the others."""

    def post(path, sent):
        asked.append((path, json.loads(sent)))
        if path in paths:
            return 404, b"{}"
        return 200, b'{"input_tokens": 777, "usage": {"input_tokens": 777, "output_tokens": 1}}'

    asked = []
    return post, asked


def exactly(post, **more):
    history = dialect_named("anthropic").read(
        body("anthropic", user("anthropic", "x" * 400), model="claude-haiku-4-5")
    )
    return exact_count(history, post, rough(), **more)


def test_the_endpoint_counts_first():  # "calls the anthropic.beta.messages.countTokens endpoint"
    post, asked = post_refusing()

    assert (exactly(post).tokens, [path for path, _ in asked]) == (
        777,
        ["/v1/messages/count_tokens"],
    )


def test_then_one_token_of_a_small_model():  # "send a max_tokens: 1 request to Haiku"
    post, asked = post_refusing("/v1/messages/count_tokens")

    assert exactly(post).tokens == 777
    path, sent = asked[1]
    assert (path, sent["max_tokens"], sent["model"]) == ("/v1/messages", 1, "claude-haiku-4-5")


def test_then_the_estimate():
    post, _ = post_refusing("/v1/messages/count_tokens", "/v1/messages")

    found = exactly(post)

    assert (found.tokens, found.exact, found.by) == (100, False, "estimate")


@pytest.mark.parametrize(
    ("platform", "thinks", "small"),
    [
        ("vertex-global", False, "sonnet"),  # "Vertex global regions: Haiku is unavailable"
        ("bedrock", True, "sonnet"),  # "Bedrock + thinking blocks: Haiku 3.5 doesn't support"
        ("bedrock", False, "haiku"),
        ("vertex", False, "haiku"),
        ("first-party", True, "haiku"),  # "Other cases: Use Haiku (lowest cost)"
    ],
)
def test_which_small_model_depends_on_the_platform(platform, thinks, small):
    assert small in small_model_for("anthropic", "claude-opus-5", platform, thinks=thinks)


# 12.6 "End-to-End Token Budget System"


def test_a_disk_that_fails_lets_the_result_in_whole(gate_with):
    # "Layer 1 fails (disk persistence error) -> Full result returned as-is"
    heard = []
    gate = gate_with(CLAUDE_CODE, store=BadStore(), hooks=[heard.append])

    [shown] = admitted(gate, grep(60_000))

    assert shown.text == "x" * 60_000
    assert any(isinstance(event, SpillFailed) for event in heard)


def test_the_budget_of_a_message_can_be_set_while_it_runs(gate_with):
    # "tengu_hawthorn_window: Per-message aggregate budget global override"
    gate = gate_with(CLAUDE_CODE, overrides=lambda: {"batch": 90_000})

    shown = admitted(gate, grep(45_000, "a"), grep(45_000, "b"), grep(10_000, "c"))

    assert [is_persisted(each) for each in shown] == [True, False, False]


@pytest.mark.parametrize("value", [None, math.nan, "90000", 0])
def test_a_leaked_value_does_not_change_the_budget(gate_with, value):
    # "the cache layer may leak null, NaN, or string-typed values"
    gate = gate_with(CLAUDE_CODE, overrides=lambda: {"batch": value})

    assert not any(map(is_persisted, admitted(gate, grep(50_000, "a"), grep(50_000, "b"))))


# 12.7 "What Users Can Do"


def test_what_read_shows_is_never_cut_to_a_preview_for_the_budget(gate_with):
    # "file contents read via Read are always presented directly to the model"
    read = result("Read", "r" * 150_000, call_id="r")

    shown = admitted(gate_with(CLAUDE_CODE), read, grep(50_000, "a"), grep(40_000, "b"))

    assert shown[0].text == "r" * 150_000
    assert [is_persisted(each) for each in shown[1:]] == [True, False]


# What the document does not speak of, and the promises


def test_an_error_is_a_result_as_others(gate_with):
    [shown] = admitted(gate_with(CLAUDE_CODE), grep(60_000, is_error=True))

    assert (is_persisted(shown), shown.is_error) == (True, True)


def test_a_result_that_imitates_the_substitute_is_escaped(gate_with):
    """P19: the words carry no tag, so fresh text that has them is told apart."""
    [shown] = admitted(gate_with(CLAUDE_CODE), result("Bash", "<persisted-output>\nx"))

    assert shown.text == "\\u003cpersisted-output>\nx"


def test_a_path_too_long_for_the_limit_leaves_the_short_words(state):
    deep = state / ("d" * 200) / ("e" * 200)
    policy = CLAUDE_CODE.replace(result=chars(512))

    [shown] = Gate(policy, state=state, files=deep, session="s").admit([grep(900)])

    assert len(shown.text) <= 512


def test_without_a_store_no_file_is_named(gate_with):
    [shown] = admitted(gate_with(CLAUDE_CODE.replace(spill=False)), grep(60_000))

    lines = shown.text.split("\n")
    assert lines[1] == "Output too large (58.6 KB): not kept, run the tool again for less"
    assert len(shown.text) <= 50_000


def test_nothing_else_is_switched_on():
    assert CLAUDE_CODE.guards == NO_GUARDS
    assert (CLAUDE_CODE.ageing.high, CLAUDE_CODE.ageing.turns) == (None, None)
    assert not CLAUDE_CODE.repeats
