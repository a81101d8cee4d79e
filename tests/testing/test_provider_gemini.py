import pytest
from google.genai import errors, types

from headgate.testing import Call, Provider, Reply, Say, Think

MODEL = "gemini-3.6-flash"
TOOLS = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(name=name, parameters_json_schema={"type": "object"})
        for name in ("ls", "pwd")
    ]
)
CONFIG = types.GenerateContentConfig(
    tools=[TOOLS], automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
)
ASKED = types.Content(role="user", parts=[types.Part(text="Where am I?")])


def ask(client, *contents, model=MODEL, config=CONFIG):
    return client.models.generate_content(
        model=model, contents=list(contents) or [ASKED], config=config
    )


def said(response):
    return response.candidates[0].content


def results(content):
    calls = [part.function_call for part in content.parts if part.function_call]
    parts = [
        types.Part(
            function_response=types.FunctionResponse(
                name=call.name, id=call.id, response={"output": "ok"}
            )
        )
        for call in calls
    ]
    return types.Content(role="user", parts=parts)


@pytest.mark.parametrize("model", [MODEL, "gemini-2.5-pro"])
def test_a_tool_loop_with_parallel_calls_runs_to_its_end(gemini, model):
    with Provider([Say("I look."), Call("ls", {"path": "ü"}), Call("pwd")], "At home.") as provider:
        client = gemini(provider)
        first = ask(client, model=model)
        last = ask(client, ASKED, said(first), results(said(first)), model=model)

    assert [call.name for call in first.function_calls] == ["ls", "pwd"]
    assert first.function_calls[0].args == {"path": "ü"}
    assert last.text == "At home."


def test_only_the_first_of_parallel_calls_is_signed_and_only_by_models_that_sign(gemini):
    with Provider([Call("ls"), Call("pwd")], [Call("ls")]) as provider:
        client = gemini(provider)
        new, old = ask(client), ask(client, model="gemini-2.5-pro")

    assert [bool(part.thought_signature) for part in said(new).parts] == [True, False]
    assert [bool(part.thought_signature) for part in said(old).parts] == [False]


def test_a_stream_brings_the_same_words(gemini):
    config = types.GenerateContentConfig(
        tools=[TOOLS],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    script = [Think("hm, where"), Say("I look around."), Call("ls", {"path": "🙂"}), Call("pwd")]
    with Provider(script, delta_chars=3) as provider:
        chunks = list(
            gemini(provider).models.generate_content_stream(
                model=MODEL, contents=[ASKED], config=config
            )
        )

    parts = [part for chunk in chunks for part in said(chunk).parts]
    assert "".join(part.text for part in parts if part.text and part.thought) == "hm, where"
    spoken = [part.text for part in parts if part.text and not part.thought]
    assert "".join(spoken) == "I look around."
    assert len(spoken) > 3
    calls = [part.function_call for part in parts if part.function_call]
    assert [(call.name, call.args) for call in calls] == [("ls", {"path": "🙂"}), ("pwd", {})]
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    usage = chunks[-1].usage_metadata
    assert usage.thoughts_token_count > 0
    assert usage.total_token_count == (
        usage.prompt_token_count + usage.candidates_token_count + usage.thoughts_token_count
    )


def test_thoughts_are_shown_only_when_asked_for(gemini):
    with Provider([Think("hm"), Say("a")]) as provider:
        response = ask(gemini(provider))

    assert [part.text for part in said(response).parts] == ["a"]


def refused(client, *contents, **how):
    with pytest.raises(errors.ClientError) as raised:
        ask(client, *contents, **how)
    return raised.value.code, raised.value.status, raised.value.message


def test_fewer_results_than_calls_are_refused(gemini):
    with Provider([Call("ls"), Call("pwd")]) as provider:
        client = gemini(provider)
        first = said(ask(client))
        answers = results(first)
        short = types.Content(role="user", parts=answers.parts[:1])
        found = refused(client, ASKED, first, short)

    assert found == (
        400,
        "INVALID_ARGUMENT",
        "Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn.",
    )


def test_a_call_that_lost_its_signature_is_refused_by_models_that_sign(gemini):
    with Provider([Call("ls")], [Call("ls")], "Done.") as provider:
        client = gemini(provider)
        first = said(ask(client))
        first.parts[0].thought_signature = None
        code, _, message = refused(client, ASKED, first, results(first))
        old = said(ask(client, model="gemini-2.5-pro"))
        last = ask(client, ASKED, old, results(old), model="gemini-2.5-pro")

    assert code == 400
    assert message.startswith("Function call is missing a thought_signature in functionCall parts.")
    assert "function call `default_api:ls`, position 1." in message
    assert last.text == "Done."


def test_a_signature_nobody_gave_is_refused_but_for_the_documented_one(gemini):
    with Provider([Call("ls")], "Done.") as provider:
        client = gemini(provider)
        first = said(ask(client))
        first.parts[0].thought_signature = b"forged"
        found = refused(client, ASKED, first, results(first))

    assert found[2] == "Thought signature is not valid."


def test_a_prompt_over_the_window_is_refused_with_both_numbers(gemini):
    with Provider(window_tokens=50) as provider:
        client = gemini(provider)
        long = types.Content(role="user", parts=[types.Part(text="word " * 200)])
        counted = client.models.count_tokens(model=MODEL, contents=[long])
        code, _, message = refused(client, long, config=None)

    assert code == 400
    assert message == (
        f"The input token count ({counted.total_tokens}) exceeds the maximum number of tokens "
        "allowed (50)."
    )


def test_a_wrong_key_and_an_unknown_model_are_refused(gemini):
    with Provider(keys=["right"], models=["gemini-2.5-pro"]) as provider:
        wrong = refused(gemini(provider))
        missing = refused(gemini(provider, key="right"))
        listed = [model.name for model in gemini(provider, key="right").models.list()]

    assert wrong == (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
    assert missing[:2] == (404, "NOT_FOUND")
    assert listed == ["models/gemini-2.5-pro"]


def test_a_long_prefix_is_cached_unasked(gemini):
    long = types.Content(
        role="user", parts=[types.Part(text="All work and no play makes a dull prompt. " * 600)]
    )
    with Provider() as provider:
        client = gemini(provider)
        first = ask(client, long)
        second = ask(client, long, said(first), ASKED)

    assert first.usage_metadata.cached_content_token_count is None
    assert second.usage_metadata.cached_content_token_count > 4_096


def test_a_reply_that_was_cut_says_so(gemini):
    with Provider(Reply((Say("So"),), "length")) as provider:
        response = ask(gemini(provider))

    assert response.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
