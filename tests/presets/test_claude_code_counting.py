import json

import pytest

from headgate.dialects import dialect_named
from headgate.history.count import accounting_for, count
from headgate.history.exact import exact_count, small_model_for
from headgate.history.usage import Usage, usage_of
from headgate.measure.estimates import image_tokens, rounded, rounded_for_file
from headgate.presets import CLAUDE_CODE
from tests.histories import body, calls, results, user
from tests.presets.claude_code import fragment

pytestmark = pytest.mark.proves("PRE-claude_code")


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
