"""A round trip through the gateway: a large result on its way to a stand-in for the provider.

The gateway that runs is asked whether it is ours, without sending anything to a provider. A second
one, started from the same installation with the same policy, is then given a history with a large
result, and what the stand-in receives is judged.
"""

from __future__ import annotations

import http.client
import json
import re
import secrets
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from headgate.doctor.check import Check, big_text, judged
from headgate.install import claude_code, codex, gemini, opencode
from headgate.install.plan import Site
from headgate.testing.provider import Provider
from headgate.testing.replies import Request

TIMEOUT_S = 30
MOST_TOKENS = 8_000

NOBODY = "doctor.invalid"
"""A name under which no gateway may be called: ours refuses it, with words of its own."""


def files_of(client: str, site: Site) -> list[Path]:
    """Where the address of the gateway may stand for a CLI."""
    if client == "claude-code":
        return [claude_code.settings(site)]
    if client == "codex":
        return [codex.folder(site) / "config.toml"]
    if client == "gemini":
        return [gemini.settings(site).with_name(".env")]
    return [opencode.settings(site)]


def checks(client: str, site: Site) -> list[Check]:
    """Look at the gateway of a CLI, and send a large result through one like it."""

    def check(name: str, ok: bool, says: str) -> Check:
        return Check(client, "gateway", name, ok, says)

    runs, answer = is_running(site.gateway)
    readable = site.sessions.is_dir()
    found = [
        check("configured", *configured(client, site)),
        check("running", runs, answer),
        check("folder", readable, f"{site.sessions} is {'there' if readable else 'gone'}"),
    ]
    return found + round_trip(client, site)


def configured(client: str, site: Site) -> tuple[bool, str]:
    """Whether a CLI is told to call the gateway."""
    [path] = files_of(client, site)
    if client == "claude-code" and (ignored := claude_code.unread(site)):
        return False, ignored
    there = site.gateway in (site.read(path) or "")
    return there, f"{path} {'names' if there else 'does not name'} {site.gateway}"


def is_running(url: str) -> tuple[bool, str]:
    """Whether a gateway of ours listens at an address."""
    try:
        with closing(_connection(url)) as connection:
            connection.request("GET", "/", headers={"Host": NOBODY})
            response = connection.getresponse()
            body = response.read(10_000).decode(errors="replace")
    except (OSError, ValueError, http.client.HTTPException) as error:
        return False, f"nothing answers at {url} ({error}); start it: headgate gateway"
    if response.status == 421 and NOBODY in body:
        return True, f"a gateway answers at {url}"
    return False, f"what answers at {url} is no gateway of ours (status {response.status})"


def _connection(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=5)


def round_trip(client: str, site: Site) -> list[Check]:
    """Send a history with a large result, twice, and judge what the stand-in received."""
    sent, session = big_text(), f"doctor-{secrets.token_hex(6)}"
    path, headers, body = REQUESTS[client]
    try:
        with Provider("Done.", "Done.") as provider, started(site, provider.url, session) as url:
            for _ in range(2):
                _post(f"{url}{path}", headers, json.dumps(body(sent)).encode())
            requests = [request for request in provider.requests if request.dialect]
            return _judged(client, requests, sent)
    except (OSError, ValueError) as error:
        return [Check(client, "gateway", "answers", False, f"{type(error).__name__}: {error}")]
    finally:
        shutil.rmtree(site.sessions / session, ignore_errors=True)


def _judged(client: str, requests: list[Request], sent: str) -> list[Check]:
    if len(requests) != 2 or any(request.status != 200 for request in requests):
        says = ", ".join(f"{request.status} {request.error}" for request in requests) or "nothing"
        return [Check(client, "gateway", "answers", False, f"the stand-in received: {says}")]
    text = max(_texts(dict(requests[0].json)), key=len)
    same = requests[0].body == requests[1].body
    says = f"the same history is sent again {'to the byte' if same else 'in other bytes'}"
    stable = Check(client, "gateway", "stable", same, says)
    return [*judged(client, "gateway", text, sent, MOST_TOKENS), stable]


@contextmanager
def started(site: Site, upstream: str, session: str) -> Iterator[str]:
    """A gateway from the same installation that sends to a stand-in."""
    named = [f"--upstream={name}={upstream}" for name in ("anthropic", "openai", "gemini")]
    words = [site.program, "gateway", "--port=0", "--no-admin", "--json", f"--session={session}"]
    process = subprocess.Popen(
        [*words, *named], env=dict(site.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        if not line:
            said = process.stderr.read().decode(errors="replace").strip()
            raise OSError(f"the gateway does not start: {said}")
        yield str(json.loads(line)["url"])
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)


def _post(url: str, headers: Mapping[str, str], body: bytes) -> None:
    asked = urllib.request.Request(url, body, {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as response:
            response.read()
    except urllib.error.HTTPError as error:
        said = re.sub(r"\s+", " ", error.read(2_000).decode(errors="replace"))
        raise OSError(f"the gateway answers with {error.code}: {said}") from error


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else ():
        yield from _texts(part)
    for part in value if isinstance(value, list) else ():
        yield from _texts(part)


def _anthropic(text: str) -> dict[str, object]:
    call = {"type": "tool_use", "id": "toolu_doctor", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_doctor", "content": text}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    tool = {"name": "Bash", "input_schema": {"type": "object"}}
    return {"model": "claude-sonnet-4-5", "max_tokens": 64, "tools": [tool], "messages": messages}


def _responses(text: str) -> dict[str, object]:
    call = {"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "call_1", "output": text}
    return {"model": "gpt-5", "input": [{"role": "user", "content": "go"}, call, result]}


def _chat(text: str) -> dict[str, object]:
    function = {"name": "bash", "arguments": "{}"}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": text},
    ]
    return {"model": "gpt-5", "messages": messages}


def _gemini(text: str) -> dict[str, object]:
    response = {"name": "run_shell_command", "response": {"output": text}}
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": response}]},
    ]
    return {"contents": contents}


BEARER = {"authorization": "Bearer doctor"}
REQUESTS = {
    "claude-code": (
        "/v1/messages",
        {"x-api-key": "doctor", "anthropic-version": "2023-06-01"},
        _anthropic,
    ),
    "codex": ("/v1/responses", BEARER, _responses),
    "gemini": (
        "/v1beta/models/gemini-2.5-flash:generateContent",
        {"x-goog-api-key": "doctor"},
        _gemini,
    ),
    "opencode": ("/v1/chat/completions", BEARER, _chat),
}
"""What each CLI sends: the path, its headers, and a body with a large result."""
