"""Real clients of the providers, through the gateway, against the strict stand-in."""

import gzip
import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from headgate import Policy, tokens
from headgate.testing import Call, Failure, Provider, Say, Think, lines
from tests.gateway.conftest import LOG, TOOLS, body_of, history
from tests.gateway.wire import (
    Upstream,
    exchange,
    head,
    request,
    settled,
)

LIMIT_TOKENS = 400


def shown_to_anthropic(request, number=2):
    return request.json["messages"][number]["content"][0]["content"]


def kept_file(text):
    """The file that a marker names."""
    return Path(re.search(r"the whole is in (\S+\.txt)", text)[1])


def test_a_large_result_arrives_shortened_and_its_file_can_be_opened(gateway_to):
    with Provider("Disk 7 is full.") as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)

        answer = client.messages.create(**history())

    shown = shown_to_anthropic(provider.requests[0])
    assert answer.content[0].text == "Disk 7 is full."
    assert "ERROR: disk 7 is full" in shown
    assert len(shown) < 3_000
    assert kept_file(shown).read_text() == LOG


def test_a_stream_comes_through_the_real_client(gateway_to):
    with Provider(
        [Think("hm"), Say("Disk 7 is full."), Call("bash", {"command": "df"})]
    ) as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)

        with client.messages.stream(**history()) as stream:
            final = stream.get_final_message()

    assert [block.type for block in final.content] == ["thinking", "text", "tool_use"]
    assert final.usage.output_tokens == provider.usages[0].output_tokens


def test_a_count_is_of_what_would_be_sent(gateway_to):
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        asked = {k: v for k, v in history().items() if k != "max_tokens"}

        counted = client.messages.count_tokens(**asked).input_tokens
        client.messages.create(**history())

    assert counted < 1_000
    assert provider.usages[-1].input_tokens == counted
    assert provider.requests[0].json["messages"] == provider.requests[1].json["messages"]


def test_an_openai_chat_is_prepared(gateway_to):
    call = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": LOG},
    ]
    with Provider("Full.") as provider:
        gateway = gateway_to(provider.url)
        client = openai.OpenAI(base_url=gateway.openai_url, api_key="key", max_retries=0)

        stream = client.chat.completions.create(model="gpt-5", messages=messages, stream=True)
        said = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)

    shown = provider.requests[0].json["messages"][2]["content"]
    assert said == "Full."
    assert len(shown) < 3_000
    assert kept_file(shown).read_text() == LOG


def test_openai_responses_are_prepared(gateway_to):
    items = [
        {"role": "user", "content": "Why?"},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": LOG},
    ]
    with Provider("Full.") as provider:
        gateway = gateway_to(provider.url)
        client = openai.OpenAI(base_url=gateway.openai_url, api_key="key", max_retries=0)

        response = client.responses.create(model="gpt-5", input=items)

    shown = provider.requests[0].json["input"][2]["output"]
    assert response.output_text == "Full."
    assert len(shown) < 3_000
    assert kept_file(shown).read_text() == LOG


def test_only_new_items_are_touched_where_the_provider_holds_the_rest(gateway_to):
    with Provider(Call("bash", {}, id="call_1"), "Full.") as provider:
        gateway = gateway_to(provider.url)
        client = openai.OpenAI(base_url=gateway.openai_url, api_key="key", max_retries=0)
        first = client.responses.create(model="gpt-5", input="Why?")
        output = {"type": "function_call_output", "call_id": "call_1", "output": LOG}

        second = client.responses.create(
            model="gpt-5", previous_response_id=first.id, input=[output]
        )

    [item] = provider.requests[1].json["input"]
    assert second.output_text == "Full."
    assert item["call_id"] == "call_1"
    assert kept_file(item["output"]).read_text() == LOG


@pytest.mark.parametrize("streams", [False, True])
def test_gemini_is_prepared(gateway_to, streams):
    contents = [
        types.Content(role="user", parts=[types.Part(text="Why?")]),
        types.Content(
            role="model", parts=[types.Part(function_call=types.FunctionCall(name="bash", args={}))]
        ),
        types.Content(
            role="user",
            parts=[
                types.Part(
                    function_response=types.FunctionResponse(name="bash", response={"result": LOG})
                )
            ],
        ),
    ]
    with Provider("Full.") as provider:
        gateway = gateway_to(provider.url)
        client = genai.Client(http_options={"base_url": gateway.url}, api_key="key")
        asked = {"model": "gemini-2.5-pro", "contents": contents}

        if streams:
            parts = client.models.generate_content_stream(**asked)
            said = "".join(part.text or "" for part in parts)
        else:
            said = client.models.generate_content(**asked).text

    [part] = provider.requests[0].json["contents"][2]["parts"]
    assert said == "Full."
    assert len(json.dumps(part)) < 4_000
    assert provider.requests[0].model == "gemini-2.5-pro"


def test_what_was_sent_is_sent_again_after_a_restart(gateway_to, state):
    longer = history()
    longer["messages"] += [
        {"role": "assistant", "content": "Disk 7."},
        {"role": "user", "content": "And now?"},
    ]
    with Provider() as provider:
        for asked, limit in ((history(), 400), (longer, 200)):
            gateway = gateway_to(provider.url, policy=Policy(result=tokens(limit)))
            client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
            client.messages.create(**asked)

    first, second = provider.requests
    assert second.json["messages"][:3] == first.json["messages"]


@pytest.mark.proves("P23")
def test_nothing_to_change_is_the_very_bytes(gateway_to):
    body = json.dumps(history(text="short"), indent=3).replace("short", "caf\\u00e9 \\/").encode()
    with Provider() as provider:
        gateway = gateway_to(provider.url)

        answer = exchange(gateway.url, request(body, anthropic_version="2023-06-01"))

    assert answer.status == 200
    assert provider.requests[0].body == body


def test_conversations_that_share_their_ids_are_told_apart(gateway_to):
    other = lines(3_000, n7="FATAL: no such thing")
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        for text in (LOG, other, LOG):
            client.messages.create(**history(text=text))

    first, second, third = map(shown_to_anthropic, provider.requests)
    assert "ERROR: disk 7 is full" in first
    assert "FATAL: no such thing" in second
    assert third == first


def test_a_broken_history_is_repaired_and_the_repair_is_counted(gateway_to):
    asked = history()
    asked["messages"][2] = {"role": "user", "content": "Go on."}
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)

        client.messages.create(**asked)

    assert provider.requests[0].status == 200
    assert gateway.counters.sum("fixes") == 1


def test_a_packed_request_is_prepared_and_sent_plain(gateway_to):
    body = gzip.compress(body_of())
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        version = {"anthropic_version": "2023-06-01"}
        answer = exchange(gateway.url, request(body, content_encoding="gzip", **version))

    assert answer.status == 200
    assert "content-encoding" not in provider.requests[0].headers
    assert len(provider.requests[0].body) < 4_000


def test_a_packed_request_with_nothing_to_change_is_sent_as_it_came(gateway_to):
    body = gzip.compress(body_of(text="short"))
    with Upstream(head(content_length=2) + b"{}") as upstream:
        gateway = gateway_to(upstream.url)
        exchange(gateway.url, request(body, content_encoding="gzip"))

    assert upstream.requests[0].body == body
    assert upstream.requests[0].named["content-encoding"] == "gzip"


def test_a_client_that_has_our_tool_is_told_its_name(gateway_to):
    from headgate.tool import DESCRIPTION

    ours = {
        "name": "mcp__headgate__read_result",
        "description": DESCRIPTION,
        "input_schema": {"type": "object"},
    }
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        client.messages.create(**history(tools=[*TOOLS["anthropic"], ours]))
        client.messages.create(**history(text=lines(3_001)))

    with_tool, without = map(shown_to_anthropic, provider.requests)
    assert kept_file(with_tool).read_text() == LOG
    assert re.search(r'; mcp__headgate__read_result\(ref="r_\w+", lines=', with_tool)
    assert "read_result" not in without


def test_usage_is_learnt_from_on_the_way(gateway_to):
    with Provider("One.", "Two.", delta_chars=1) as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        with client.messages.stream(**history()) as stream:
            stream.until_done()
        client.messages.create(**history())

    settled(gateway)
    billed = provider.usages
    assert gateway.counters.sum("usage_tokens", "output") == sum(u.output_tokens for u in billed)
    read = [gateway.counters.sum("usage_tokens", k) for k in ("input", "cache_read", "cache_write")]
    assert sum(read) == sum(usage.input_tokens for usage in billed)


def test_errors_of_the_provider_reach_the_client_as_they_are(gateway_to):
    with Provider(Failure(429, "Slow down.", retry_after_s=7), Failure(529)) as provider:
        gateway = gateway_to(provider.url)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        with pytest.raises(anthropic.RateLimitError) as limited:
            client.messages.create(**history())
        with pytest.raises(anthropic.APIStatusError) as overloaded:
            client.messages.create(**history())

    assert limited.value.response.headers["retry-after"] == "7"
    assert limited.value.body["error"]["message"] == "Slow down."
    assert limited.value.request_id
    assert overloaded.value.status_code == 529
    assert len(provider.requests) == 2
    settled(gateway)
    assert [gateway.counters.sum("answers", status) for status in ("429", "4xx", "5xx")] == [
        1,
        0,
        1,
    ]


def test_a_history_in_a_wrong_form_is_the_providers_to_refuse(gateway_to):
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        for body in (b"{", b"[]", b'{"messages": 7}', b"\xff", b'{"a":NaN}'):
            answer = exchange(gateway.url, request(body, anthropic_version="2023-06-01"))
            assert answer.status == 400
            assert provider.requests[-1].body == body


def test_who_asks_who_is_there_is_told(gateway_to):
    gateway = gateway_to("http://127.0.0.1:1")

    with urllib.request.urlopen(gateway.url) as answer:
        told = json.load(answer)

    assert told == {"gateway": "headgate", "upstreams": ["anthropic", "openai", "gemini"]}


def test_importing_the_package_loads_no_server():
    code = "import headgate, headgate.gateway, sys; print('aiohttp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)

    assert ran.stdout == "False\n"
