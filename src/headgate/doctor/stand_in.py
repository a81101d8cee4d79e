"""A stand-in for an MCP server, on stdin and stdout: its one tool answers with a large text."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from headgate.doctor.check import big_text

TOOL = "build"


def answer(method: object) -> dict[str, object]:
    """The answer to a request, as much as a proxy asks of a server."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "doctor", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": TOOL, "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": big_text()}]}
    return {}


def main() -> None:
    """Answer one line after the other."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if isinstance(message, Mapping) and "id" in message and "method" in message:
            said = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"])}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
