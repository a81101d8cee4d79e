import shutil
import subprocess

import pytest

from headgate.cli import COMMANDS
from headgate.cli.completion import SCRIPTS, SHELLS, bash, fish, pages
from headgate.cli.store import COMMANDS as STORE_COMMANDS
from headgate.hooks import CLIENTS

ASK_BASH = """
source ./completion.bash
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_headgate
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered(headgate, line: str) -> list[str]:
    """What bash offers after this line; its last word is being written."""
    headgate.file("completion.bash", bash(list(pages())))
    quoted = " ".join(f"'{word}'" for word in line.split(" "))
    ran = headgate.shell(f"bash -c '{escaped(ASK_BASH.format(words=quoted))}'")
    assert ran.stderr == b""
    return ran.stdout.decode().split()


def escaped(script: str) -> str:
    return script.replace("'", "'\\''")


def test_every_command_has_its_page():
    assert [page.path for page in pages()] == [
        path
        for name, _ in COMMANDS
        for path in [name, *(f"store {inner}" for inner, _ in STORE_COMMANDS if name == "store")]
    ]


def test_what_an_option_takes_is_known():
    [trim] = [page for page in pages() if page.path == "trim"]
    takes = {option.flag: option.takes for option in trim.flags}

    assert takes["--kind"][:2] == ("json", "jsonl")
    assert takes["--no-spill"] is None
    assert takes["--tokens"] == ()
    assert takes["--session"] == "headgate completion --values sessions 2>/dev/null"
    assert trim.takes == "@files"


def test_files_are_offered_only_where_a_file_is_taken():
    flags = [(page.path, o.flag) for page in pages() for o in page.options if o.takes == "@files"]

    assert flags == [
        ("trim", ""),
        ("check", ""),
        ("repair", ""),
        ("prepare", ""),
        ("prepare", "--report"),
        ("gateway", "--files"),
        ("gateway", "--token-file"),
        ("count", ""),
    ]


def test_fish_offers_no_files_for_a_number():
    lines = fish(list(pages())).splitlines()

    [price] = [line for line in lines if "from stats'" in line and " -l price " in line]
    assert " -l price -r -f -d " in price
    [files] = [line for line in lines if "from gateway'" in line and " -l files " in line]
    assert " -l files -r -F -d " in files


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("headgate pres", ["presets"]),
        ("headgate store ", [name for name, _ in STORE_COMMANDS]),
        ("headgate store v", ["verify"]),
        ("headgate store gc --n", ["--no-compress"]),
        ("headgate trim --no", ["--no-spill"]),
        ("headgate check --dialect openai", ["openai-chat", "openai-responses"]),
        ("headgate trim --kind js", ["json", "jsonl"]),
        ("headgate trim --tokens 5", []),
        ("headgate completion ", [*SHELLS]),
        ("headgate presets c", ["claude_code", "chatcli"]),
        ("headgate hook ", [*CLIENTS]),
        ("headgate install co", ["codex"]),
        ("headgate doctor g", ["gemini"]),
        ("headgate stats --price ", []),
        ("headgate gateway --host ", []),
        ("headgate mcp --url ", []),
        ("headgate run -- headgate-no-such-comm", []),
        ("headgate run --tokens 300 -- base64 --he", []),
    ],
)
def test_bash_offers_what_can_be_written_next(headgate, line, words):
    assert offered(headgate, line) == words


def test_bash_offers_files_sessions_and_refs_that_are_there(headgate):
    headgate.file("build.log", "text")
    log = b"".join(b"%d INFO step %d of the build\n" % (n, n) for n in range(3_000))
    headgate("trim", "--tokens", "300", "--session", "my-agent", stdin=log)
    headgate("trim", "--tokens", "300", stdin=log)
    ref = headgate("store", "ls", "--json").stdout.decode().split('"')[3]

    assert offered(headgate, "headgate trim bu") == ["build.log"]
    assert offered(headgate, "headgate run --tokens 300 -- cat bu") == ["build.log"]
    assert "env" in offered(headgate, "headgate run -- env")
    assert offered(headgate, "headgate read --session m") == ["my-agent"]
    assert offered(headgate, "headgate read r_") == [ref]


def test_what_is_looked_up_never_fails_loudly(headgate):
    for what in ("sessions", "refs"):
        ran = headgate("completion", "--values", what)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_shell_must_be_named(headgate):
    ran = headgate("completion")

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: which shell? there is bash, zsh, fish")


ASK_BEHIND = {
    "bash": "source ./completion; COMP_WORDS=({words}); COMP_CWORD=4; _headgate; echo \\$COMPREPLY",
    "fish": "source ./completion; complete -C '{words}'",
}


@pytest.mark.parametrize("shell", [shell for shell in ASK_BEHIND if shutil.which(shell)])
def test_the_command_behind_the_dashes_is_completed_as_itself(headgate, shell):
    headgate.file("completion", SCRIPTS[shell](list(pages())))
    headgate.file("build.log", "text")
    asked = ASK_BEHIND[shell].format(words="headgate run -- cat bu")

    ran = headgate.shell(f'{shell} -c "{asked}"')

    assert (ran.stdout, ran.stderr) == (b"build.log\n", b"")


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shutil.which(shell)])
def test_a_script_is_one_that_its_shell_reads(headgate, shell):
    script = headgate("completion", shell).stdout

    ran = subprocess.run([shell, "-n"], input=script, capture_output=True, timeout=20)

    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_option_of_every_command(shell):
    script = SCRIPTS[shell](list(pages()))

    for page in pages():
        for option in page.flags:
            name = option.flag.removeprefix("--")
            assert f"-l {name}" in script if shell == "fish" else option.flag in script
