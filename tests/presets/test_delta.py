"""The preset `delta` against its document, "Result Handler"."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, tokens
from headgate.arrive import arrive, identify
from headgate.guard_rules import NO_GUARDS
from headgate.judge import Desk, judge
from headgate.limits import Limit
from headgate.measure.meters import meter_for
from headgate.presets import DELTA
from headgate.registry import Registry
from headgate.testing import result
from headgate.types import Call, Json, ToolResult

pytestmark = pytest.mark.proves("PRE-delta")

METER = meter_for("chars/4", "tokens")


def shown_of(gate, value, arguments=None, **more):
    [shown] = gate.admit([result("list_records", value, arguments=arguments or {}, **more)])
    assert METER.count(shown.text) <= 2_000
    return shown


def envelope(gate, value, arguments=None, **more):
    return json.loads(shown_of(gate, value, arguments, **more).text)


# "The handler applies four transformations depending on the output type"


def test_a_string_over_its_budget_is_truncated(gate_with):
    # "String over budget | { truncated: true, preview, totalChars, estimatedTokens, note }"
    shown = envelope(gate_with(DELTA), "Lorem ipsum dolor sit amet. " * 5_000)

    assert list(shown) == ["truncated", "totalChars", "estimatedTokens", "preview", "note"]


def test_an_array_over_its_page_is_paginated(gate_with):
    # "Array over page size | { paginated: true, items, page, totalPages, hasMore, note }"
    shown = envelope(gate_with(DELTA), list(range(51)))

    assert list(shown) == [
        *("paginated", "totalItems", "page", "pageSize", "totalPages", "hasMore", "items", "note")
    ]


def test_an_object_over_its_budget_is_summarized(gate_with):
    # "Object over budget | { _summarized: true, _totalKeys, key: previewValue, ... }"
    shown = envelope(gate_with(DELTA), {f"key_{n}": "v" * 100 for n in range(100)})

    assert list(shown)[:4] == ["_summarized", "_totalKeys", "_estimatedTokens", "key_0"]
    assert list(shown)[-1] == "_truncatedKeys"


# "Configuration"


def test_the_limits_are_2_000_tokens_and_50_items():
    # "maxTokens: 2000, // truncate strings/objects over ~2000 tokens (~8 KB)"
    # "paginateAfter: 50, // paginate arrays longer than 50 items"
    assert (DELTA.result, DELTA.page_items) == (tokens(2_000), 50)


@pytest.mark.parametrize(("size", "fate"), [(8_000, "whole"), (8_001, "spilled")])
def test_a_token_is_four_characters(gate_with, size, fate):  # "~2000 tokens (~8 KB)"
    assert shown_of(gate_with(DELTA), "x" * size).verdict.fate == fate


@pytest.mark.parametrize(("items", "fate"), [(50, "whole"), (51, "spilled")])
def test_only_arrays_longer_than_50_items_are_paginated(gate_with, items, fate):
    assert shown_of(gate_with(DELTA), [1] * items).verdict.fate == fate


def test_other_limits_apply_to_every_call(gate_with):
    # "Set limits in the server constructor — they apply to every tool call"
    policy = DELTA.replace(result=tokens(500), page_items=3)

    assert envelope(gate_with(policy), [1, 2, 3, 4])["items"] == [1, 2, 3]
    note = envelope(gate_with(policy), "x" * 4_000)["note"]
    assert note.startswith("String truncated to ~500 tokens.")


# "Pagination"


RECORDS = [{"id": n} for n in range(1_000)]


def test_page_and_page_size_come_from_the_calls_arguments(gate_with):
    # 'client.callTool("list_records", { page: 2, pageSize: 20 })'
    shown = envelope(gate_with(DELTA), RECORDS, {"page": 2, "pageSize": 20})

    assert shown["items"] == RECORDS[20:40]
    assert (shown["page"], shown["pageSize"]) == (2, 20)


def test_the_shape_of_a_page(gate_with):
    # The document's own example, number by number.
    assert envelope(gate_with(DELTA), RECORDS, {"pageSize": 20}) == {
        "paginated": True,
        "totalItems": 1000,
        "page": 1,
        "pageSize": 20,
        "totalPages": 50,
        "hasMore": True,
        "items": RECORDS[:20],
        "note": "Page 1/50. 1000 total items. Pass page=2 for next page.",
    }


def test_the_model_goes_on_while_there_is_more(gate_with):
    # "Model reads hasMore: true, then requests the next page"
    gate, seen, page = gate_with(DELTA), [], 1
    while True:
        shown = envelope(gate, RECORDS, {"page": page}, call_id=f"c{page}")
        seen += shown["items"]
        if not shown["hasMore"]:
            break
        page += 1

    assert seen == RECORDS
    assert shown["note"] == "Page 20/20. 1000 total items."


@pytest.mark.parametrize(
    ("arguments", "page", "size"),
    [
        ({"page": 99}, 20, 50),
        ({"page": 0}, 1, 50),
        ({"page": -3, "pageSize": 0}, 1, 50),
        ({"page": "2", "pageSize": "10"}, 2, 10),
        ({"page": "two"}, 1, 50),
        ({"page": None, "pageSize": True}, 1, 50),
    ],
)
def test_a_page_that_makes_no_sense_is_clamped_or_ignored(gate_with, arguments, page, size):
    """S7: the document does not say."""
    shown = envelope(gate_with(DELTA), RECORDS, arguments)

    assert (shown["page"], shown["pageSize"]) == (page, size)


def test_a_smaller_page_than_asked_names_its_size(gate_with):
    """Differs: a page of 50 large items would not fit its 2,000 tokens (P2)."""
    items = [{"id": n, "text": "x" * 1_000} for n in range(100)]

    shown = envelope(gate_with(DELTA), items)

    assert shown["pageSize"] == 7
    assert shown["note"] == "Page 1/15. 100 total items. Pass page=2, pageSize=7 for next page."


def test_a_short_array_of_large_items_is_paginated_too(gate_with):
    """The document pages only arrays of more than 50 items; these would not fit."""
    shown = envelope(gate_with(DELTA), ["x" * 3_000] * 6)

    assert (shown["pageSize"], shown["totalPages"]) == (2, 3)


def test_pages_of_a_registered_tool_come_from_what_is_kept(state):
    # "no server-side pagination code needed"
    tools, runs = Registry(), []

    @tools.tool
    def list_records() -> list[dict[str, int]]:
        runs.append(1)
        return RECORDS

    gate = Gate(DELTA, state=state, session="s")
    with tools:
        [first] = tools.run_batch(gate, [Call("a", "list_records")])
        second = Call("b", "list_records", {"page": 2, "pageSize": 20})
        [again] = tools.run_batch(gate, [second])

    assert json.loads(first.text)["items"] == RECORDS[:50]
    assert json.loads(again.text) == {
        "paginated": True,
        "totalItems": 1000,
        "page": 2,
        "pageSize": 20,
        "totalPages": 50,
        "hasMore": True,
        "items": RECORDS[20:40],
        "note": "Page 2/50. 1000 total items. Pass page=3 for next page.",
    }
    assert len(runs) == 1


def test_a_tool_that_pages_by_itself_is_not_paged_again(state):
    """S7: its arguments are its own."""
    tools = Registry()

    @tools.tool
    def list_records(page: int) -> list[int]:
        return [page] * 60

    gate = Gate(DELTA, state=state, session="s")
    with tools:
        [shown] = tools.run_batch(gate, [Call("a", "list_records", {"page": 2})])

    assert json.loads(shown.text)["page"] == 1


# "Truncation"


def test_a_string_of_140_000_characters(gate_with):
    # '"totalChars": 140000, "estimatedTokens": 35000', "String truncated to ~2000 tokens. ..."
    text = "Lorem ipsum dolor sit amet, " * 5_000

    shown = envelope(gate_with(DELTA), text)

    assert (shown["truncated"], shown["totalChars"], shown["estimatedTokens"]) == (
        True,
        140_000,
        35_000,
    )
    assert shown["note"] == (
        "String truncated to ~2000 tokens. Full length: 140000 chars (~35000 tokens)."
    )


def test_the_preview_is_the_head_of_the_string(gate_with):
    text = 'a "quoted" line\n' * 2_000

    shown = envelope(gate_with(DELTA), text)

    assert text.startswith(shown["preview"])
    # Differs: envelope and escapes fit the 2,000 tokens too (P2), so it is shorter than 8,000.
    assert 6_000 < len(shown["preview"]) < 8_000


# "Object summarization"


def test_an_object_shows_each_key_with_a_preview(gate_with):
    # '"key_2": "[Array(5)]", "key_3": "{Object: id, name, email}"'
    value = {
        "key_0": "value_0",
        "key_1": "value_1",
        "key_2": [1, 2, 3, 4, 5],
        "key_3": {"id": 1, "name": "n", "email": "e"},
        "key_4": 4.5,
        "key_5": None,
        "key_6": "x" * 8_000,
    }

    shown = envelope(gate_with(DELTA), value)

    assert shown == {
        "_summarized": True,
        "_totalKeys": 7,
        "_estimatedTokens": METER.count(json.dumps(value)),
        "key_0": "value_0",
        "key_1": "value_1",
        "key_2": "[Array(5)]",
        "key_3": "{Object: id, name, email}",
        "key_4": 4.5,
        "key_5": None,
        "key_6": "x" * 100 + "…",
        "_truncatedKeys": 0,
    }


def test_keys_that_do_not_fit_are_counted(
    gate_with,
):  # '"_totalKeys": 100 ... "_truncatedKeys": 96'
    value = {f"key_{n}": "v" * 90 for n in range(100)}

    shown = envelope(gate_with(DELTA), value)

    keys = [key for key in shown if key.startswith("key_")]
    assert keys == list(value)[: len(keys)]
    assert (shown["_totalKeys"], shown["_truncatedKeys"]) == (100, 100 - len(keys))


def test_a_key_of_the_data_is_never_overwritten(gate_with):
    """S6: the document does not say."""
    shown = envelope(gate_with(DELTA), {"_summarized": "no", "big": "x" * 9_000})

    assert (shown["_summarized"], shown["_summarized_"]) == ("no", True)


# "Rate limits"


class TooMany(Exception):
    def __init__(self, **answer):
        super().__init__("Too Many Requests")
        self.__dict__.update(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 429, "headers": {"retry-after": "30"}},
        {"statusCode": 429, "headers": {"Retry-After": 30}},
    ],
)
def test_a_429_becomes_a_result_the_model_can_reason_about(state, answer):
    # "detects 429 from the status or statusCode property on thrown errors, and parses retry-after"
    tools = Registry()

    @tools.tool
    def my_api_tool() -> str:
        raise TooMany(**answer)

    with tools:
        gate = Gate(DELTA, state=state, session="s")
        [shown] = tools.run_batch(gate, [Call("a", "my_api_tool")])

    assert json.loads(shown.text) == {
        "type": "rate_limited",
        "retryAfterSeconds": 30,
        "upstream": "my_api_tool",
        "message": "Too Many Requests",
    }


# What the document does not speak of, and the promises


def test_an_error_is_shaped_as_a_result(gate_with):
    shown = shown_of(gate_with(DELTA), "x" * 9_000, is_error=True)

    assert (json.loads(shown.text)["truncated"], shown.is_error) == (True, True)


def test_a_text_that_is_json_is_shaped_as_json(gate_with):
    assert envelope(gate_with(DELTA), json.dumps(RECORDS))["totalItems"] == 1_000


def test_the_original_is_kept_and_its_address_not_shown(gate_with):
    gate = gate_with(DELTA)

    shown = shown_of(gate, "x" * 9_000)

    assert gate.original(shown.verdict.ref) == b"x" * 9_000
    assert shown.verdict.ref not in shown.text


def test_a_result_that_streams_in_is_truncated_as_a_string(gate_with):
    stream = gate_with(DELTA).stream("c1", "fetch")
    for _ in range(10):
        stream.write(b"y" * 1_000_000)

    shown = json.loads(stream.close().text)

    assert (shown["totalChars"], shown["estimatedTokens"]) == (10_000_000, 2_500_000)


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=70) | st.dictionaries(st.text(), inner, max_size=70),
    max_leaves=80,
)


@given(values, st.integers(128, 400))
@settings(max_examples=settings.default.max_examples // 2)
def test_whatever_is_shaped_is_json_within_its_limit(value, limit):
    text = json.dumps(value)
    desk = Desk(DELTA, METER, b"k" * 32, "s")
    made = ToolResult("c", "t", (Json(text),))

    arrived = arrive(identify(made), DELTA, METER)
    verdict = judge(arrived, Limit(limit, "test"), None, desk)

    json.loads(verdict.text if verdict.text is not None else text)
    assert verdict.after.tokens <= limit


def test_nothing_else_is_switched_on():
    assert (DELTA.batch, DELTA.guards, DELTA.repeats) == (None, NO_GUARDS, False)
    assert (DELTA.ageing.high, DELTA.ageing.turns, DELTA.vocab) == (None, None, "chars/4")
