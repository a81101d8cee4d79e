import json

from headgate.install import gemini
from tests.install.sites import after, site

SETTINGS, ENV = ".gemini/settings.json", ".gemini/.env"


def test_the_timeout_of_the_hook_is_in_milliseconds():
    command = {
        "type": "command",
        "name": "headgate",
        "command": "/opt/headgate hook gemini",
        "timeout": 20_000,
    }

    assert json.loads(after(gemini.hook(site()))[SETTINGS]) == {
        "hooks": {"AfterTool": [{"matcher": ".*", "hooks": [command]}]}
    }


def test_the_gateway_is_a_variable_and_what_it_keeps_may_be_read():
    mine = {"context": {"includeDirectories": ["/x"]}, "tools": {"sandbox": True}}
    files = {ENV: "GEMINI_API_KEY=k", SETTINGS: json.dumps(mine)}

    plan = gemini.gateway(site(files))

    assert after(plan)[ENV] == ("GEMINI_API_KEY=k\nGOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787\n")
    assert json.loads(after(plan)[SETTINGS]) == {
        "context": {"includeDirectories": ["/x", "/home/u/.local/state/headgate/sessions"]},
        "tools": {"sandbox": True, "truncateToolOutputThreshold": 1_000_000},
    }


def test_a_limit_that_the_user_set_stays():
    text = '{"tools": {"truncateToolOutputThreshold": 9000}}'

    edited = json.loads(after(gemini.gateway(site({SETTINGS: text})))[SETTINGS])

    assert edited["tools"] == {"truncateToolOutputThreshold": 9_000}


def test_an_address_that_was_set_becomes_the_upstream():
    plan = gemini.gateway(site({ENV: "GOOGLE_GEMINI_BASE_URL='https://corp'\nA=b\n"}))

    assert after(plan)[ENV] == "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787\nA=b\n"
    assert plan.notes[0].endswith("headgate gateway --upstream gemini=https://corp")


def test_servers_go_behind_the_proxy():
    found = {"mcpServers": {"git": {"command": "uvx", "args": ["g"], "timeout": 5}}}

    edited = after(gemini.mcp(site({SETTINGS: json.dumps(found)})))

    assert json.loads(edited[SETTINGS])["mcpServers"]["git"] == {
        "command": "/opt/headgate",
        "args": ["mcp", "--", "uvx", "g"],
        "timeout": 5,
    }
