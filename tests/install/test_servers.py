from headgate.install import toml
from headgate.install.servers import Behind, behind


def test_servers_behind_the_proxy_are_found_wherever_they_stand():
    settings = {
        "mcpServers": {
            "git": {"command": "/bin/headgate", "args": ["mcp", "--", "git-mcp"]},
            "other": {"command": "other-mcp"},
        },
        "projects": {
            "/work": {
                "mcpServers": {
                    "far": {
                        "command": "headgate",
                        "args": ["mcp", "--url", "https://far/mcp"],
                        "env": {"HEADGATE_HEADER_1": "key"},
                    }
                }
            }
        },
        "hooks": [{"command": "headgate hook claude-code"}],
    }

    assert list(behind(settings)) == [
        Behind("git", ("/bin/headgate", "mcp", "--", "git-mcp"), {}),
        Behind(
            "far",
            ("headgate", "mcp", "--url", "https://far/mcp"),
            {"HEADGATE_HEADER_1": "key"},
        ),
    ]


def test_a_command_may_be_one_list_and_its_environment_have_another_name():
    settings = {"mcp": {"logs": {"command": ["headgate", "mcp", "--", "a"], "environment": {}}}}
    table = toml.load('[mcp_servers.logs]\ncommand = "headgate"\nargs = ["mcp", "--", "a"]\n')

    [found], [same] = behind(settings), behind(table)

    assert found == same == Behind("logs", ("headgate", "mcp", "--", "a"), {})


def test_the_proxy_is_what_stands_before_the_server():
    def proxy(*words: str) -> tuple[str, ...]:
        return Behind("", words, {}).proxy

    assert proxy("headgate", "mcp", "--tokens", "900", "--", "git", "--url", "x") == (
        *("headgate", "mcp", "--tokens", "900"),
    )
    assert proxy("headgate", "mcp", "--url", "https://far/mcp") == ("headgate", "mcp")
    assert proxy("headgate", "mcp", "git-mcp") == ("headgate", "mcp")
