import json
from contextlib import ExitStack
from dataclasses import replace

import pytest

from headgate import Policy, tokens
from headgate.gateway import Running, Serving
from headgate.gateway.upstreams import upstream_of
from headgate.testing import lines

LOG = lines(3_000, n1500="ERROR: disk 7 is full")
TOOLS = {
    "anthropic": [{"name": "bash", "description": "d", "input_schema": {"type": "object"}}],
}


def history(text=LOG, **more):
    """A request of Anthropic's with one result."""
    messages = [
        {"role": "user", "content": "Why does it fail?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "make"}}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}],
        },
    ]
    body = {"model": "claude-opus-4-6", "max_tokens": 100, "messages": messages}
    return {**body, "tools": TOOLS["anthropic"], **more}


def body_of(**more):
    return json.dumps(history(**more)).encode()


@pytest.fixture
def gateway_to(state):
    """Starts a gateway in front of one upstream, whoever is asked for."""
    with ExitStack() as stack:

        def start(url, spans=None, **serving):
            named = [upstream_of(f"{name}={url}") for name in ("anthropic", "openai", "gemini")]
            made = Serving(
                **{
                    "policy": Policy(result=tokens(400)),
                    "upstreams": tuple(named),
                    "port": 0,
                    "admin_port": 0,
                    "shutdown_timeout_s": 1,
                    **serving,
                }
            )
            more = {} if spans is None else {"spans": spans}
            return stack.enter_context(Running(replace(made, state=state), **more))

        yield start
