import asyncio

import pytest

from headgate import Gate, Policy, tokens
from headgate.mcp.toolgate import ToolGate
from headgate.proxy.relay import Relay
from headgate.proxy.rules import Rules
from tests.proxy.ends import LONGEST_S, End, note, request, result

TOOLS = [{"name": "grep", "inputSchema": {"type": "object"}}]


@pytest.fixture
def tool_gate(state):
    return ToolGate(Gate(Policy(result=tokens(300)), state=state, session="proxy"))


@pytest.fixture
def relaying(tool_gate):
    """Runs a story between a client and a server, with a relay between them."""

    def run(story, *, rules=None, opened=True, tools=TOOLS):
        async def main():
            client, server = End(), End()
            relay = Relay(client, server, tool_gate, rules or Rules("notes"))
            running = asyncio.create_task(relay.run())
            try:
                if opened:
                    await open_session(client, server, tools)
                return await asyncio.wait_for(story(client, server, running), LONGEST_S)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

        return asyncio.run(main())

    return run


async def open_session(client, server, tools):
    """The handshake, as far as both ends see it."""
    client.say(request(0, "initialize", protocolVersion="2025-11-25", capabilities={}))
    await server.hear()
    server.say(result(0, protocolVersion="2025-11-25", capabilities={"tools": {}}))
    assert (await server.hear())["method"] == "notifications/initialized"
    asked = await server.hear()
    server.say(result(asked["id"], tools=tools))
    assert (await client.hear())["id"] == 0
    client.say(note("notifications/initialized"))
