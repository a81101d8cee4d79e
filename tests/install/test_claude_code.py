import json

import pytest

from headgate import RequestError
from headgate.install import claude_code
from tests.install.sites import after, site

SETTINGS = ".claude/settings.json"
OURS = {
    "matcher": "*",
    "hooks": [{"type": "command", "command": "/opt/headgate hook claude-code", "timeout": 20}],
}


def test_the_hook_goes_behind_those_that_are_there():
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "log"}]}
    text = json.dumps({"model": "opus", "hooks": {"PostToolUse": [other]}}, indent=2)

    [edited] = after(claude_code.hook(site({SETTINGS: text}))).values()

    expected = {"model": "opus", "hooks": {"PostToolUse": [other, OURS]}}
    assert edited == json.dumps(expected, indent=2)


def test_a_home_without_settings_gets_them():
    edited = after(claude_code.hook(site()))

    assert {path: json.loads(text) for path, text in edited.items()} == {
        SETTINGS: {"hooks": {"PostToolUse": [OURS]}}
    }


def test_a_hook_that_is_there_is_left_and_an_older_one_is_exchanged():
    there = json.dumps({"hooks": {"PostToolUse": [OURS]}})
    older = there.replace("/opt/headgate", "/old/bin/headgate")

    assert claude_code.hook(site({SETTINGS: there})).changes == ()
    [edited] = after(claude_code.hook(site({SETTINGS: older}))).values()
    assert json.loads(edited) == json.loads(there)


def test_a_preset_is_part_of_the_command():
    [edited] = after(claude_code.hook(site(preset="vtcode"))).values()

    assert '"/opt/headgate hook claude-code --preset vtcode"' in edited


def test_the_gateway_is_named_and_what_it_keeps_may_be_read():
    text = json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://corp/llm"}})

    plan = claude_code.gateway(site({SETTINGS: text}))

    [edited] = after(plan).values()
    assert json.loads(edited) == {
        "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8787"},
        "permissions": {"allow": ["Read(//home/u/.local/state/headgate/sessions/**)"]},
        "bashOutputMaxChars": 128_000,
    }
    assert plan.notes == (
        "start the gateway before the agent: "
        "headgate gateway --upstream anthropic=https://corp/llm",
    )


def test_every_server_of_the_user_goes_behind_the_proxy():
    git = {"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "b"}}
    web = {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer k"}}
    found = {
        "numStartups": 7,
        "mcpServers": {"git": git, "web": web, "login": {"type": "http", "url": "https://y/mcp"}},
        "projects": {"/work": {"mcpServers": {"fs": {"command": "fs"}}}},
    }

    plan = claude_code.mcp(site({".claude.json": json.dumps(found, indent=2)}))

    edited = json.loads(after(plan)[".claude.json"])
    assert edited["numStartups"] == 7
    assert edited["mcpServers"]["git"] == {
        "command": "/opt/headgate",
        "args": ["mcp", "--", "uvx", "mcp-server-git"],
        "env": {"A": "b"},
    }
    assert edited["mcpServers"]["web"] == {
        "command": "/opt/headgate",
        "args": ["mcp", "--url", "https://x/mcp", "--header", "Authorization: $HEADGATE_HEADER_1"],
        "env": {"HEADGATE_HEADER_1": "Bearer k"},
    }
    assert edited["mcpServers"]["login"] == {"type": "http", "url": "https://y/mcp"}
    assert edited["projects"]["/work"]["mcpServers"]["fs"] == {
        "command": "/opt/headgate",
        "args": ["mcp", "--", "fs"],
    }
    assert plan.notes[0].startswith("login: a server over HTTP without headers")


def test_servers_behind_the_proxy_are_not_put_there_twice():
    files = {".claude.json": json.dumps({"mcpServers": {"git": {"command": "git-mcp"}}})}
    once = after(claude_code.mcp(site(files)))

    assert claude_code.mcp(site(once)).changes == ()


def test_another_configuration_folder_is_found():
    elsewhere = site(environ={"CLAUDE_CONFIG_DIR": "/cfg"})

    assert str(claude_code.settings(elsewhere)) == "/cfg/settings.json"
    assert str(claude_code.servers(elsewhere)) == "/cfg/.claude.json"


def test_settings_that_cannot_be_read_are_left_alone():
    with pytest.raises(RequestError, match=r"settings.json: the file is no JSON: line 1 .*nothing"):
        claude_code.hook(site({SETTINGS: "{nope"}))


@pytest.mark.parametrize("plan", [claude_code.hook, claude_code.gateway])
@pytest.mark.parametrize("text", ['{\n  "a": 1, // why\n  "b": 2\n}', '{\n  "a": 1,}'])
def test_settings_that_claude_code_ignores_are_told(plan, text):
    note = plan(site({SETTINGS: text})).notes[-1]

    assert note == (
        "/home/u/.claude/settings.json: line 2 is no plain JSON, as a comment or a comma before a "
        "bracket is not; Claude Code then ignores the whole file"
    )
    assert claude_code.hook(site({SETTINGS: '{"a": 1}'})).notes == ()
