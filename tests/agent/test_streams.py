import asyncio
import threading
from contextlib import contextmanager

import anthropic
import openai
import pytest

from headgate import Gate
from headgate.agent import Agent, Said
from headgate.agent.streams import events
from headgate.testing import Call, Failure, Provider, Say, Stall, Think
from tests.agent.talking import answers, model_of, tools, violations

CLIENTS = {
    ("anthropic", "sync"): anthropic.Anthropic,
    ("anthropic", "async"): anthropic.AsyncAnthropic,
    ("openai-chat", "sync"): openai.OpenAI,
    ("openai-chat", "async"): openai.AsyncOpenAI,
    ("openai-responses", "sync"): openai.OpenAI,
    ("openai-responses", "async"): openai.AsyncOpenAI,
}

every_client = pytest.mark.parametrize(("dialect", "way"), CLIENTS)


@contextmanager
def talking(state, provider, dialect, way):
    url = provider.url if dialect == "anthropic" else provider.openai_url
    client = CLIENTS[dialect, way](base_url=url, api_key="key", max_retries=0)
    gate = Gate(state=state, session="s")
    with Agent(model_of(dialect, client, system="Be brief."), tools(), gate) as agent:
        try:
            yield agent
        finally:
            if way == "sync":
                client.close()
            else:
                agent._runner.run(client.close())


@pytest.mark.proves("G5")
@every_client
def test_the_current_clients_of_the_providers_work(dialect, way, state):
    reply = [Think("hm"), Say("Ich sehe nach: 日本語 🙂."), Call("echo", {"text": "ä" * 50}, "c1")]
    with Provider(reply, "Fertig.", delta_chars=3, write_bytes=7) as provider:
        with talking(state, provider, dialect, way) as agent:
            heard = list(agent.stream("Los."))

        assert [request.status for request in provider.requests] == [200, 200]
        sent = provider.requests[1].json
    said = "".join(event.text for event in heard if isinstance(event, Said))
    assert said == "Ich sehe nach: 日本語 🙂.Fertig."
    assert heard[-1].text == "Fertig."
    assert heard[-1].usage.prompt == sum(usage.input_tokens for usage in provider.usages)
    assert answers(agent.conversation.messages, dialect) == [("c1", "ä" * 50)]
    assert violations(agent, dialect) == []
    key = "input" if dialect == "openai-responses" else "messages"
    history = [item for item in sent[key] if item.get("role") != "system"]
    assert history == agent.conversation.messages[: len(history)]


@every_client
def test_a_turn_is_cancelled_while_the_model_is_silent(dialect, way, state):
    with (
        Provider([Say("Well"), Call("echo", {"text": "x"})], Stall(2), "Back.") as provider,
        talking(state, provider, dialect, way) as agent,
    ):
        timer = threading.Event()

        def cancel_when_asked():
            while len(provider.requests) < 2:
                timer.wait(0.005)
            agent.cancel()

        threading.Thread(target=cancel_when_asked, daemon=True).start()
        turn = agent.run("Go.")

        assert (turn.reason, turn.requests) == ("cancelled", 1)
        assert violations(agent, dialect) == []
        assert agent.run().text == "Back."


@every_client
def test_an_error_of_the_client_comes_out_as_it_is(dialect, way, state):
    with (
        Provider(Failure(401, "no key"), "Fine.") as provider,
        talking(state, provider, dialect, way) as agent,
    ):
        with pytest.raises((anthropic.AuthenticationError, openai.AuthenticationError)):
            agent.run("Go.")

        assert agent.run().text == "Fine."


class Recording:
    """A client's call that remembers what it was given."""

    def __init__(self, *sent):
        self.sent = sent
        self.given = None
        self.is_closed = threading.Event()

    def create(self, *, model, messages, stream, extra_body=None):
        self.given = {"model": model, "messages": messages, "extra_body": extra_body}
        return self

    def __iter__(self):
        return iter(self.sent)

    def close(self):
        self.is_closed.set()


def read(client, body):
    async def main():
        return [event async for event in events(client, client.create, body)]

    return asyncio.run(main())


def test_what_a_client_has_no_name_for_goes_along_in_the_body():
    client = Recording({"type": "x"})

    got = read(client, {"model": "m", "messages": [], "temperature": 0, "new_field": {"a": 1}})

    assert got == [{"type": "x"}]
    assert client.given == {
        "model": "m",
        "messages": [],
        "extra_body": {"temperature": 0, "new_field": {"a": 1}},
    }
    assert client.is_closed.wait(5)


def test_a_further_body_of_the_callers_stays_beside_it():
    client = Recording({"type": "x"})

    read(client, {"model": "m", "messages": [], "extra_body": {"top_k": 5}, "new_field": 1})

    assert client.given["extra_body"] == {"top_k": 5, "new_field": 1}


def test_an_event_that_is_no_object_is_an_empty_one():
    assert read(Recording("ping"), {"model": "m", "messages": []}) == [{}]


def test_a_stream_that_is_left_is_closed_by_its_next_event():
    held = threading.Event()

    def slowly():
        yield {"number": 1}
        held.wait(5)
        yield {"number": 2}
        yield {"number": 3}

    client = Recording()
    client.sent = slowly()

    async def main():
        stream = events(client, client.create, {"model": "m", "messages": []})
        first = await anext(stream)
        await stream.aclose()
        return first

    assert asyncio.run(main()) == {"number": 1}
    assert not client.is_closed.is_set()
    held.set()
    assert client.is_closed.wait(5)
