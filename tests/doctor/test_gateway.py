import pytest

from headgate.doctor.gateway import configured, is_running
from tests.install.sites import site


@pytest.mark.parametrize("url", ["http://x y", "http://x:port", "https://127.0.0.1:1"])
def test_an_address_that_nobody_could_ask_is_told(url):
    runs, says = is_running(url)

    assert not runs
    assert says.startswith(f"nothing answers at {url} (")


def test_settings_with_comments_name_no_gateway_to_claude_code():
    plain = '{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8787"}}'

    there, says = configured("claude-code", site({".claude/settings.json": f"{plain} // mine"}))

    assert not there
    assert says.startswith("/home/u/.claude/settings.json: line 1 is no plain JSON")
    assert configured("claude-code", site({".claude/settings.json": plain})) == (
        True,
        "/home/u/.claude/settings.json names http://127.0.0.1:8787",
    )
