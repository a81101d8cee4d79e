import openai
import pytest

from headgate.testing import Call, Provider, Reply, Say, Think
from tests.testing.conversing import Clock

MODEL = "gpt-5"
TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False}
    for name in ("ls", "pwd")
]
SQL = {"type": "custom", "name": "sql"}
STATELESS = {"store": False, "include": ["reasoning.encrypted_content"]}


def ask(client, input_="Where am I?", **how):
    how = {"model": MODEL, "tools": TOOLS, **how}
    return client.responses.create(input=input_, **how)


def outputs(response):
    return [
        {"type": f"{item.type}_output", "call_id": item.call_id, "output": "ok"}
        for item in response.output
        if item.type in ("function_call", "custom_tool_call")
    ]


def replayed(response):
    return [item.to_dict() for item in response.output]


USER = {"role": "user", "content": "Where am I?"}


def test_a_tool_loop_on_stored_responses_sends_only_what_is_new(gpt):
    with Provider([Think("hm"), Call("ls"), Call("pwd")], "At home.", "Bye.") as provider:
        client = gpt(provider)
        first = ask(client)
        second = ask(client, outputs(first), previous_response_id=first.id)
        third = ask(client, "Thanks", previous_response_id=second.id)

    assert [item.type for item in first.output] == ["reasoning", "function_call", "function_call"]
    assert second.output_text == "At home."
    assert third.output_text == "Bye."
    inputs = [usage.input_tokens for usage in provider.usages]
    assert inputs == sorted(set(inputs))


def test_a_tool_loop_without_storing_sends_everything_back(gpt):
    with Provider([Think("hm"), Call("ls")], "At home.") as provider:
        client = gpt(provider)
        first = ask(client, [USER], **STATELESS)
        last = ask(client, [USER, *replayed(first), *outputs(first)], **STATELESS)

    assert first.output[0].encrypted_content
    assert last.output_text == "At home."


def test_a_custom_tool_gets_a_custom_call(gpt):
    with Provider(Call("sql", {"input": "select 1"}), "One.") as provider:
        client = gpt(provider)
        first = ask(client, tools=[SQL])
        last = ask(client, outputs(first), previous_response_id=first.id, tools=[SQL])

    assert (first.output[0].type, first.output[0].input) == ("custom_tool_call", "select 1")
    assert last.output_text == "One."


@pytest.mark.parametrize("how", [{}, {"reasoning": {"summary": "auto"}}, STATELESS])
def test_a_stream_builds_the_same_response(gpt, how):
    script = [Think("hm, where"), Say("I look."), Call("ls", {"path": "ü🙂"}), Call("sql")]
    tools = [*TOOLS, SQL]
    clock = Clock()
    with (
        Provider(script, clock=clock) as whole,
        Provider(script, clock=clock, delta_chars=3) as pieces,
    ):
        expected = ask(gpt(whole), tools=tools, **how)
        with gpt(pieces).responses.stream(
            model=MODEL, input="Where am I?", tools=tools, **how
        ) as stream:
            kinds = [event.type for event in stream]
            streamed = stream.get_final_response()

    def said(response):
        return {**response.to_dict(), "output": [item.to_dict() for item in response.output]}

    wanted, got = said(expected), said(streamed)
    for item in got["output"]:
        item.pop("parsed_arguments", None)
        for part in item.get("content") or []:
            part.pop("parsed", None)
    assert got == wanted
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


def test_a_stream_has_the_events_of_the_provider(gpt):
    with Provider([Think("hm"), Say("a"), Call("ls", {"n": 1})]) as provider:
        events = list(ask(gpt(provider), stream=True, reasoning={"summary": "auto"}))

    assert [event.type.removeprefix("response.") for event in events] == [
        *("created", "in_progress"),
        *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"),
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta", "output_text.done"),
        *("content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done"),
        *("output_item.done", "completed"),
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.parametrize(
    ("stop", "reason"), [("length", "max_output_tokens"), ("refusal", "content_filter")]
)
def test_a_reply_that_was_cut_is_incomplete(stop, reason, gpt):
    with Provider(Reply((Say("So"),), stop)) as provider:
        response = ask(gpt(provider))

    assert response.status == "incomplete"
    assert response.incomplete_details.reason == reason


def test_a_stored_response_can_be_read_and_forgotten(gpt):
    with Provider("Hi.") as provider:
        client = gpt(provider)
        made = ask(client)
        read = client.responses.retrieve(made.id)
        client.responses.delete(made.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(made.id)

    assert read.output_text == "Hi."


def test_tokens_are_counted_as_they_are_billed(gpt):
    with Provider() as provider:
        client = gpt(provider)
        counted = client.responses.input_tokens.count(model=MODEL, input="How many?", tools=TOOLS)
        billed = ask(client, "How many?")

    assert counted.input_tokens == billed.usage.input_tokens


def refused(client, *request, **how):
    with pytest.raises(openai.APIStatusError) as raised:
        ask(client, *request, **how)
    error = raised.value
    return error.status_code, error.body["message"]


def test_a_call_that_waits_in_a_stored_response_is_missed(gpt):
    with Provider(Call("ls", id="call_1")) as provider:
        client = gpt(provider)
        first = ask(client)
        said = refused(client, "Next question", previous_response_id=first.id)

    assert said == (400, "No tool output found for function call call_1.")


def test_a_stored_item_is_not_sent_again(gpt):
    with Provider(Call("ls")) as provider:
        client = gpt(provider)
        first = ask(client)
        again = [*replayed(first), *outputs(first)]
        said = refused(client, again, previous_response_id=first.id)

    id_ = first.output[0].id
    expected = f"Duplicate item found with id {id_}. Remove duplicate items from your input and "
    assert said == (400, expected + "try again.")


def test_a_result_without_its_call_is_refused(gpt):
    output = {"type": "function_call_output", "call_id": "call_9", "output": "x"}
    with Provider() as provider:
        said = refused(gpt(provider), [USER, output])

    assert said == (400, "No tool call found for function call output with call_id call_9.")


def test_a_call_without_its_reasoning_is_refused_by_name(gpt):
    with Provider([Think("hm"), Call("ls")]) as provider:
        client = gpt(provider)
        first = ask(client, [USER], model="gpt-5.5")
        reasoning, call = replayed(first)
        said = refused(client, [USER, call, *outputs(first)], model="gpt-5.5")

    assert said == (
        400,
        f"Item '{call['id']}' of type 'function_call' was provided without its required "
        f"'reasoning' item: '{reasoning['id']}'.",
    )


def test_reasoning_without_what_it_produced_is_refused_by_name(gpt):
    with Provider([Think("hm"), Say("42")]) as provider:
        client = gpt(provider)
        first = ask(client, [USER])
        reasoning, _ = replayed(first)
        rewritten = {"role": "assistant", "content": "The meaning of life is 42"}
        said = refused(client, [USER, reasoning, rewritten, USER])

    expected = f"Item '{reasoning['id']}' of type 'reasoning' was provided without its required "
    assert said == (400, expected + "following item.")


def test_what_was_not_stored_cannot_be_named(gpt):
    with Provider([Think("hm"), Call("ls")]) as provider:
        client = gpt(provider)
        first = ask(client, [USER], store=False)
        thought = {**replayed(first)[0], "id": "rs_1"}
        status, said = refused(client, [USER, thought, *replayed(first)[1:], *outputs(first)])
        unknown = refused(client, "Hi", previous_response_id="resp_0")
        reference = {"type": "item_reference", "id": "fc_0"}
        missing = refused(client, [USER, reference])

    assert status == 404
    assert said.startswith("Item with id 'rs_1' not found. Items are not persisted when `store` ")
    assert unknown == (400, "Previous response with id 'resp_0' not found.")
    assert missing[0] == 404


def test_an_item_can_be_named_instead_of_sent(gpt):
    with Provider(Call("ls"), "Done.") as provider:
        client = gpt(provider)
        first = ask(client)
        reference = {"type": "item_reference", "id": first.output[0].id}
        last = ask(client, [USER, reference, *outputs(first)])

    assert last.output_text == "Done."


def test_a_seal_that_was_changed_is_refused(gpt):
    with Provider([Think("hm"), Call("ls")]) as provider:
        client = gpt(provider)
        first = ask(client, [USER], **STATELESS)
        thought, call = replayed(first)
        forged = {**thought, "encrypted_content": "gAAAA"}
        status, said = refused(client, [USER, forged, call, *outputs(first)], **STATELESS)

    assert status == 400
    assert said == f"The encrypted content for item {thought['id']} could not be verified."


def test_a_call_id_in_the_place_of_an_id_is_refused(gpt):
    call = {"type": "function_call", "id": "call_1", "call_id": "call_1", "name": "ls"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "x"}
    with Provider() as provider:
        said = refused(gpt(provider), [USER, {**call, "arguments": "{}"}, output])

    assert said == (400, "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.")


def test_the_cache_reads_what_is_stored_too(gpt):
    long = "All work and no play makes a dull prompt. " * 200
    with Provider() as provider:
        client = gpt(provider)
        first = ask(client, long)
        second = ask(client, "And now?", previous_response_id=first.id)

    assert first.usage.input_tokens_details.cached_tokens == 0
    assert second.usage.input_tokens_details.cached_tokens >= 1_024
