import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.scan import OVERLAP_BYTES, Scanner


def test_hits_are_pattern_and_end_in_the_order_of_the_text():
    scanner = Scanner([b"error", b"warn(ing)?:"])

    assert scanner.hits(b"warn: x\nerror\nwarning: y", 10) == [(1, 5), (0, 13), (1, 22)]


def test_no_hit_is_an_empty_list_and_no_first():
    scanner = Scanner([b"error"])

    assert scanner.hits(b"all well", 10) == []
    assert scanner.first(b"all well") is None
    assert scanner.first(b"") is None


def test_the_first_hit_ends_the_scan():
    assert Scanner([b"b"]).first(b"aab" + b"b" * 1_000_000) == 3


@pytest.mark.proves("P17")
def test_a_text_full_of_hits_costs_no_more_memory_than_the_cap():
    assert Scanner([b"x"]).hits(b"x" * 5_000_000, 3) == [(0, 1), (0, 2), (0, 3)]
    assert Scanner([b"x"]).hits(b"xxx", 0) == []


def test_case_counts_unless_a_pattern_says_otherwise():
    assert Scanner([b"error"]).first(b"ERROR") is None
    assert Scanner([b"(?i)error"]).first(b"ERROR") == 5


def test_line_ends_are_where_anchors_hold():
    assert Scanner([b"^b$"]).hits(b"a\nb\nbc", 10) == [(0, 3)]


def test_patterns_mean_bytes():
    assert Scanner([rb"\xff\x00."]).first(b"a\xff\x00\x80") == 4


def test_any_buffer_is_scanned():
    scanner = Scanner([b"needle"])

    assert scanner.first(bytearray(b"a needle")) == 8
    assert scanner.first(memoryview(b"a needle")[2:]) == 6


def test_a_longer_text_than_the_library_counts_is_scanned_in_pieces():
    scanner = Scanner([b"abc"], piece_bytes=100_000)
    text = bytearray(b"-" * 250_000)
    for at in (0, 99_998, 99_999, 149_000, 200_000 - 1, 249_997):
        text[at : at + 3] = b"abc"

    whole = Scanner([b"abc"]).hits(text, 100)

    assert len(whole) == 5
    assert scanner.hits(text, 100) == whole
    assert scanner.hits(text, 2) == whole[:2]
    assert OVERLAP_BYTES < 100_000


@given(st.binary(max_size=200), st.integers(1, 50))
def test_pieces_give_the_same_hits(data, piece_bytes):
    pieces = Scanner([b"a[bc]", b"\n"], piece_bytes=piece_bytes)

    assert pieces.hits(data, 1_000) == Scanner([b"a[bc]", b"\n"]).hits(data, 1_000)


def test_threads_share_a_scanner():
    scanner = Scanner([b"needle"])
    text = b"hay " * 200_000 + b"needle"
    found: list[int | None] = []
    threads = [
        threading.Thread(target=lambda: found.extend(scanner.first(text) for _ in range(20)))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [len(text)] * 160


FORKING = """
import os, sys, threading
from headgate.scan import Scanner
scanner = Scanner([b"needle"])
text = b"hay " * 500_000 + b"needle"
threading.Thread(target=lambda: [scanner.first(text) for _ in range(50)]).start()
scanner.first(b"warm")
for _ in range(20):
    if (child := os.fork()) == 0:
        os._exit(scanner.first(b"a needle"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 8
print("all children scanned")
"""


def test_children_scan_though_a_thread_scanned_at_the_fork():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )

    assert ran.stdout == "all children scanned\n"


def test_text_is_no_buffer():
    with pytest.raises(TypeError):
        Scanner([b"x"]).hits("text", 10)  # type: ignore[arg-type]
