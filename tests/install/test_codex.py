import json
import tomllib

from headgate.install import codex
from tests.install.sites import after, site

CONFIG = ".codex/config.toml"


def test_the_hook_stands_in_hooks_json_and_trust_is_asked_for():
    plan = codex.hook(site())

    command = {"type": "command", "command": "/opt/headgate hook codex", "timeout": 20}
    assert json.loads(after(plan)[".codex/hooks.json"]) == {
        "hooks": {"PostToolUse": [{"matcher": ".*", "hooks": [command]}]}
    }
    assert "type /hooks, and trust this one" in plan.notes[0]
    assert after(plan)[CONFIG] == "tool_output_token_limit = 32000\n"


def test_a_limit_that_the_user_set_stays():
    assert CONFIG not in after(codex.hook(site({CONFIG: "tool_output_token_limit = 9\n"})))


def test_the_gateway_is_the_address_of_openai():
    text = 'model = "gpt-5.1"\n\n[features]\nx = true\n'

    assert after(codex.gateway(site({CONFIG: text}))) == {
        CONFIG: 'model = "gpt-5.1"\nopenai_base_url = "http://127.0.0.1:8787/v1"\n'
        "tool_output_token_limit = 32000\n\n[features]\nx = true\n"
    }


def test_a_provider_of_the_users_own_is_sent_through_the_gateway():
    text = 'model_provider = "corp"\n[model_providers.corp]\nbase_url = "https://corp/v1"\n'

    plan = codex.gateway(site({CONFIG: text}))

    edited = tomllib.loads(after(plan)[CONFIG])
    assert edited["model_providers"]["corp"]["base_url"] == "http://127.0.0.1:8787/v1"
    assert edited["tool_output_token_limit"] == 32_000
    assert plan.notes[0].endswith("headgate gateway --upstream openai=https://corp/v1")


def test_servers_go_behind_the_proxy():
    text = """\
[mcp_servers.git]
command = "uvx"
args = ["mcp-server-git"]

[mcp_servers.web]
url = "https://x/mcp"
http_headers = { Authorization = "Bearer k" }

[mcp_servers.login]
url = "https://y/mcp"
"""

    plan = codex.mcp(site({CONFIG: text}))

    servers = tomllib.loads(after(plan)[CONFIG])["mcp_servers"]
    assert servers == {
        "git": {"command": "/opt/headgate", "args": ["mcp", "--", "uvx", "mcp-server-git"]},
        "web": {
            "command": "/opt/headgate",
            "args": [
                *("mcp", "--url", "https://x/mcp"),
                *("--header", "Authorization: $HEADGATE_HEADER_1"),
            ],
            "env": {"HEADGATE_HEADER_1": "Bearer k"},
        },
        "login": {"url": "https://y/mcp"},
    }
    assert [note.partition(":")[0] for note in plan.notes] == ["login"]
    assert codex.mcp(site(after(plan))).changes == ()


def test_without_a_configuration_there_is_nothing_to_wrap():
    assert codex.mcp(site()).changes == ()
