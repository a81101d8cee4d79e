from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.install import claude_code, codex, gemini, opencode
from headgate.install.plan import Change, Site, cache_note, is_ours, reversed_in, start_note
from tests.install.sites import after, site

texts = st.lists(st.sampled_from("abcd"), max_size=8).map(lambda parts: "\n".join(parts))


@given(texts, texts)
def test_what_nobody_touched_is_put_back_exactly(before, after):
    assert reversed_in(after, Change(Path("f"), before, after)) == before


def test_a_file_that_was_not_there_is_gone_again():
    assert reversed_in("ours", Change(Path("f"), None, "ours")) is None


def test_what_others_changed_since_stays_theirs():
    change = Change(Path("f"), "a\nb\nc\n", "a\nours\nb\nc\n")

    assert reversed_in("a\nours\nb\nc\ntheirs\n", change) == "a\nb\nc\ntheirs\n"
    assert reversed_in("first\na\nours\nb\nc\n", change) == "first\na\nb\nc\n"


def test_lines_of_ours_that_others_changed_cannot_be_found():
    change = Change(Path("f"), "a\nb\n", "a\nours\nb\n")

    assert reversed_in("a\nours, changed\nb\n", change) is None


def test_a_diff_names_the_file_and_what_was_not_there():
    assert Change(Path("/f"), None, "x\n").diff == "--- /dev/null\n+++ /f\n@@ -0,0 +1 @@\n+x\n"


def test_a_hook_of_ours_is_known_wherever_it_was_installed():
    assert is_ours("/opt/bin/headgate hook codex")
    assert is_ours("headgate hook claude-code --preset vtcode")
    assert not is_ours("headgate trim")
    assert not is_ours("my-headgate hook")
    assert not is_ours(None)


def test_the_gateway_is_started_with_the_upstream_that_was_configured():
    site = Site(home=Path("/h"), program="/bin/headgate", state=Path("/s"))

    assert start_note(site, "anthropic", "") == (
        "start the gateway before the agent: headgate gateway"
    )
    assert start_note(site, "anthropic", "https://corp/llm").endswith(
        "headgate gateway --upstream anthropic=https://corp/llm"
    )


@pytest.mark.parametrize(
    "program",
    [
        "/home/u/.cache/uv/archive-v0/ZIVAp9zzIicro0F2/bin/headgate",
        "/home/u/.cache/pipx/d7c5fca30fa4ea5/bin/headgate",
        "/Users/u/Library/Caches/uv/archive-v0/x/bin/headgate",
    ],
)
def test_a_program_that_will_be_gone_is_told(program):
    assert cache_note(program) == (
        f"{program} is in a cache, and goes when that is emptied: install headgate to stay, as by "
        "uv tool install headgate, and run this again with it"
    )
    assert cache_note("/home/u/.local/share/uv/tools/headgate/bin/headgate") == ""


SERVERS = """{
  "a": 1,
  "mcpServers": {
    "git": {"command": "git-mcp", "args": []}
  },
  "mcp": {
    "git": {"type": "local", "command": ["git-mcp"]}
  }
}
"""
HOME = {
    ".claude/settings.json": SERVERS,
    ".claude.json": SERVERS,
    ".codex/config.toml": 'model = "m"\n\n[mcp_servers.git]\ncommand = "git-mcp"\n',
    ".gemini/settings.json": SERVERS,
    ".config/opencode/opencode.json": SERVERS,
}


@pytest.mark.parametrize("mode", ["hook", "gateway", "mcp"])
@pytest.mark.parametrize("client", [claude_code, codex, gemini, opencode])
def test_lines_end_as_those_of_the_file_do(client, mode):
    windows = {name: text.replace("\n", "\r\n") for name, text in HOME.items()}
    planned = getattr(client, mode)

    changed = after(planned(site(windows)))

    assert changed == {
        name: text.replace("\n", "\r\n") if name in HOME else text
        for name, text in after(planned(site(HOME))).items()
    }
    assert changed.keys() & HOME.keys() or mode == "hook"
    assert planned(site({**windows, **changed})).changes == ()


def test_a_file_whose_lines_end_in_several_ways_is_edited_as_it_is():
    mixed = '{\r\n  "a": 1,\n  "b": 2\r\n}\r\n'

    [edited] = after(claude_code.hook(site({".claude/settings.json": mixed}))).values()

    assert edited.startswith('{\r\n  "a": 1,\n  "b": 2,\n  "hooks": {\n')
