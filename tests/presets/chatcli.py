"""What the tests of the preset chatcli share."""

import json

from headgate.testing import result
from tests.histories import body

LINE = "some line of output\n"
"""Twenty characters."""


def shown_of(gate, text, tool="@other", **more):
    [shown] = gate.admit([result(tool, text, **more)])
    return shown


def sent(gate, messages):
    """What the history says of each result, in order."""
    outcome = gate.prepare(body("anthropic", messages, model="claude-opus-5"))
    return {
        block["tool_use_id"]: block["content"]
        for message in json.loads(outcome.body)["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    }
