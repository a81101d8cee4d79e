import pytest

from headgate.shape.signs import SCANNER, weight


def worth(line: bytes) -> int:
    hits = SCANNER.hits(line, 100)
    return weight(line, hits, line) if hits else 0


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    "line",
    [
        b"ERROR: Could not build wheels for qzx",
        b"src/main.c:12:5: error: expected ';' before '}' token",
        b"Traceback (most recent call last):",
        b"ValueError: bad row",
        b"FAILED tests/test_a.py::test_b - assert 1 == 2",
        b"--- FAIL: TestThing (0.00s)",
        b"thread 'main' panicked at src/lib.rs:4",
        b"npm ERR! code ELIFECYCLE",
        b"java.lang.NullPointerException: null",
        b"Segmentation fault (core dumped)",
        b"kernel: Out of memory: Killed process 4242",
        b"=== 3 failed, 897 passed in 12.1s ===",
        b"make: *** [all] Error 2",
    ],
)
def test_a_line_that_tells_of_trouble_stands_out(line):
    assert worth(line) >= 5


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    "line",
    [
        b"Finished: 0 errors, 0 warnings",
        b"no errors found",
        b"errors: 0",
        b"copying src/error-handling.js -> build/error-handling.js",
        b"  adding: docs/errors/index.html",
        b"running with --fail-fast",
        b"import error_codes",
        b"all good",
        b"terrorism",
    ],
)
def test_a_line_that_only_names_or_denies_trouble_does_not(line):
    assert worth(line) <= 2


@pytest.mark.proves("S4")
def test_a_warning_counts_less_than_an_error():
    assert 0 < worth(b"warning: unused variable") < worth(b"error: unknown variable")


@pytest.mark.proves("S4")
def test_what_every_build_does_counts_less_than_what_it_ends_with():
    assert worth(b"Downloading error-1.2.tgz failed, trying again") < worth(b"failed, giving up")


@pytest.mark.proves("S4")
def test_a_command_that_has_yet_to_run_only_names_its_words():
    assert worth(b"$ grep error build.log") < worth(b"grep: error in build.log") / 3


@pytest.mark.proves("S4")
def test_what_a_compiler_adds_to_an_error_counts_less_than_the_error():
    error = b"a.cpp:12:22: error: no matching function for call to 'add(int)'"
    note = b"b.h:90:5: note: template argument deduction/substitution failed:"

    assert worth(note) < worth(error) / 2


@pytest.mark.proves("S4")
def test_a_request_that_failed_stands_out_of_those_that_did_not():
    served = b'10.0.0.1 - - [15/Nov/2026:12:31:59] "GET /a.html HTTP/1.1" %d 4053 "-" "curl"'

    assert worth(served % 502) >= 6
    assert worth(served % 200) == 0


@pytest.mark.proves("S4")
def test_a_warning_that_speaks_of_errors_is_none():
    warning = b"  = warning: accepted before, it will become a hard error in a later release!"

    assert worth(warning) < worth(b"error[E0432]: unresolved import `either`") / 2


@pytest.mark.proves("S4")
@pytest.mark.parametrize("line", ["  ✕ line snapshot (37 ms)", "    Received: 160"])
def test_marks_of_failed_assertions_stand_out(line):
    assert worth(line.encode()) >= 3


@pytest.mark.proves("S4")
def test_the_count_of_what_passed_stands_out_too():
    assert worth(b"============ 3 passed in 0.02s ============") >= 5


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    "line", [b"src/EncoderException.java", b"[checking org.codec.DecoderException]"]
)
def test_a_class_that_is_only_named_is_not_raised(line):
    assert worth(line) < worth(b"org.codec.DecoderException: odd number of digits") / 3


@pytest.mark.proves("S4")
def test_what_a_traceback_ends_with_stands_out_whatever_it_is_called():
    assert worth(b"automat._discover.NoObject: nothing of that name") >= 7
