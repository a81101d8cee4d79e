"""The program as a whole: help, exit codes, pipes, locales, and what it loads."""

import os
import re
import signal
import subprocess
import sys

import pytest

import headgate as package
from headgate.cli import COMMANDS, main
from headgate.cli.store import COMMANDS as STORE_COMMANDS
from tests.cli.conftest import LONGEST_S, PROGRAM

PAGES = [
    [],
    *([name] for name, _ in COMMANDS),
    *(["store", name] for name, _ in STORE_COMMANDS),
]

HEAVY = ["asyncio", "hyperscan", "msgspec", "re2", "regex", "splintr", "xxhash", "subprocess"]

LOADED = """
import sys
from headgate.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
sys.stdout.write("\\n" + " ".join(sys.modules))
"""


def test_the_version_is_the_package_s(headgate):
    ran = headgate("--version")

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.decode() == f"headgate {package.__version__}\n"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: " ".join(path) or "headgate")
def test_every_command_has_a_page_of_help_with_examples(headgate, path):
    ran = headgate(*path, "--help")

    page = ran.stdout.decode()
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert page.startswith(f"usage: {' '.join(['headgate', *path])} ")
    assert "\nexamples:\n  " in page
    assert max(map(len, page.splitlines())) <= 100


def test_every_example_in_the_help_names_commands_and_options_that_there_are(headgate):
    pages = {" ".join(path): headgate(*path, "--help").stdout.decode() for path in PAGES}

    for page in pages.values():
        for example in re.findall(
            r"headgate ((?:store )?[a-z]+)([^|\n]*)", page.partition("examples:")[2]
        ):
            command, words = example
            for option in re.findall(r"(?<= )--[a-z-]+", words.partition(" -- ")[0]):
                assert f"\n  {option}" in pages[command], (command, option)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "which command? there is trim, run, read"),
        (["nope"], "there is no command 'nope'; there is trim, run, read"),
        (["--nope"], "there is no option '--nope'; there is trim, run, read"),
        (["tr\x1b[31m"], "there is no command 'tr\\x1b[31m'; there is"),
        (["store"], "which command? there is ls"),
        (["store", "nope"], "there is no command 'nope'; there is ls"),
    ],
)
def test_what_is_no_command_is_one_clear_line(headgate, words, line):
    ran = headgate(*words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().startswith(f"headgate: {line}")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["trim", "--help"], ["nope"]])
def test_help_and_version_load_nothing_heavy(state, words):
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, timeout=LONGEST_S, check=True
    )

    loaded = ran.stdout.decode().splitlines()[-1].split()
    assert "headgate.cli" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_it_also_runs_as_a_module(state):
    ran = subprocess.run(
        [sys.executable, "-m", "headgate", "count", "/no/such"],
        capture_output=True,
        timeout=LONGEST_S,
    )

    assert ran.returncode == 2
    assert ran.stderr == b"headgate: '/no/such' cannot be read: no such file or directory\n"


def test_a_fault_of_our_own_is_one_line_and_its_traceback_only_on_request(
    monkeypatch, capfdbinary, state
):
    # Nothing known makes it fail so; a broken module in place of a command stands for the unknown.
    monkeypatch.setitem(sys.modules, "headgate.cli.count", None)

    assert main(["count"]) == 2
    assert re.fullmatch(rb"headgate: a fault of its own: \w+: .*\n", capfdbinary.readouterr().err)
    monkeypatch.setenv("HEADGATE_DEBUG", "1")
    assert main(["count"]) == 2
    assert b"headgate: Traceback (most recent call last):\n" in capfdbinary.readouterr().err


def test_a_closed_pipe_is_success(headgate):
    headgate.file("text", b"x\n" * 1_000_000)

    ran = headgate.shell("headgate trim --tokens 100000000 text | head -n 1")
    raw = headgate.shell("headgate presets default | true; headgate --help | true")

    assert (ran.stdout, ran.stderr) == (b"x\n", b"")
    assert raw.stderr == b""


def test_the_exit_code_of_a_reader_who_left_early_is_0(headgate):
    headgate.file("text", b"x\n" * 1_000_000)
    reading, writing = os.pipe()
    os.close(reading)

    ran = headgate(
        "trim",
        "--tokens",
        "100000000",
        "text",
        capture_output=False,
        stdout=writing,
        stderr=subprocess.PIPE,
    )

    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_stdout_that_takes_nothing_is_one_clear_line(headgate):
    full = headgate.shell("echo hello | headgate trim > /dev/full")
    closed = headgate.shell("echo hello | headgate trim >&-")

    assert (full.returncode, full.stderr) == (2, b"headgate: stdout: no space left on device\n")
    assert (closed.returncode, closed.stderr) == (
        2,
        b"headgate: stdout is closed; there is nowhere to write to\n",
    )


def test_a_closed_stdin_is_one_clear_line(headgate):
    ran = headgate.shell("headgate trim <&-")

    assert ran.returncode == 2
    assert ran.stderr == b"headgate: stdin is closed; name a file, or pipe something in\n"


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_stdout_is_utf_8_whatever_the_locale(headgate, locale):
    text = "日本語 \N{GRINNING FACE} äöü\n".encode()
    environ = {**os.environ, "LANG": locale, "LC_ALL": locale, "PYTHONIOENCODING": "ascii"}

    assert headgate("trim", stdin=text, env=environ).stdout == text


INTERRUPTED_LOADING = """
import signal, sys
from headgate import cli

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "headgate.policy":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.exit(cli.main(["presets"]))
"""


def test_ctrl_c_while_a_command_is_loaded_ends_it_at_once(headgate):
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_LOADING], capture_output=True, timeout=LONGEST_S
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (-signal.SIGINT, b"", b"")


def test_ctrl_c_ends_it_quietly_with_130(headgate):
    with subprocess.Popen(
        [PROGRAM, "trim"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=headgate.folder,
    ) as running:
        running.stdin.write(b"x" * 3_000_000)  # more than the pipe holds: it is reading by then
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=LONGEST_S)

    assert (running.returncode, out, err) == (130, b"", b"")
