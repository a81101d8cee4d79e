"""A round trip through a hook: the very command that is configured, and an event as CLIs write it.

Nothing of this asks our own code whether it works. The configuration is read from where the CLI
reads it, the command is run by a shell, and its answer is read as the CLI reads it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from headgate.doctor.check import Check, big_text, judged
from headgate.errors import RequestError
from headgate.install import claude_code, codex, gemini, jsonc, opencode
from headgate.install.plan import TIMEOUT_S, Site, is_ours

MOST_TOKENS = 8_000
"""What a hook may leave of a result under the default policy."""

PLUGIN = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)

PLACES: Mapping[str, tuple[Callable[[Site], Path], str]] = {
    "claude-code": (claude_code.settings, "PostToolUse"),
    "codex": (lambda site: codex.folder(site) / "hooks.json", "PostToolUse"),
    "gemini": (gemini.settings, "AfterTool"),
}
"""Where each CLI reads its hooks, and the event of ours."""


def configured(client: str, site: Site) -> tuple[Path, str | None]:
    """The file that a CLI reads, and the command of ours in it; None: there is none."""
    if client == "opencode":
        path = opencode.folder(site) / "plugins" / "headgate.js"
        found = PLUGIN.search(site.read(path) or "")
        return path, shlex.join(json.loads(found[1])) if found else None
    where, event = PLACES[client]
    path = where(site)
    text = site.read(path) or ""
    try:
        return path, next(_commands(jsonc.load(text), event), None)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error


def _commands(settings: object, event: str) -> Iterator[str]:
    hooks = settings.get("hooks") if isinstance(settings, Mapping) else None
    entries = hooks.get(event) if isinstance(hooks, Mapping) else None
    for entry in entries if isinstance(entries, list) else []:
        for hook in entry.get("hooks", []) if isinstance(entry, Mapping) else []:
            command = hook.get("command") if isinstance(hook, Mapping) else None
            if isinstance(command, str) and is_ours(command):
                yield command


def checks(client: str, site: Site) -> list[Check]:
    """Look at the hook of a CLI, and send a large result through it."""
    try:
        path, command = configured(client, site)
    except RequestError as error:
        return [Check(client, "hook", "configured", False, str(error))]
    if command is None:
        says = f"{path} has no hook of ours; run headgate install {client}"
        return [Check(client, "hook", "configured", False, says)]
    found = [Check(client, "hook", "configured", True, f"{path} calls {command}")]
    if off := switched_off(client, site):
        found.append(Check(client, "hook", "enabled", False, off))
    return found + round_trip(client, command, site)


def switched_off(client: str, site: Site) -> str:
    """Why a CLI would not run its hooks at all; empty: nothing says so."""
    if client in ("codex", "opencode"):
        return ""
    path = PLACES[client][0](site)
    settings = jsonc.load(site.read(path) or "")
    if not isinstance(settings, Mapping):
        return ""
    if client == "claude-code" and (ignored := claude_code.unread(site)):
        return ignored
    if client == "claude-code" and settings.get("disableAllHooks") is True:
        return f"{path} says disableAllHooks, so no hook runs"
    config = settings.get("hooksConfig")
    if client == "gemini" and isinstance(config, Mapping) and config.get("enabled") is False:
        return f"{path} says hooksConfig.enabled is false, so no hook runs"
    return ""


def round_trip(client: str, command: str, site: Site) -> list[Check]:
    """Run the command with a large result, and judge what would reach the model."""
    sent, session = big_text(), f"doctor-{secrets.token_hex(6)}"
    with TemporaryDirectory(prefix="headgate-doctor-") as folder:
        event = event_for(client, sent, session, Path(folder))
        environ = {**site.environ, "XDG_DATA_HOME": folder}
        try:
            ran = subprocess.run(
                ["sh", "-c", command],
                input=json.dumps(event).encode(),
                capture_output=True,
                env=environ,
                timeout=TIMEOUT_S,
                check=False,
            )
            return _judged(client, command, ran, sent)
        except subprocess.TimeoutExpired:
            says = f"{command} did not answer within {TIMEOUT_S} s"
            return [Check(client, "hook", "answers", False, says)]
        finally:
            shutil.rmtree(site.sessions / f"{client}-{session}", ignore_errors=True)


def _judged(
    client: str, command: str, ran: subprocess.CompletedProcess[bytes], sent: str
) -> list[Check]:
    said = ran.stderr.decode(errors="replace").strip()
    if ran.returncode or not ran.stdout.strip():
        says = f"{command} exits with {ran.returncode} and says {said or 'nothing'!r}"
        return [Check(client, "hook", "answers", False, says)]
    try:
        text = shown_by(client, json.loads(ran.stdout))
    except (ValueError, KeyError, TypeError, OSError) as error:
        says = f"its answer is not one that {client} takes: {type(error).__name__}: {error}"
        return [Check(client, "hook", "answers", False, says)]
    return judged(client, "hook", text, sent, MOST_TOKENS)


def event_for(client: str, text: str, session: str, folder: Path) -> dict[str, object]:
    """An event with a large result, as a CLI writes it."""
    event: dict[str, object] = {
        "session_id": session,
        "cwd": os.getcwd(),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_use_id": "call_doctor",
        "tool_response": text,
    }
    if client == "claude-code":
        streams = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        transcript = str(folder / f"{session}.jsonl")
        return {**event, "transcript_path": transcript, "tool_response": streams}
    if client == "gemini":
        transcript = str(folder / "chats" / "session.jsonl")
        response = {"llmContent": text, "returnDisplay": ""}
        after = {"hook_event_name": "AfterTool", "tool_name": "run_shell_command"}
        return {**event, **after, "transcript_path": transcript, "tool_response": response}
    if client == "opencode":
        return {**event, "hook_event_name": "tool.execute.after", "tool_name": "bash"}
    return event


def shown_by(client: str, answer: dict[str, object]) -> str:
    """What the model would get, as a CLI reads our answer."""
    if client == "codex":
        if answer["decision"] != "block":
            raise ValueError(f"its decision is {answer['decision']!r}")
        return _text(answer["reason"])
    if client == "opencode":
        return _text(answer["output"])
    if client == "gemini" and answer.get("decision") == "deny":
        return _text(answer["reason"])
    said = answer["hookSpecificOutput"]
    if not isinstance(said, dict):
        raise TypeError("hookSpecificOutput is no object")
    if client == "gemini":
        return Path(said["tailToolCallRequest"]["args"]["file_path"]).read_text(encoding="utf-8")
    return _text(said["updatedToolOutput"]["stdout"])


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value
