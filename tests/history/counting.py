"""What the tests of counts share: messages of one dialect, and a rule that is easily reckoned."""

import json

from headgate.dialects import dialect_named
from headgate.history.count import Accounting
from headgate.measure.estimates import RoundedMeter

ROUGH = Accounting(RoundedMeter(), "chars/4 rounded", message_tokens=0)
"""Four characters are a token and nothing else costs anything: counts can be done in the head."""


def anthropic(*messages, **settings):
    return dialect_named("anthropic").read(
        json.dumps({"model": "claude-opus-5", **settings, "messages": messages}).encode()
    )


def said(role, text, **more):
    return {"role": role, "content": [{"type": "text", "text": text}], **more}


def called(call_id, response_id="", tool="grep"):
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
    named = {"id": response_id} if response_id else {}
    return {"role": "assistant", "content": [block], **named}


def answered(call_id, content):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {"role": "user", "content": [block]}
