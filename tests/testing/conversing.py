"""What the tests of the Anthropic stand-in say, and how they say it again."""

MODEL = "claude-opus-5"
TOOLS = [
    {"name": "ls", "input_schema": {"type": "object"}},
    {"name": "pwd", "input_schema": {"type": "object"}},
]
ASKED = {"role": "user", "content": "Where am I?"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


def ask(client, *messages, **how):
    how = {"model": MODEL, "max_tokens": 1_000, "tools": TOOLS, **how}
    return client.messages.create(messages=list(messages) or [ASKED], **how)


def results(message, text="ok"):
    calls = [block for block in message.content if block.type == "tool_use"]
    content = [{"type": "tool_result", "tool_use_id": c.id, "content": text} for c in calls]
    return {"role": "user", "content": content}


def replayed(message):
    """The message as a client sends it back that drops what it does not know."""
    keep = {"type", "text", "thinking", "signature", "data", "id", "name", "input"}
    blocks = [block.model_dump(include=keep, exclude_none=True) for block in message.content]
    return {"role": "assistant", "content": blocks}


MARK = {"cache_control": {"type": "ephemeral"}}


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


def marked(text, mark=MARK):
    return {"type": "text", "text": text, **mark}
