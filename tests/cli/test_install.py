import json

import pytest

from tests.cli.conftest import PROGRAM

OURS = f'"command": "{PROGRAM} hook claude-code"'


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def settings(home):
    return home / ".claude" / "settings.json"


def test_the_diff_is_shown_the_file_written_and_undone_exactly(headgate, home):
    settings(home).parent.mkdir(parents=True)
    settings(home).write_text('{"model": "opus"}\n')

    ran = headgate("install", "claude-code")

    assert ran.returncode == 0
    assert f"+++ {settings(home)}\n" in ran.stdout.decode()
    assert b"what stood there before is in " in ran.stderr
    assert OURS[len('"command": ') :].strip('"') in settings(home).read_text()
    ran = headgate("install", "claude-code", "--undo")
    assert (ran.returncode, ran.stderr) == (0, b"headgate: claude-code: the hook is out\n")
    assert settings(home).read_text() == '{"model": "opus"}\n'


def test_a_dry_run_changes_nothing(headgate, home, state):
    ran = headgate("install", "claude-code", "--gateway", "--dry-run")

    assert b'+    "ANTHROPIC_BASE_URL": "http://127.0.0.1:8787"\n' in ran.stdout
    assert not home.exists()
    assert not state.exists()


def test_a_second_time_there_is_nothing_to_change(headgate, home):
    headgate("install", "codex")

    ran = headgate("install", "codex")

    assert ran.stdout == b""
    assert b"codex is as it should be; nothing to change" in ran.stderr


def test_one_way_goes_out_and_the_other_stays(headgate, home):
    headgate("install", "claude-code", "--hook")
    headgate("install", "claude-code", "--gateway", "--url", "http://127.0.0.1:9000/")

    ran = headgate("install", "claude-code", "--undo", "--hook")

    assert ran.returncode == 0
    left = json.loads(settings(home).read_text())
    assert left["env"] == {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9000"}
    assert "hooks" not in left
    headgate("install", "claude-code", "--undo")
    assert not settings(home).exists()


def test_lines_that_were_changed_since_are_told_and_exit_with_1(headgate, home):
    headgate("install", "claude-code")
    settings(home).write_text('{"hooks": "mine now"}')

    ran = headgate("install", "claude-code", "--undo")

    assert ran.returncode == 1
    assert b"was changed in our lines; take these out by hand" in ran.stderr
    assert settings(home).read_text() == '{"hooks": "mine now"}'


def test_what_is_not_installed_cannot_be_undone(headgate, home):
    ran = headgate("install", "gemini", "--undo")

    assert ran.returncode == 2
    assert ran.stderr == b"headgate: gemini is not installed; there is nothing to undo\n"


def test_json_tells_files_and_notes(headgate, home):
    ran = headgate("install", "codex", "--json")

    hooks, config, notes = map(json.loads, ran.stdout.splitlines())
    assert hooks["path"] == str(home / ".codex" / "hooks.json")
    assert config["path"] == str(home / ".codex" / "config.toml")
    assert notes["notes"][0].startswith("Codex runs no hook that you have not trusted")


@pytest.mark.parametrize("url", ["http://x y", "127.0.0.1:8787", "http://x:port", "file:///x"])
def test_an_address_that_is_none_is_refused(headgate, home, url):
    ran = headgate("install", "claude-code", "--gateway", "--url", url)

    assert ran.returncode == 2
    assert b"--url: it takes http(s)://HOST[:PORT][/PATH]" in ran.stderr
    assert not settings(home).exists()


def test_the_gateway_is_started_at_the_port_of_its_address(headgate, home):
    url = "http://127.0.0.1:9000/token/abc"

    ran = headgate("install", "claude-code", "--gateway", "--url", url)

    assert b"start the gateway before the agent: headgate gateway --port 9000\n" in ran.stderr


@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude-code", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", ".config/opencode/opencode.json"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(headgate, home, client, file):
    path = home / file
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("{]")

    ran = headgate("install", client, "--mcp")

    assert ran.returncode == 2
    assert ran.stderr.decode().startswith(f"headgate: {path}: the file is no ")
    assert ran.stderr.count(b"\n") == 1
