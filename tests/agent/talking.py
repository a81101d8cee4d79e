"""What tests of the agent share: a client with a script, tools, and a way to look at histories."""

import json

import pytest

from headgate import Gate, Policy
from headgate.agent import Agent, AnthropicModel, OpenAIChatModel, OpenAIResponsesModel
from headgate.check import check
from headgate.dialects import dialect_named
from headgate.registry import Context, Registry

MODELS = {
    "anthropic": (AnthropicModel, "claude-opus-5-5"),
    "openai-chat": (OpenAIChatModel, "gpt-5"),
    "openai-responses": (OpenAIResponsesModel, "gpt-5"),
}

every_dialect = pytest.mark.parametrize("dialect", MODELS)


def model_of(dialect, client, **more):
    made, name = MODELS[dialect]
    return made(client, more.pop("name", name), **more)


def tools():
    """An echo, a log, a counter that changes, and ways to fail."""
    registry = Registry(timeout_s=5.0, grace_s=0.05)
    seen = []

    @registry.tool
    def echo(text: str) -> str:
        """Say it again."""
        return text

    @registry.tool
    def poll() -> str:
        """See how far it is."""
        seen.append(1)
        return f"{len(seen)} %"

    @registry.tool
    def fail(path: str) -> str:
        """Does not work."""
        raise FileNotFoundError(f"No such file: {path}")

    @registry.tool
    def wait(context: Context) -> str:
        """Wait until nobody waits any more."""
        context.progress("waiting", audience="user")
        context.wait(5.0)
        return "stopped"

    return registry


def agent_of(state, client, *, dialect="anthropic", registry=None, policy=None, **more):
    gate = more.pop("gate", None) or Gate(policy or Policy(), state=state, session="s")
    return Agent(model_of(dialect, client), registry or tools(), gate, **more)


def violations(agent, dialect="anthropic"):
    """What the provider would find wrong with the history as it stands."""
    return check(json.dumps(agent.conversation.messages).encode(), dialect)


def answers(messages, dialect="anthropic"):
    """Every result of a history: the id of its call, and its text."""
    history = dialect_named(dialect).read(json.dumps(messages).encode())
    return [
        (part.call_id, dialect_named(dialect).tool_result(part, None).text)
        for message in history.messages
        for part in message.parts
        if part.kind == "result"
    ]


def called(messages, dialect="anthropic"):
    """The id of every call of a history."""
    history = dialect_named(dialect).read(json.dumps(messages).encode())
    return [part.call_id for message in history.messages for part in message.of_kind("call")]
