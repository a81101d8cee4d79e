import anthropic
import pytest

from headgate.testing import Call, Provider, Say, Think
from tests.testing.conversing import ASKED, MODEL, TOOLS, ask, marked, replayed, results

FABLE = "claude-fable-5-1"
BETA = "thinking-binding-controls-2026-08-01"
THOUGHTS = [Think("First the path."), Call("ls")]


def thinking_loop(client, model, **how):
    first = ask(client, model=model)
    return first, [ASKED, replayed(first), results(first)]


@pytest.mark.parametrize("model", ["claude-opus-5", FABLE, "claude-mythos-5-1"])
def test_thinking_that_comes_back_unchanged_is_accepted(claude, model):
    with Provider(THOUGHTS, "done") as provider:
        client = claude(provider)
        first, history = thinking_loop(client, model)
        last = ask(client, *history, model=model)

    assert first.content[0].thinking == "First the path."
    assert last.content[0].text == "done"
    assert "input_transformations" not in last.to_dict()


def test_edited_thinking_of_the_latest_message_is_refused(claude):
    with Provider(THOUGHTS) as provider:
        client = claude(provider)
        _, history = thinking_loop(client, MODEL)
        history[1]["content"][0]["thinking"] = "Shorter."
        with pytest.raises(anthropic.BadRequestError) as raised:
            ask(client, *history)

    assert raised.value.api_message == (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified. These blocks must remain as they were in the original "
        "response."
    )


def test_a_signature_nobody_gave_is_refused(claude):
    with Provider(THOUGHTS) as provider:
        client = claude(provider)
        _, history = thinking_loop(client, MODEL)
        history[1]["content"][0]["signature"] = "RXFR"
        with pytest.raises(anthropic.BadRequestError) as raised:
            ask(client, *history)

    expected = "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert raised.value.api_message == expected


def test_a_part_of_the_latest_thinking_is_refused_and_all_of_it_may_go(claude):
    with Provider([Think("a"), Think("b"), Say("so"), Call("ls")], "done") as provider:
        client = claude(provider)
        _, history = thinking_loop(client, MODEL)
        blocks = history[1]["content"]
        with pytest.raises(anthropic.BadRequestError) as raised:
            ask(client, ASKED, {"role": "assistant", "content": blocks[1:]}, history[2])
        last = ask(client, ASKED, {"role": "assistant", "content": blocks[2:]}, history[2])

    assert "cannot be modified" in raised.value.api_message
    assert last.content[0].text == "done"


CHANGES = {
    "the system prompt": {"system": "Be brief."},
    "one more tool": {"tools": [*TOOLS, {"name": "cat", "input_schema": {"type": "object"}}]},
    "an earlier message": {"asked": {"role": "user", "content": "Where am I? (reminder)"}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_prefix_is_refused_where_the_model_enforces_it(claude, change):
    change = dict(change)
    asked = change.pop("asked", ASKED)
    with Provider(THOUGHTS, "done") as provider:
        client = claude(provider)
        _, history = thinking_loop(client, FABLE)
        with pytest.raises(anthropic.BadRequestError) as raised:
            ask(client, asked, *history[1:], model=FABLE, **change)

    assert raised.value.api_message == (
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
        "different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires '
        "the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."
    )


def bound(client, *messages, model, betas=(BETA,), **how):
    thinking = {
        "type": "adaptive",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    return client.beta.messages.create(
        model=model,
        max_tokens=1_000,
        tools=TOOLS,
        messages=list(messages),
        thinking=thinking,
        betas=list(betas),
        **how,
    )


def test_a_changed_prefix_drops_the_blocks_where_the_client_asked_for_it(claude):
    with Provider([Think("a"), Think("b"), Call("ls")], "done") as provider:
        client = claude(provider)
        _, history = thinking_loop(client, FABLE)
        last = bound(client, *history, model=FABLE, system="Be brief.")

    assert [report.to_dict() for report in last.input_transformations] == [
        {
            "type": "thinking_dropped",
            "path": f"messages.1.content.{place}",
            "reason": "prefix_binding_mismatch",
        }
        for place in (0, 1)
    ]


def test_the_controls_of_binding_need_their_beta(claude):
    with Provider() as provider, pytest.raises(anthropic.BadRequestError) as raised:
        bound(claude(provider), ASKED, model=FABLE, betas=())

    expected = "thinking.adaptive.block_binding: Extra inputs are not permitted"
    assert raised.value.api_message == expected


def test_a_model_that_only_records_reports_and_goes_on(claude):
    with Provider(THOUGHTS, "done") as provider:
        client = claude(provider)
        _, history = thinking_loop(client, "claude-mythos-5-1")
        last = ask(client, *history, model="claude-mythos-5-1", system="Be brief.")

    assert last.to_dict()["input_transformations"] == [
        {
            "type": "thinking_mismatch_allowed",
            "path": "messages.1.content.0",
            "reason": "prefix_binding_mismatch",
        }
    ]


def test_a_model_that_does_not_bind_takes_a_changed_prefix(claude):
    with Provider(THOUGHTS, "done") as provider:
        client = claude(provider)
        _, history = thinking_loop(client, MODEL)
        last = ask(client, *history, system="Be brief.")

    assert "input_transformations" not in last.to_dict()


def test_thinking_of_another_model_is_dropped_and_reported(claude):
    with Provider(THOUGHTS, "done") as provider:
        client = claude(provider)
        _, history = thinking_loop(client, MODEL)
        last = ask(client, *history, model="claude-sonnet-5-5")

    assert [report["reason"] for report in last.to_dict()["input_transformations"]] == [
        "model_binding_mismatch"
    ]


def test_marks_and_merging_do_not_change_a_prefix(claude):
    with Provider(THOUGHTS, "done") as provider:
        client = claude(provider)
        first = ask(client, model=FABLE, system="s")
        asked = {"role": "user", "content": [marked("Where am I?")]}
        last = ask(
            client, asked, replayed(first), results(first), model=FABLE, system=[marked("s")]
        )

    assert last.content[0].text == "done"


def test_hidden_thinking_comes_back_with_its_signature_alone(claude):
    omitted = {"thinking": {"type": "adaptive", "display": "omitted"}}
    with Provider(
        [Think("secret"), Call("ls")], [Think("more", redacted=True), Call("ls")], "done"
    ) as provider:
        client = claude(provider)
        first = ask(client, **omitted)
        history = [ASKED, replayed(first), results(first)]
        second = ask(client, *history, **omitted)
        last = ask(client, *history, replayed(second), results(second), **omitted)

    assert first.content[0].thinking == ""
    assert second.content[0].type == "redacted_thinking"
    assert last.content[0].text == "done"
