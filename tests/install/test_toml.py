import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import RequestError
from headgate.install import toml

CONFIG = """\
# mine
model = "gpt-5.1"

[mcp_servers.git]   # the one
command = "uvx"
args = [
  "mcp-server-git",  # from PyPI
]

# remote
[mcp_servers."a b"]
url = "https://x/mcp"
"""


def test_a_key_of_the_top_level_goes_before_the_first_table():
    assert toml.put(CONFIG, (), {"openai_base_url": "http://h/v1"}) == CONFIG.replace(
        'model = "gpt-5.1"\n', 'model = "gpt-5.1"\nopenai_base_url = "http://h/v1"\n'
    )


def test_a_value_over_several_lines_is_exchanged_whole():
    edited = toml.put(
        CONFIG, ("mcp_servers", "git"), {"command": "/bin/headgate", "args": ["mcp", "--", "uvx"]}
    )

    assert (
        edited
        == """\
# mine
model = "gpt-5.1"

[mcp_servers.git]   # the one
command = "/bin/headgate"
args = ["mcp", "--", "uvx"]

# remote
[mcp_servers."a b"]
url = "https://x/mcp"
"""
    )


def test_keys_are_taken_out_and_put_in():
    changes = {"url": None, "command": "h", "env": {"K": 'a"b'}}
    edited = toml.put(CONFIG, ("mcp_servers", "a b"), changes)

    assert tomllib.loads(edited)["mcp_servers"]["a b"] == {"command": "h", "env": {"K": 'a"b'}}


def test_an_empty_file_gets_its_first_key():
    assert toml.put("", (), {"a": True}) == "a = true\n"
    assert toml.put("x = 1", (), {"a": False}) == "x = 1\na = false\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('mcp_servers = { git = { command = "x" } }', "not written under a header"),
        ('[mcp_servers]\ngit = { command = "x" }', "not written under a header"),
        ('[mcp_servers.git]\nx = """\n[mcp_servers]\n"""\ncommand = "x"', "edited by line"),
    ],
)
def test_what_is_written_in_another_way_is_refused(text, message):
    with pytest.raises(RequestError, match=message):
        toml.put(text, ("mcp_servers", "git"), {"command": "y"})


def test_what_is_no_toml_is_refused():
    with pytest.raises(RequestError, match="the file is no TOML"):
        toml.load("a = ")


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_comes_back_from_what_was_written(text, texts):
    try:
        text.encode()
        "".join(texts).encode()
    except UnicodeEncodeError:
        return
    line = f"a = {toml.written(text)}\nb = {toml.written(texts)}\n"
    assert tomllib.loads(line) == {"a": text, "b": texts}
