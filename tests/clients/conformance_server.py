"""A server on stdio with what the MCP conformance suite asks for, of plain Python."""

import json
import sys

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
BEEP = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def text(words):
    return {"type": "text", "text": words}


def embedded(uri, mime, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": words}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": BEEP, "mimeType": "audio/wav"}

PLAIN = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [embedded("test://embedded", "text/plain", "An embedded text.")],
    "test_multiple_content_types": [
        text("Several kinds of content:"),
        IMAGE,
        embedded("test://mixed", "application/json", '{"test":"data","value":123}'),
    ],
}

DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
TITLED = [{"const": f"value{i}", "title": f"Option {i}"} for i in (1, 2, 3)]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
ASKS = {
    "test_elicitation": {"username": {"type": "string"}, "email": {"type": "string"}},
    "test_elicitation_sep1034_defaults": DEFAULTS,
    "test_elicitation_sep1330_enums": ENUMS,
}
TOOLS = [
    *PLAIN,
    *ASKS,
    *("test_sampling", "test_error_handling", "test_tool_with_logging", "test_tool_with_progress"),
]

RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "A text that does not change."},
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
    "test://watched-resource": {"mimeType": "text/plain", "text": "A text that is watched."},
}
PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method, **params):
    """Ask the client, and wait for its answer."""
    say(id="asked", method=method, params=params)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "asked":
            return message.get("result", {})
    return {}


def called(params):
    name, arguments = params["name"], params.get("arguments", {})
    if name in PLAIN:
        return {"content": PLAIN[name]}
    if name in ASKS:
        schema = {"type": "object", "properties": ASKS[name], "required": []}
        message = arguments.get("message", "Please answer.")
        result = ask("elicitation/create", message=message, requestedSchema=schema)
        said = json.dumps(result.get("content", {}))
        return {"content": [text(f"User response: action={result.get('action')}, content={said}")]}
    if name == "test_sampling":
        messages = [{"role": "user", "content": text(arguments.get("prompt", ""))}]
        result = ask("sampling/createMessage", messages=messages, maxTokens=100)
        return {"content": [text(f"LLM response: {result['content']['text']}")]}
    if name == "test_error_handling":
        return {"content": [text("This tool returns an error on purpose.")], "isError": True}
    for done in (0, 50, 100):
        if name == "test_tool_with_logging":
            say(method="notifications/message", params={"level": "info", "data": f"at {done}"})
        else:
            token = params["_meta"]["progressToken"]
            progress = {"progressToken": token, "progress": done, "total": 100}
            say(method="notifications/progress", params=progress)
    return {"content": [text("done")]}


def prompted(params):
    name, arguments = params["name"], params.get("arguments", {})
    said = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [text(f"With {json.dumps(arguments)}")],
        "test_prompt_with_embedded_resource": [
            embedded(arguments.get("resourceUri", ""), "text/plain", "An embedded text."),
            text("Please look at it."),
        ],
        "test_prompt_with_image": [IMAGE, text("Please look at it.")],
    }[name]
    return {"messages": [{"role": "user", "content": block} for block in said]}


def read(uri):
    if uri in RESOURCES:
        return {"contents": [{"uri": uri, **RESOURCES[uri]}]}
    number = uri.removeprefix("test://template/").removesuffix("/data")
    words = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
    return {"contents": [{"uri": uri, "mimeType": "application/json", "text": words}]}


def answered(method, params):
    if method == "initialize":
        offers = ("logging", "completions", "tools", "prompts")
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {name: {} for name in offers} | {"resources": {"subscribe": True}},
            "serverInfo": {"name": "conformance", "version": "1"},
        }
    schema = {"type": "object", "properties": {}}
    lists = {
        "tools/list": {
            "tools": [{"name": n, "description": n, "inputSchema": schema} for n in TOOLS]
        },
        "resources/list": {"resources": [{"uri": uri, "name": uri} for uri in RESOURCES]},
        "resources/templates/list": {
            "resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template"}]
        },
        "prompts/list": {
            "prompts": [
                {
                    "name": n,
                    "description": n,
                    "arguments": [{"name": a, "required": True} for a in taken],
                }
                for n, taken in PROMPTS.items()
            ]
        },
        "completion/complete": {"completion": {"values": [], "total": 0, "hasMore": False}},
    }
    if method in lists:
        return lists[method]
    if method == "tools/call":
        return called(params)
    if method == "prompts/get":
        return prompted(params)
    return read(params["uri"]) if method == "resources/read" else {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        say(id=message["id"], result=answered(message["method"], message.get("params") or {}))
