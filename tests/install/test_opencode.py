import json

from headgate.install import opencode
from tests.install.sites import after, site

SETTINGS = ".config/opencode/opencode.json"


def test_the_hook_is_a_plugin_that_calls_our_command():
    [(path, plugin)] = after(opencode.hook(site())).items()

    assert path == ".config/opencode/plugins/headgate.js"
    assert 'const COMMAND = ["/opt/headgate", "hook", "opencode"]\n' in plugin
    assert "__COMMAND__" not in plugin


def test_the_gateway_is_the_address_of_every_known_provider():
    edited = json.loads(after(opencode.gateway(site()))[SETTINGS])

    assert edited["provider"] == {
        "anthropic": {"options": {"baseURL": "http://127.0.0.1:8787/v1"}},
        "openai": {"options": {"baseURL": "http://127.0.0.1:8787/v1"}},
        "google": {"options": {"baseURL": "http://127.0.0.1:8787/v1beta"}},
    }
    assert edited["tool_output"] == {"max_bytes": 1_000_000, "max_lines": 1_000_000}
    assert edited["permission"] == {
        "external_directory": {"/home/u/.local/state/headgate/sessions/**": "allow"}
    }


def test_settings_with_comments_are_edited_where_they_are():
    text = '{\n  // mine\n  "model": "x"\n}\n'

    edited = after(opencode.gateway(site({".config/opencode/opencode.jsonc": text})))

    [(path, new)] = edited.items()
    assert path == ".config/opencode/opencode.jsonc"
    assert new.startswith('{\n  // mine\n  "model": "x",\n  "provider": {\n')


def test_servers_go_behind_the_proxy():
    found = {
        "mcp": {
            "git": {"type": "local", "command": ["uvx", "g"], "environment": {"A": "b"}},
            "web": {"type": "remote", "url": "https://x", "headers": {"K": "v"}, "enabled": True},
            "login": {"type": "remote", "url": "https://y"},
        }
    }

    plan = opencode.mcp(site({SETTINGS: json.dumps(found)}))

    servers = json.loads(after(plan)[SETTINGS])["mcp"]
    assert servers["git"]["command"] == ["/opt/headgate", "mcp", "--", "uvx", "g"]
    assert servers["web"] == {
        "type": "local",
        "command": [
            "/opt/headgate",
            "mcp",
            "--url",
            "https://x",
            "--header",
            "K: $HEADGATE_HEADER_1",
        ],
        "enabled": True,
        "environment": {"HEADGATE_HEADER_1": "v"},
    }
    assert servers["login"] == {"type": "remote", "url": "https://y"}
    assert opencode.mcp(site(after(plan))).changes == ()
