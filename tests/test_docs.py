"""Every block of the README and the docs: Python runs, consoles show what they say, options exist."""

import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from headgate.cli.parser import parser_for

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (f"{page.name}-{number}", text)
        for page in PAGES
        for number, (name, text) in enumerate(FENCE.findall(page.read_text()))
        if name == language
    ]


def named(language: str) -> dict:
    found = blocks(language)
    return {"argvalues": [text for _, text in found], "ids": [name for name, _ in found]}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, state):
    namespace: dict[str, object] = {}
    for name, text in FENCE.findall(page.read_text()):
        if name == "python":
            exec(compile(text, page.name, "exec"), namespace)


@pytest.mark.parametrize("text", **named("console"))
def test_a_console_shows_what_it_says(text, state, tmp_path):
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", text, re.MULTILINE):
        ran = subprocess.run(
            command, shell=True, capture_output=True, text=True, cwd=tmp_path, env=environ, timeout=60
        )
        pattern = re.sub(r"([\[\]?])", r"[\1]", expected).replace("...", "*")
        assert fnmatchcase(ran.stdout + ran.stderr, pattern), ran.stdout + ran.stderr


@pytest.mark.parametrize("text", **named("sh"))
def test_a_command_that_is_only_shown_has_options_that_exist(text):
    for line in text.splitlines():
        for part in line.split("|"):
            words = shlex.split(part, comments=True)
            if words[:1] == ["headgate"]:
                parser_for(words[1:]).parse_args(words[1:])
