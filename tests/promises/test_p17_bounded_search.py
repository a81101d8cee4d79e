"""P17: any pattern on any text ends in bounded time and memory."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import RequestError
from tests.read.originals import LEAST, ask, odd_bytes, original

ROOT = Path(__file__).parent.parent.parent

SECONDS = 60
"""For each search: far above what it may take, so that a busy machine fails nothing."""

MEMORY_BYTES = 1 << 30

SEARCHING = """
import json, random, resource, sys, time
from headgate.errors import RequestError
from tests.read.originals import ask, original

resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
random.seed(17)
MIB = 1 << 20
TEXTS = [
    bytes(random.choices(b"ab", k=MIB)),
    b"a" * MIB,
    (b"a" * 30 + b"!" + bytes([10])) * (MIB // 32),
    random.randbytes(MIB // 4),
    bytes([10]) * (MIB // 4),
    "日本語".encode() * (MIB // 36),
]
answers = []
for pattern in json.loads(sys.argv[2]):
    for data in TEXTS:
        kept = original(data, chunk_bytes=1 << 18)
        try:
            answers.append(ask(kept, {"search": pattern}, clock=time.monotonic_ns))
        except RequestError as error:
            answers.append(str(error))
print(json.dumps(answers))
"""

BACKTRACKING = [
    r"(a+)+$",
    r"([a-zA-Z]+)*$",
    r"(a|aa)+$",
    r"(a|a?)+$",
    r"(.*a){25}",
    r"(.*)*=(.*)*!",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(x+x+)+y",
    r"(?:a|b|ab)*?(?:a|b|ab)*?c",
]
"""They hang an engine that goes back."""

MANY_STATES = [r"a[ab]{20}c", r"a[ab]{200}c", r"a[ab]{900}c", r"(a.{0,500}|b.{0,400})c"]
"""They make RE2 crawl: more states than it may hold."""

LARGE = [
    r"((a?){300}){3}a{300}c",
    r"(\w{1,200}\s?){1,5}!",
    r"[^a]{900}z",
    r"(\pL{1,100}){1,5}9",
    "|".join("a" + "." * count for count in range(40)),
    "(" * 500 + "a" + ")*" * 500,
]

MATCHING_ALL = [r"x*", r"\C", ".", "$", "^", "()"]


@pytest.mark.proves("P17", "K6")
@pytest.mark.parametrize(
    "patterns",
    [BACKTRACKING, MANY_STATES, LARGE, MATCHING_ALL],
    ids=["backtracking", "many states", "large", "matching all"],
)
def test_hostile_patterns_end_in_bounded_time_and_memory(patterns):
    ran = subprocess.run(
        [sys.executable, "-c", SEARCHING, str(MEMORY_BYTES), json.dumps(patterns)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=6 * SECONDS * len(patterns),
    )

    assert ran.stderr == ""
    answers = json.loads(ran.stdout)
    assert len(answers) == 6 * len(patterns)
    for answer in answers:
        last = answer.rpartition("\n")[2]
        assert re.match(r"\[(?:nothing|\d+ places?) found in |search is ", last), last


syntax = st.sampled_from(
    [
        *"ab.^$*+?|()[]{},019-\\",
        "(?:",
        "(?i)",
        "{2,9}",
        "[^a]",
        r"\b",
        r"\w",
        r"\pL",
        "{1000}",
        "日",
    ]
)


@pytest.mark.proves("P17", "P24")
@given(
    st.lists(syntax, max_size=30).map("".join) | st.text(max_size=60),
    odd_bytes,
    st.integers(0, 300),
)
def test_any_pattern_on_any_text_is_answered_within_its_limit(pattern, data, more):
    try:
        text = ask(original(data), {"search": pattern}, limit=LEAST["tokens"] + more)
    except RequestError as error:
        text = str(error)

    assert text
    assert len(text) < 8 * (LEAST["tokens"] + more) + 500
