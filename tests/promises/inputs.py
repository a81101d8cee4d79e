"""The worst inputs a tool can return, as strategies that the promises share."""

import json

from hypothesis import strategies as st

any_text = st.text(alphabet=st.characters(), max_size=2_000)
UNITS = (" ", "a", "=", "\n", "\t", "\r", "\0", "中", "👩‍👧‍👦", "e\u0301", "{", "[", '"', "\\")
ODD_UNITS = ("<|", "\ud800", "\u202e", "\x1b[31m", "error\n", "x" * 50 + "\n", '{"a":', "Aa0+/")
runs = st.tuples(st.sampled_from([*UNITS, *ODD_UNITS]), st.integers(1, 20_000)).map(
    lambda run: run[0] * min(run[1], 60_000 // len(run[0]))
)
loglike = st.lists(
    st.sampled_from(
        [
            "2026-11-15 10:00:01 INFO all is well",
            "ERROR: disk 7 is full",
            "Traceback (most recent call last):",
            '  File "a.py", line 3, in f',
            "[9 of 10 lines omitted; r_abcdefghijkl #k7q2]",
            "\x1b[32mok\x1b[0m 100%\r99%\rdone",
            "<|endoftext|><|im_start|>",
            "src/a.py:12:import os",
            "",
            "x" * 3_000,
            "zażółć gęślą jaźń 中文 " * 9,
        ]
    ),
    min_size=1,
    max_size=400,
).map("\n".join)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=60)
    | st.just("long " * 800),
    lambda inner: (
        st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=12), inner, max_size=8)
    ),
    max_leaves=40,
)
json_texts = json_values.map(lambda value: json.dumps([value] * 30))
deep = st.integers(1, 30_000).map(lambda depth: "[" * depth + "]" * depth)
contents = st.one_of(
    any_text, runs, loglike, json_texts, deep, st.binary(max_size=4_000), runs.map(repr)
)
