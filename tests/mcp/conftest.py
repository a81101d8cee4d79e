import json

import pytest

from headgate import Gate, Policy, tokens
from headgate.mcp.toolgate import ToolGate


@pytest.fixture
def gate(state):
    return Gate(Policy(result=tokens(300), error=tokens(300)), state=state, session="mcp")


@pytest.fixture
def tool_gate(gate):
    return ToolGate(gate)


@pytest.fixture
def wire():
    """A `CallToolResult` as bytes."""

    def make(*content, **more):
        blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
        return json.dumps({"content": blocks, **more}).encode()

    return make
