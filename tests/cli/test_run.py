import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from headgate.cli.run import ending, split, tool_of
from headgate.measure.meters import meter_for
from tests.cli.conftest import LONGEST_S, ON_A_FULL_DISK, ON_A_TERMINAL, PROGRAM, command

O200K = meter_for("o200k", "tokens")

MOST_RESIDENT_KB = 200_000


def script(headgate, source):
    """A command that is a Python program."""
    return [sys.executable, str(headgate.file("script.py", source))]


@pytest.mark.proves("C-run")
def test_a_small_output_is_shown_as_it_is(headgate):
    ran = headgate("run", "--", "printf", "one\\ntwo\\n")

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"one\ntwo\n", b"")


@pytest.mark.proves("C-run")
def test_stdout_and_stderr_come_in_the_order_they_were_written(headgate):
    ran = headgate("run", "--", "sh", "-c", "echo 1; echo 2 >&2; echo 3; echo 4 >&2")

    assert ran.stdout == b"1\n2\n3\n4\n"


@pytest.mark.proves("C-run", "R10", "P1")
def test_a_large_output_is_shaped_and_kept(headgate):
    ran = headgate("run", "--tokens", "300", "--", "seq", "1", "50000")

    text = ran.stdout.decode()[:-1]
    assert O200K.count(text) <= 300
    back = headgate("read", re.search(r"r_[a-z2-7]{12}", text)[0], "--raw")
    assert back.stdout == b"".join(b"%d\n" % n for n in range(1, 50_001))
    assert headgate("read", "--last", "--tool", "seq", "--lines", "777").stdout.startswith(b"777\n")


@pytest.mark.proves("C-run")
@pytest.mark.parametrize("code", [1, 2, 77, 255])
def test_it_exits_as_the_command_did_and_says_so(headgate, code):
    ran = headgate("run", "--", "sh", "-c", f"echo done; exit {code}")

    assert (ran.returncode, ran.stdout) == (code, b"done\n")
    assert ran.stderr.decode().startswith(f"headgate: 'sh' ended with exit code {code}")


@pytest.mark.proves("C-run")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_command_that_a_signal_ended_exits_with_128_and_its_number(headgate, number):
    ran = headgate("run", "--", "sh", "-c", f"echo before; kill -{int(number)} $$")

    assert (ran.returncode, ran.stdout) == (128 + number, b"before\n")
    assert ran.stderr.decode().endswith(f"exit code {128 + number}, which is {number.name}\n")


@pytest.mark.proves("C-run")
def test_what_cannot_start_is_126_or_127_with_one_clear_line(headgate):
    headgate.file("plain", "text").chmod(0o644)
    headgate.file("odd", b"\x7fELFnot really").chmod(0o755)

    for name, code, line in [
        (
            "/no/such/program",
            127,
            b"headgate: cannot run '/no/such/program': there is no such command",
        ),
        (
            "no\x1b[31msuch",
            127,
            b"headgate: cannot run 'no\\x1b[31msuch': there is no such command",
        ),
        ("", 127, b"headgate: cannot run '': there is no such command"),
        ("./plain", 126, b"headgate: cannot run './plain': permission denied"),
        ("./odd", 126, b"headgate: cannot run './odd': exec format error"),
        (".", 126, b"headgate: cannot run '.': permission denied"),
    ]:
        ran = headgate("run", "--", name)
        assert (ran.returncode, ran.stdout, ran.stderr) == (code, b"", line + b"\n")
    assert not headgate.state.exists()


@pytest.mark.proves("C-run")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "say what to run after --, as in headgate run -- make test"),
        (["--"], "say what to run after --"),
        (["ls"], "say what to run after --, as in headgate run -- make test"),
        (["--tokens", "500", "ls", "-l"], "say what to run after --"),
        (["--tokenz", "500", "--", "ls"], "unrecognized arguments: --tokenz 500; see"),
        (["--tokens", "5", "--", "ls"], "--tokens: '5'; it takes a whole number from 128"),
    ],
)
def test_a_call_that_makes_no_sense_is_one_clear_line_and_runs_nothing(headgate, words, line):
    ran = headgate("run", *words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().startswith(f"headgate: {line}")
    assert ran.stderr.count(b"\n") == 1


def test_a_policy_that_cannot_hold_runs_nothing(headgate):
    ran = headgate("run", "--", "touch", "ran", env={**os.environ, "HEADGATE_RESULT": "5"})

    assert ran.returncode == 2
    assert not (headgate.folder / "ran").exists()


def test_what_follows_the_two_dashes_is_the_command_s(headgate):
    assert split(["--tokens", "300", "--", "git", "log", "--", "file"]) == (
        ["--tokens", "300"],
        ["git", "log", "--", "file"],
    )
    assert headgate("run", "--", "printf", "%s", "--help").stdout == b"--help\n"


def test_a_result_goes_by_the_name_of_the_program():
    assert tool_of(["/usr/bin/make", "test"]) == "make"
    assert tool_of(["cat", "file"]) == "run"


def test_an_ending_is_told_in_words():
    assert ending(3) == "ended with exit code 3"
    assert ending(137) == "ended with exit code 137, which is SIGKILL"
    assert ending(255) == "ended with exit code 255"


@pytest.mark.proves("C-run")
def test_stdin_is_passed_through(headgate):
    assert headgate("run", "--", "rev", stdin=b"abc\n").stdout == b"cba\n"


@pytest.mark.proves("C-run", "R3")
def test_a_silent_command_is_told_as_one(headgate):
    assert headgate("run", "--", "true").stdout == b"(true finished without output)\n"


@pytest.mark.proves("C-run", "R11", "S2")
def test_the_end_of_a_failing_command_is_kept(headgate):
    source = (
        "for n in range(3000): print('compiling unit', n)\nprint('undefined symbol q')\nexit(1)"
    )

    ran = headgate("run", "--tokens", "300", "--", *script(headgate, source))

    assert ran.returncode == 1
    assert ran.stdout.endswith(b"undefined symbol q\n")
    assert O200K.count(ran.stdout.decode()[:-1]) <= 300


@pytest.mark.proves("C-run", "S4")
def test_lines_that_the_query_points_at_are_kept(headgate):
    source = "for n in range(3000): print('unit', n, 'uses the flange' if n == 1234 else 'is fine')"

    ran = headgate("run", "--tokens", "300", "--query", "flange", "--", *script(headgate, source))

    assert b"unit 1234 uses the flange" in ran.stdout


@pytest.mark.proves("C-run")
def test_what_a_command_leaves_in_the_background_holds_nothing_up(headgate):
    ran = headgate("run", "--", "sh", "-c", "sleep 60 & echo $!; echo started")

    pid, started = ran.stdout.split()
    os.kill(int(pid), signal.SIGKILL)
    assert (ran.returncode, started) == (0, b"started")


@pytest.mark.proves("C-run")
def test_a_background_writer_without_end_holds_nothing_up(headgate):
    ran = headgate("run", "--tokens", "300", "--", "sh", "-c", "echo first; yes & exit 0")

    assert ran.returncode == 0
    assert ran.stdout.startswith(b"first\n") or b"\nfirst\n" in ran.stdout


READY = "print('x' * 100, flush=True)\nopen('ready', 'w').close()\n"


def started(headgate, first, then, *words):
    """The program, running a Python command that is ready: `first` is done, `then` has begun."""
    source = script(headgate, f"import sys, signal, time\n{first}\n{READY}{then}")
    os.mkfifo(headgate.folder / "ready")
    running = subprocess.Popen(
        [PROGRAM, "run", *words, "--", *source],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=headgate.folder,
        start_new_session=True,  # without a terminal, wherever the tests run
    )
    open(headgate.folder / "ready").close()
    return running


@pytest.mark.proves("C-run")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda n: n.name
)
def test_a_signal_is_passed_on_and_the_output_so_far_is_shown(headgate, number):
    running = started(headgate, "signal.signal(signal.SIGINT, signal.SIG_DFL)", "time.sleep(60)")
    running.send_signal(number)
    out, err = running.communicate(timeout=LONGEST_S)

    assert out == b"x" * 100 + b"\n"
    assert running.returncode == 128 + number
    assert b"Traceback" not in err


@pytest.mark.proves("C-run")
def test_a_command_may_end_in_its_own_way_when_it_is_interrupted(headgate):
    first = (
        "def tidy(*_):\n    print('tidied up')\n    sys.exit(7)\nsignal.signal(signal.SIGINT, tidy)"
    )
    running = started(headgate, first, "time.sleep(60)")
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=LONGEST_S)

    assert (running.returncode, out) == (7, b"x" * 100 + b"\ntidied up\n")


@pytest.mark.proves("C-run")
def test_a_signal_reaches_the_whole_group_of_the_command(headgate):
    first = "import os\nhelper = os.fork()\nif not helper: time.sleep(60)"
    then = "os.waitpid(helper, 0)\nprint('both')"
    running = started(headgate, f"{first}\nsignal.signal(signal.SIGTERM, lambda *_: None)", then)
    running.send_signal(signal.SIGTERM)
    out, _ = running.communicate(timeout=LONGEST_S)

    assert (running.returncode, out) == (0, b"x" * 100 + b"\nboth\n")


@pytest.mark.proves("C-run")
def test_a_second_interrupt_kills_what_ignores_the_first(headgate):
    os.mkfifo(headgate.folder / "refused")
    first = (
        "def refuse(*_): print('no', flush=True); open('refused', 'w').close()\n"
        "signal.signal(signal.SIGINT, refuse)"
    )
    running = started(headgate, first, "while True: time.sleep(60)")
    running.send_signal(signal.SIGINT)
    open(headgate.folder / "refused").close()
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=LONGEST_S)

    assert (running.returncode, out) == (130, b"x" * 100 + b"\nno\n")


@pytest.mark.proves("C-run", "R10")
def test_a_command_that_never_ends_gives_what_there_is(headgate):
    first = "signal.signal(signal.SIGINT, signal.SIG_DFL)"
    then = "n = 0\nwhile True: print('line', n); n += 1"
    running = started(headgate, first, then, "--tokens", "300")
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=LONGEST_S)

    assert running.returncode == 130
    assert b"x" * 100 in out
    assert O200K.count(out.decode()[:-1]) <= 300


def test_a_signal_that_was_ignored_stays_ignored(headgate):
    ran = headgate.shell(
        "trap '' HUP; exec headgate run -- sh -c 'kill -HUP $PPID; kill -HUP $$; echo alive'"
    )

    assert (ran.returncode, ran.stdout) == (0, b"alive\n")


@pytest.mark.proves("C-run", "K5", "P8")
def test_a_full_disk_does_not_stop_the_command(headgate):
    ran = headgate("run", "--tokens", "300", "--", "seq", "1", "3000000", after=ON_A_FULL_DISK)

    assert ran.returncode == 0
    assert b"not kept" in ran.stdout
    assert O200K.count(ran.stdout.decode()[:-1]) <= 300
    assert ran.stderr.startswith(b"headgate: nothing was kept: ")
    assert ran.stderr.count(b"\n") == 1


MEASURED = """
import resource, subprocess, sys

ran = subprocess.run(sys.argv[1:], capture_output=True)
sys.stdout.buffer.write(ran.stdout)
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(ran.returncode)
"""
"""A process forked from a large one counts as large before it begins, so a small one starts it."""


@pytest.mark.xdist_group("disk")
@pytest.mark.proves("C-run", "K9")
def test_a_gigabyte_of_output_would_pass_too_memory_is_bounded(headgate):
    words = ["run", "--tokens", "300", "--", "sh", "-c", "yes | head -c 400000000"]
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, *command(*words)],
        capture_output=True,
        cwd=headgate.folder,
        timeout=120,
    )

    assert ran.returncode == 0
    assert O200K.count(ran.stdout.decode()[:-1]) <= 300
    assert b" of 200,000,000 lines omitted" in ran.stdout
    assert int(ran.stderr) < MOST_RESIDENT_KB


def on_a_terminal(headgate, source):
    """The program on a terminal of its own, running a Python command that is ready."""
    words = command("run", "--", *script(headgate, source), after=ON_A_TERMINAL)
    os.mkfifo(headgate.folder / "ready")
    terminal, theirs = pty.openpty()
    running = subprocess.Popen(
        words,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=headgate.folder,
        start_new_session=True,
    )
    os.close(theirs)
    with open(headgate.folder / "ready"):
        return running, terminal


def rest_of(running, terminal):
    """What the terminal shows until the program ends, and its exit code."""
    seen = b""
    with suppress(OSError):  # the terminal closes with its last user
        while part := os.read(terminal, 65536):
            seen += part
    os.close(terminal)
    return seen.decode().replace("\r\n", "\n"), running.wait(LONGEST_S)


@pytest.mark.proves("C-run")
def test_on_a_terminal_ctrl_c_reaches_the_command_once(headgate):
    source = (
        "import signal, sys, time\n"
        "caught = []\n"
        "def count(*_): caught.append(1); print('caught', len(caught), flush=True); sys.exit(5)\n"
        "signal.signal(signal.SIGINT, count)\n"
        "open('ready', 'w').close()\n"
        "time.sleep(60)"
    )
    running, terminal = on_a_terminal(headgate, source)
    os.write(terminal, b"\x03")

    seen, code = rest_of(running, terminal)
    assert code == 5
    assert "caught 1\n" in seen
    assert "caught 2" not in seen


@pytest.mark.proves("C-run")
def test_on_a_terminal_a_command_can_ask_and_be_answered(headgate):
    source = "open('ready', 'w').close()\nprint('hello', input(), open('/dev/tty').readline())"
    running, terminal = on_a_terminal(headgate, source)
    os.write(terminal, b"you\nthere\n")

    seen, code = rest_of(running, terminal)
    assert code == 0
    assert seen.endswith("hello you there\n\n")


@pytest.mark.proves("C-run")
def test_on_a_terminal_a_second_ctrl_c_kills_what_ignores_the_first(headgate):
    os.mkfifo(headgate.folder / "refused")
    source = (
        "import signal, time\n"
        "def refuse(*_):\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    print('no', flush=True)\n"
        "    open('refused', 'w').close()\n"
        "signal.signal(signal.SIGINT, refuse)\n"
        "open('ready', 'w').close()\n"
        "while True: time.sleep(60)"
    )
    running, terminal = on_a_terminal(headgate, source)
    os.write(terminal, b"\x03")
    with open(headgate.folder / "refused"):
        pass
    # A second one that comes before the first is looked at counts as the same: press on.
    for _ in range(50):
        os.write(terminal, b"\x03")
        with suppress(subprocess.TimeoutExpired):
            running.wait(0.2)
            break

    seen, code = rest_of(running, terminal)
    assert code == 130
    assert "no\n" in seen
