"""How each agent CLI is run: its own home, a false key, and the stand-in as its provider."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headgate.testing import Call, Think

BIN = Path(os.environ.get("HEADGATE_CLIENTS", ""), "node_modules", ".bin")

LONGEST_S = 240


@dataclass(frozen=True)
class Program:
    """One CLI: the names of its tools, and what it needs to start."""

    name: str
    dialect: str
    url: str
    """How the stand-in is called: `url`, or `openai_url`."""
    setup: Callable[[Path, str], tuple[list[str], dict[str, str]]]
    """Writes the configuration of a home folder; gives the words and the environment."""
    shell: Callable[[str], Call]
    read: Callable[[str, int, int], Call]
    """Reads some lines of a file, from the first and so many."""
    opening: tuple[Think, ...] = ()
    """What the model must say before it calls."""
    is_set: bool = True
    """Whether `install --gateway` finds the address that this program uses."""


HEADGATE = str(Path(sys.executable).with_name("headgate"))


def clean(home: Path) -> dict[str, str]:
    """An environment with nothing of ours in it."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "TERM": "dumb"}


def headgate(home: Path, *words: str) -> subprocess.CompletedProcess:
    """Run our own command."""
    return subprocess.run([HEADGATE, *words], env=clean(home), check=True, capture_output=True)


def run(program: Program, home: Path, folder: Path, url: str) -> subprocess.CompletedProcess:
    """Run a CLI to its end in a clean environment."""
    words, environ = program.setup(home, url)
    return subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        cwd=folder,
        env={**clean(home), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LONGEST_S,
    )


def merged(path: Path, **settings: object) -> None:
    """Add settings to a JSON file, keeping what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**settings, **found}, indent=2))


def claude_code(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    settings = home / ".claude" / "settings.json"
    found = json.loads(settings.read_text()) if settings.exists() else {}
    allow = [*found.get("permissions", {}).get("allow", []), "Bash"]
    merged(settings)
    settings.write_text(json.dumps({**found, "permissions": {"allow": allow}}))
    environ = {"ANTHROPIC_API_KEY": "sk-ant-x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    if "ANTHROPIC_BASE_URL" not in found.get("env", {}):
        environ["ANTHROPIC_BASE_URL"] = url
    return ["claude", "-p", "go", "--model", "claude-sonnet-4-5"], environ


CODEX = """\
model = "gpt-5.1"
model_provider = "stand_in"
approval_policy = "never"
sandbox_mode = "danger-full-access"
{rest}
[model_providers.stand_in]
name = "stand-in"
base_url = "{url}"
wire_api = "responses"
env_key = "STAND_IN_KEY"
"""


def codex(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    rest = config.read_text() if config.exists() else ""
    if "model_providers" not in rest:
        config.write_text(CODEX.format(url=url, rest=rest))
    words = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"]
    return words, {"CODEX_HOME": str(config.parent), "STAND_IN_KEY": "x"}


def gemini(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    merged(
        home / ".gemini" / "settings.json",
        security={"auth": {"selectedType": "gemini-api-key"}},
        telemetry={"enabled": False},
        privacy={"usageStatisticsEnabled": False},
        general={"disableAutoUpdate": True},
    )
    environ = {"GEMINI_API_KEY": "x", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    if not (home / ".gemini" / ".env").exists():
        environ["GOOGLE_GEMINI_BASE_URL"] = url
    return ["gemini", "-y", "-m", "gemini-2.5-flash", "-p", "go"], environ


def opencode(home: Path, url: str) -> tuple[list[str], dict[str, str]]:
    settings = home / ".config" / "opencode" / "opencode.json"
    merged(
        settings,
        autoupdate=False,
        share="disabled",
        model="stand-in/gpt-5",
        small_model="stand-in/gpt-5",
    )
    found = json.loads(settings.read_text())
    stand_in = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stand-in",
        "options": {"baseURL": url, "apiKey": "x"},
        "models": {"gpt-5": {"name": "gpt-5", "tool_call": True, "limit": LIMIT}},
    }
    # A provider of the user's own keeps its address, so he sets it by hand.
    found["provider"] = {**found.get("provider", {}), "stand-in": stand_in}
    settings.write_text(json.dumps(found))
    environ = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return ["opencode", "run", "go"], environ


LIMIT: Mapping[str, int] = {"context": 400_000, "output": 1_000}

PROGRAMS = {
    program.name: program
    for program in (
        Program(
            "claude-code",
            "anthropic",
            "url",
            claude_code,
            lambda command: Call("Bash", {"command": command, "description": "run"}),
            lambda path, first, count: Call(
                "Read", {"file_path": path, "offset": first, "limit": count}
            ),
            (Think("Let me see."),),
        ),
        Program(
            "codex",
            "openai-responses",
            "openai_url",
            codex,
            # Codex cuts at 10,000 tokens unless the model asks for more.
            lambda command: Call("exec_command", {"cmd": command, "max_output_tokens": 30_000}),
            lambda path, first, count: Call(
                "exec_command", {"cmd": f"sed -n {first},{first + count - 1}p {path}"}
            ),
        ),
        Program(
            "gemini",
            "gemini",
            "url",
            gemini,
            lambda command: Call("run_shell_command", {"command": command, "description": "run"}),
            lambda path, first, count: Call(
                "read_file",
                {"file_path": path, "start_line": first, "end_line": first + count - 1},
            ),
        ),
        Program(
            "opencode",
            "openai-chat",
            "openai_url",
            opencode,
            lambda command: Call("bash", {"command": command, "description": "run"}),
            lambda path, first, count: Call(
                "read", {"filePath": path, "offset": first, "limit": count}
            ),
            is_set=False,
        ),
    )
}
