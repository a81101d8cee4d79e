"""What the recipes share: a tool that says too much, and a stand-in for the provider.

With OPENAI_BASE_URL, or ANTHROPIC_BASE_URL, in the environment the provider there is asked.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headgate.testing import Call, Provider, Think, lines
from headgate.testing.replies import Request, Scripted

QUESTION = "Why did the deploy fail?"


def host_log(host: str) -> str:
    """The log of a host: 3,000 lines."""
    return lines(3_000, n1500=f"ERROR: disk 7 of {host} is full")


@contextmanager
def provider(variable: str, server: str = "", reader: str = "read_result") -> Iterator[str]:
    """The address of the model; a stand-in asks for two logs at once, then for a part of one.

    `server` stands before the name of the tool where it is a server's.
    """
    if variable in os.environ:
        yield os.environ[variable]
        return

    def answer(request: Request) -> Scripted:
        shown = results(request)
        if not shown:
            logs = [
                Call(f"{server}host_log", {"host": host}, id=f"call_{host}") for host in ("a", "b")
            ]
            return [Think("Let me see."), *logs]
        if len(shown) == 2:
            [ref] = {ref for text in shown if "of a is full" in text for ref in refs(text)}
            return Call(reader, {"ref": ref, "lines": "701-703"}, id="call_c")
        return "Disk 7 is full."

    with Provider(answer=answer) as stand_in:
        yield stand_in.openai_url if variable.startswith("OPENAI") else stand_in.url
        print("\n\n".join(results(stand_in.requests[-1])))


def refs(text: str) -> list[str]:
    """The refs that markers in a text name."""
    return re.findall(r"r_[a-z2-7]{12}", text)


def results(request: Request) -> list[str]:
    """The results in a request, in the words of OpenAI Chat, OpenAI Responses or Anthropic."""
    found: list[str] = []
    for message in request.json.get("input") or request.json["messages"]:
        if message.get("role") == "tool":
            found.append(message["content"])
        elif message.get("type") == "function_call_output":
            found.append(message["output"])
        elif isinstance(message.get("content"), list):
            blocks = [block for block in message["content"] if block["type"] == "tool_result"]
            found += [text_of(block["content"]) for block in blocks]
    return found


def text_of(content: Any) -> str:
    """A result of Anthropic's, without what Claude Code adds on the window that is left."""
    texts = [content] if isinstance(content, str) else [block["text"] for block in content]
    return "\n".join(texts).split("\n\n<system-reminder>")[0]
