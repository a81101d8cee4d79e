"""What holds for the shaper of every kind, whatever it is given."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.shape.ways import BY_KIND
from tests.shape.shown import CHARS, O200K, shaped

KINDS = sorted(set(BY_KIND) - {"json", "jsonl", "binary"})
"""The others have promises of their own."""

FRAGMENTS = (
    *("<p>", "</p>", "<div class='nav'>", "</div>", "<!--", "-->", "<script>", "<", ">", "&amp;"),
    *("# Title", "- item", "```", "| a | b |", "diff --git a/x b/x", "@@ -1,2 +1,3 @@", "+added"),
    *(
        "commit 1f3a9c7be20d1f3a9c7be20d1f3a9c7be20d1f3a",
        "Author: A <a@b>",
        "src/a.py:12:import os",
    ),
    *("a,b,c", '1,"two, three",4', "-1,x,9e9", "a\tb", "def f(x):", "    return x", "class A {"),
    *("drwxr-xr-x 2 root root 4096 Jan 1 10:00 bin", "./src/a/b.py", "zażółć 中文 👩‍👧", "", " "),
    "x" * 400,
)
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=60), min_size=1, max_size=150).map(
    lambda parts: "\n".join(parts).encode("utf-8", "replace").decode()
)
words = st.lists(st.sampled_from(["import", "two", "item", "a", "zażółć", ""]), max_size=3)


@pytest.mark.proves("R10", "P2", "S9")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=settings.default.max_examples // 4)
@given(texts, st.integers(128, 700), words)
def test_what_is_shown_never_exceeds_its_limit(kind, text, limit, query):
    first = shaped(kind, text, limit, *query)

    assert first is None or O200K.count(first) <= limit
    assert first == shaped(kind, text, limit, *query)


@pytest.mark.proves("R10", "P2")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=settings.default.max_examples // 8)
@given(texts, st.integers(512, 3_000))
def test_a_limit_in_characters_holds_too(kind, text, limit):
    shown = shaped(kind, text, limit, meter=CHARS)

    assert shown is None or len(shown) <= limit


WORST = {
    "one endless line": "x" * 100_000,
    "only line ends": "\n" * 100_000,
    "only tags that open": "<a" * 17_000,
    "tags in tags": "<div><nav>" * 10_000,
    "comments that never end": "<!--<" * 20_000,
    "scripts that never end": "<script>" * 12_000,
    "quotes that never end": "<a \"'>" * 17_000,
    "only delimiters": "," * 100_000,
    "quotes in cells": '","\n' * 8_000,
    "indented more and more": "\n".join(" " * (i % 700) + "if x:" for i in range(800)),
    "all brackets": "{([" * 33_000,
    "hunks without lines": "@@ -1 +1 @@\n" * 8_000,
    "every line the same": "src/a.py:1:x\n" * 8_000,
    "every line another": "\n".join(f"{i:x}/{i * 7919 % 104729}" for i in range(8_000)),
    "a line of dashes": "a,b\n" + "-" * 100_000 + "x\n1,2\n" * 3,
    "brackets in brackets": ("call" + "((a)" * 90 + " {x;\n") * 300,
    "fences in fences": "```\n" * 8_000,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WORST)
def test_the_worst_texts_take_no_more_than_their_length(kind, name):
    shown = shaped(kind, WORST[name], 500, "x", "if")

    assert shown is None or O200K.count(shown) <= 500
