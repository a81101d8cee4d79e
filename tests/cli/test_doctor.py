"""`headgate doctor` must be able to fail, and to say why."""

import json
import sys
import time

import pytest

from headgate import Policy
from headgate.failures import note
from headgate.gateway import Running, Serving
from tests.proxy import servers


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


SHORT = 'echo \'{"decision": "block", "reason": "x"}\' #'


def doctor(headgate, *words):
    """The exit code, and what each check says, by its name."""
    ran = headgate("doctor", "--json", *words, timeout=60)
    checks = [json.loads(line) for line in ran.stdout.splitlines()]
    return ran.returncode, {check["name"]: (check["ok"], check["says"]) for check in checks}


def test_nothing_installed_is_something_wrong(headgate, home):
    code, checks = doctor(headgate)

    assert code == 1
    assert checks["installed"] == (False, "nothing is installed; see headgate install --help")


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "opencode"])
def test_a_hook_that_works_is_proved_by_a_round_trip(headgate, home, state, client):
    headgate("install", client)

    code, checks = doctor(headgate, client)

    assert code == 0
    assert {name: ok for name, (ok, _) in checks.items()} == dict.fromkeys(
        ["state", "configured", "shortened", "kept", "read back"], True
    )
    assert list((state / "sessions").iterdir()) == []


@pytest.mark.parametrize(
    ("command", "name", "says"),
    [
        ("true #", "answers", "exits with 0 and says 'nothing'"),
        ("/no/such/bin #", "answers", "exits with 127 and says"),
        ("echo '{}' #", "answers", "not one that codex takes: KeyError"),
        ("echo nonsense #", "answers", "not one that codex takes: JSONDecodeError"),
        ('echo \'{"decision": "allow"}\' #', "answers", "its decision is 'allow'"),
        (
            'echo \'{"decision": "block", "reason": "x"}\' #',
            "kept",
            "the line that matters is lost",
        ),
        ('echo \'{"decision": "block", "reason": "x"}\' #', "read back", "no file is named"),
    ],
)
def test_a_hook_that_does_not_do_its_work_is_found_out(headgate, home, command, name, says):
    headgate("install", "codex")
    hooks = home / ".codex" / "hooks.json"
    settings = json.loads(hooks.read_text())
    hook = settings["hooks"]["PostToolUse"][0]["hooks"][0]
    hook["command"] = f"{command} {hook['command']}"
    hooks.write_text(json.dumps(settings))

    code, checks = doctor(headgate, "codex")

    assert code == 1
    assert checks[name][0] is False
    assert says in checks[name][1]


def test_a_policy_that_lets_everything_in_is_found_out(headgate, home, monkeypatch):
    headgate("install", "claude-code")
    monkeypatch.setenv("HEADGATE_RESULT", "900000")
    monkeypatch.setenv("HEADGATE_BATCH", "900000")

    code, checks = doctor(headgate, "claude-code")

    assert code == 1
    assert checks["answers"] == (False, checks["answers"][1])


def test_a_configuration_without_our_hook_is_found_out(headgate, home):
    headgate("install", "gemini")
    (home / ".gemini" / "settings.json").write_text("{}")

    code, checks = doctor(headgate, "gemini")

    assert code == 1
    assert "has no hook of ours; run headgate install gemini" in checks["configured"][1]


def test_hooks_that_are_switched_off_are_found_out(headgate, home):
    headgate("install", "claude-code")
    settings = home / ".claude" / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "disableAllHooks": True}))

    code, checks = doctor(headgate, "claude-code")

    assert code == 1
    assert checks["enabled"][0] is False


def test_a_gateway_that_does_not_run_is_found_out_and_one_that_does_is_proved(
    headgate, home, tmp_path
):
    serving = Serving(Policy(), port=0, admin_port=None, state=tmp_path / "running")
    with Running(serving) as gateway:
        headgate("install", "claude-code", "--gateway", "--url", gateway.url)
        code, checks = doctor(headgate, "claude-code")
        assert {name: ok for name, (ok, _) in checks.items()} == dict.fromkeys(
            [
                *("state", "configured", "running", "folder"),
                *("shortened", "kept", "read back", "stable"),
            ],
            True,
        )
        assert code == 0

    code, checks = doctor(headgate, "claude-code")

    assert code == 1
    assert checks["running"][0] is False
    assert checks["running"][1].endswith("start it: headgate gateway")


def test_a_server_behind_the_proxy_is_proved_by_a_round_trip(headgate, home, state):
    settings = home / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True)
    server = {"type": "local", "command": [sys.executable, servers.__file__]}
    settings.write_text(json.dumps({"mcp": {"logs": server}}))
    headgate("install", "opencode", "--mcp")

    code, checks = doctor(headgate, "opencode")

    assert code == 0
    assert {name: ok for name, (ok, _) in checks.items()} == dict.fromkeys(
        ["state", "configured", "starts", "shortened", "kept", "read back"], True
    )
    assert checks["configured"][1] == f"{settings} starts logs through headgate"
    assert checks["starts"][1] == "logs offers 8 tools, with read_result"
    assert checks["read back"][1] == "read_result gives back every line of 3,000"
    assert list((state / "sessions").glob("doctor-*")) == []


def test_servers_that_do_not_start_or_are_not_behind_the_proxy_any_more_are_found_out(
    headgate, home
):
    home.mkdir()
    servers = home / ".claude.json"
    servers.write_text('{"mcpServers": {"git": {"command": "git-mcp"}}}')
    headgate("install", "claude-code", "--mcp")

    code, checks = doctor(headgate, "claude-code")

    assert code == 1
    assert checks["configured"][0] is True
    assert checks["starts"][0] is False
    assert "git-mcp: no such file or directory" in checks["starts"][1]

    servers.write_text('{"mcpServers": {"git": {"command": "git-mcp"}}}')

    assert doctor(headgate, "claude-code")[1]["configured"] == (
        False,
        f"{servers} has no server behind headgate",
    )


def test_what_failed_since_yesterday_is_told(headgate, home, state):
    note("hook codex: OSError: nope", state, clock=lambda: time.time_ns() - 2 * 86_400 * 10**9)
    assert "failures" not in doctor(headgate)[1]

    note("hook codex: ValueError: oh", state)

    assert doctor(headgate)[1]["failures"] == (
        False,
        "1 since yesterday let a result through; the last: hook codex: ValueError: oh",
    )


def test_a_table_says_what_is_wrong(headgate, home):
    ran = headgate("doctor")

    assert b"WRONG  installed" in ran.stdout
    assert ran.stderr == b"headgate: 1 of the checks found something wrong\n"
