"""A round trip through the agent itself: it runs, its model is a stand-in, and its hook is ours.

Only this shows whether the CLI calls the hook at all, and still takes its answer: Codex skips one
that is not trusted, and any of them may change with its next version.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from headgate.doctor.check import PATH, Check, big_text, judged
from headgate.install.plan import Site
from headgate.testing.provider import Provider
from headgate.testing.replies import Call, Piece, Request, Scripted, Think

LINES = 1_000
"""Fewer than elsewhere: Codex would cut more before its hooks see it."""

MOST_TOKENS = 8_200
"""The limit of a result, and what a CLI may add to it in words of its own."""
TIMEOUT_S = 240
PREFIX = "headgate-doctor-"
FIRST_LINE = "worker 1: compiled module_1.c"


@dataclass(frozen=True, slots=True)
class Start:
    """How a CLI is run once, with a stand-in for its provider."""

    words: Callable[[str], list[str]]
    """From the address of the stand-in."""
    environ: Callable[[str], dict[str, str]]
    call: Call
    """What the model asks for."""
    opening: tuple[Piece, ...] = ()
    """What it must say before."""


@dataclass(slots=True)
class Model:
    """Asks for the large result once, then is done."""

    start: Start
    asked: bool = False
    seen: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Scripted:
        """Answer one request."""
        if not request.json.get("tools"):
            return "A title."
        self.seen.append(request)
        if self.asked:
            return "Done."
        self.asked = True
        return [*self.start.opening, self.start.call]


def checks(client: str, site: Site) -> list[Check]:
    """Run the CLI once, and judge what its model received."""
    start = STARTS[client]
    name = start.words("")[0]
    program = shutil.which(name, path=site.environ.get("PATH"))
    if program is None:
        return [Check(client, "live", "starts", False, f"there is no command {name!r} on the PATH")]
    sent, model = big_text(LINES), Model(start)
    with (
        TemporaryDirectory(prefix="headgate-doctor-") as folder,
        Provider(answer=model) as provider,
    ):
        Path(folder, "big.txt").write_text(sent, encoding="utf-8")
        said = _run([program, *start.words(provider.url)[1:]], start, provider.url, folder, site)
        if len(model.seen) < 2:
            says = f"it asked its model {len(model.seen)} times, 2 are needed; it said: {said}"
            return [Check(client, "live", "starts", False, says)]
        texts = [text for text in _texts(dict(model.seen[-1].json)) if FIRST_LINE in text]
        if not texts:
            says = f"no result reached the model; it said: {said}"
            return [Check(client, "live", "starts", False, says)]
        text = max(texts, key=len)
        if not PATH.search(text):
            says = f"the hook was not called, or its answer not taken; {text[:60]!r}… arrived"
            return [Check(client, "live", "called", False, says)]
        return judged(client, "live", text, sent, MOST_TOKENS)


def _run(words: list[str], start: Start, url: str, folder: str, site: Site) -> str:
    """Run the CLI to its end; gives the last of what it said."""
    try:
        ran = subprocess.run(
            words,
            cwd=folder,
            env={**site.environ, **start.environ(url), "PWD": folder},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"nothing for {TIMEOUT_S} s"
    return (ran.stdout + ran.stderr)[-300:].decode(errors="replace").strip()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, Mapping) else ():
        yield from _texts(part)
    for part in value if isinstance(value, list) else ():
        yield from _texts(part)


def _codex(url: str) -> list[str]:
    provider = f'{{name="doctor", base_url="{url}/v1", wire_api="responses", env_key="DOCTOR_KEY"}}'
    settings = (
        'model="gpt-5.1"',
        'model_provider="doctor"',
        f"model_providers.doctor={provider}",
        'approval_policy="never"',
        'sandbox_mode="danger-full-access"',
    )
    options = [word for setting in settings for word in ("-c", setting)]
    return ["codex", "exec", "--skip-git-repo-check", *options, "go"]


def _opencode(url: str) -> dict[str, str]:
    model = {"name": "gpt-5", "tool_call": True, "limit": {"context": 400_000, "output": 1_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "doctor",
        "options": {"baseURL": f"{url}/v1", "apiKey": "doctor"},
        "models": {"gpt-5": model},
    }
    config = {
        "model": "doctor/gpt-5",
        "small_model": "doctor/gpt-5",
        "provider": {"doctor": provider},
        "autoupdate": False,
    }
    content = {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}
    return {**content, "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}


CAT = "cat big.txt"
STARTS: Mapping[str, Start] = {
    "claude-code": Start(
        lambda url: [
            *("claude", "-p", "go", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash")
        ],
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "doctor",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        Call("Bash", {"command": CAT, "description": "read"}),
        (Think("Let me see."),),
    ),
    "codex": Start(
        _codex,
        lambda url: {"DOCTOR_KEY": "doctor"},
        Call("exec_command", {"cmd": CAT, "max_output_tokens": 30_000}),
    ),
    "gemini": Start(
        lambda url: ["gemini", "-y", "-m", "gemini-2.5-flash", "-p", "go"],
        lambda url: {
            "GEMINI_API_KEY": "doctor",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        Call("run_shell_command", {"command": CAT, "description": "read"}),
    ),
    "opencode": Start(
        lambda url: ["opencode", "run", "go"],
        _opencode,
        Call("bash", {"command": CAT, "description": "read"}),
    ),
}
