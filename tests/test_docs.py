"""Every block of the README and the docs: Python runs and prints what it says, options exist."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from fnmatch import fnmatchcase
from io import StringIO
from pathlib import Path

import pytest

from headgate.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)\)")


def named(language: str) -> dict:
    found = [
        (f"{page.name}-{number}", text)
        for page in PAGES
        for number, (name, text) in enumerate(FENCE.findall(page.read_text()))
        if name == language
    ]
    return {"argvalues": [text for _, text in found], "ids": [name for name, _ in found]}


@pytest.fixture
def known_key(state):
    """The key that made the refs and tags on the pages."""
    state.mkdir(mode=0o700)
    (state / "key").touch(mode=0o600)
    (state / "key").write_bytes(bytes(32))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(page, known_key):
    namespace: dict[str, object] = {}
    printed = ""
    for language, text in FENCE.findall(page.read_text()):
        if language == "text" and printed:
            assert text == printed
        printed = ""
        if language == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile(text, page.name, "exec"), namespace)
            printed = out.getvalue()


@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md"])
def test_the_python_a_reader_meets_first_passes_strict_type_checks(name, tmp_path):
    blocks = FENCE.findall((ROOT / name).read_text())
    code = tmp_path / "page.py"
    code.write_text("\n\n".join(text for language, text in blocks if language == "python"))
    words = ["--strict", "--config-file=", f"--cache-dir={tmp_path}", str(code)]

    ran = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True)

    assert ran.stdout == "Success: no issues found in 1 source file\n"


@pytest.mark.parametrize("text", **named("console"))
def test_a_console_shows_what_it_says(text, known_key, tmp_path):
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", text, re.MULTILINE):
        ran = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environ,
            timeout=60,
        )
        pattern = re.sub(r"([\[\]?])", r"[\1]", expected).replace("...", "*")
        assert fnmatchcase(ran.stdout + ran.stderr, pattern), ran.stdout + ran.stderr


@pytest.mark.parametrize("text", **named("sh"))
def test_a_command_that_is_only_shown_has_options_that_exist(text, state, capfdbinary):
    for line in text.splitlines():
        for part in re.split(r"(?<!')\|(?!\w+')", line):
            words = shlex.split(part, comments=True)
            if words[:1] != ["headgate"]:
                continue
            ours = words[1 : words.index("--")] if "--" in words else words[1:]
            with pytest.raises(SystemExit):
                main([ours[0], "--help"])
            page = capfdbinary.readouterr().out.decode()
            assert all(word in page for word in ours if word.startswith("--"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target
