"""A small MCP server of plain Python, so that it starts at once: `python servers.py [HOW]`."""

import json
import os
import sys
import time

TEXT_SCHEMA = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
}
CLOSED_SCHEMA = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "integer"}}},
    "required": ["rows"],
    "additionalProperties": False,
}
LATER = []
"""What came while a question was open."""

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = [
    {"name": "lines", "inputSchema": NUMBER, "outputSchema": TEXT_SCHEMA},
    {"name": "rows", "inputSchema": NUMBER, "outputSchema": CLOSED_SCHEMA},
    {"name": "environment", "inputSchema": {"type": "object"}},
    {"name": "crash", "inputSchema": {"type": "object"}},
    {"name": "hang", "inputSchema": {"type": "object"}},
    {"name": "garble", "inputSchema": {"type": "object"}},
    {"name": "ask", "inputSchema": {"type": "object"}},
]


def lines(n):
    text = "\n".join(f"line {i} of the log" for i in range(1, n + 1))
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}


def rows(n):
    value = {"rows": list(range(n))}
    return {
        "content": [{"type": "text", "text": json.dumps(value)}],
        "structuredContent": value,
    }


def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(number, name, arguments, how):
    if name in ("lines", "rows"):
        return say(id=number, result=globals()[name](arguments.get("n", 3)))
    if name == "environment":
        text = json.dumps({**os.environ, "argv": sys.argv[1:]})
        return say(id=number, result={"content": [{"type": "text", "text": text}]})
    if name == "crash":
        os._exit(3)
    if name == "garble":
        print("Debugger listening on ws://127.0.0.1")
        return print(f'{{"id":{number},"result":[[', flush=True)
    if name == "ask":
        say(id="q", method="sampling/createMessage", params={"maxTokens": 5, "messages": []})
        while (reply := json.loads(sys.stdin.readline())).get("id") != "q":
            LATER.append(reply)
        text = json.dumps(reply.get("result", reply.get("error")))
        return say(id=number, result={"content": [{"type": "text", "text": text}]})
    while True:
        time.sleep(60)


def messages():
    for line in iter(sys.stdin.readline, ""):
        yield json.loads(line)
        while LATER:
            yield LATER.pop(0)


def main(how):
    if how == "stubborn":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tools = [*TOOLS, {"name": "read_result", "inputSchema": {}}] if how == "clash" else TOOLS
    for message in messages():
        number, method = message.get("id"), message.get("method")
        params = message.get("params") or {}
        if method == "initialize":
            say(
                id=number,
                result={
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "plain", "version": "1"},
                },
            )
        elif method == "tools/list":
            say(id=number, result={"tools": tools})
        elif method == "tools/call":
            call(number, params["name"], params.get("arguments") or {}, how)
        elif number is not None and method:
            say(id=number, error={"code": -32601, "message": f"Method not found: {method}"})
    while how == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
