"""JSON as Python values."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import values
from headgate.slices import NotJson
from headgate.values import levels_in, value_of

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)

IN_A_SMALL_THREAD = """
import threading
from headgate import Gate, Policy, ToolResult
from headgate.history.chain import canonical

def work():
    deep = '{"a":' * 9_900 + "1" + "}" * 9_900
    alike = "[" + ",".join([deep] * 4) + "]"
    for number, text in enumerate([deep, alike]):
        gate = Gate(Policy(), session=str(number))
        result = ToolResult.of("tool", text, call_id="call")
        [shown] = gate.admit([result], question="which has the largest a?")
        assert shown.text
        assert canonical(text.encode())
    print("done")

threading.stack_size(1 << 20)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def depth(value: object) -> int:
    if not isinstance(value, list | dict):
        return 0
    inner = value if isinstance(value, list) else value.values()
    return 1 + max(map(depth, inner), default=0)


@given(VALUES)
def test_a_value_is_what_was_written(value):
    assert value_of(json.dumps(value)) == value


@given(VALUES)
def test_levels_are_counted_outside_of_strings(value):
    # So many brackets in a string, and the levels are counted, not guessed.
    written = json.dumps([value, '\\"[' * values.DEEPEST + '"'])

    assert levels_in(written.encode()) == depth(value) + 1


@pytest.mark.parametrize(
    "raw", [b"{", b"[NaN]", b'"\\ud800"', b"\xff", "\ud800", b"[" * 100_000 + b"]" * 100_000]
)
def test_what_is_no_value_says_so(raw):
    with pytest.raises(NotJson):
        value_of(raw)


def test_where_only_calls_are_counted_levels_are_counted_before(monkeypatch):
    monkeypatch.setattr(values, "MUST_COUNT", True)
    most = values.DEEPEST // 2

    assert depth_of(value_of(b"[" * most + b"]" * most)) == most
    with pytest.raises(NotJson, match="nested deeper than 1,000 levels"):
        value_of(b'[{"a":' * most + b"[]" + b"}]" * most)


def depth_of(value: object) -> int:
    levels = 0
    while isinstance(value, list):
        value, levels = (value[0] if value else None), levels + 1
    return levels


@pytest.mark.proves("P24")
def test_deep_json_ends_no_process_whose_threads_have_small_stacks(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", IN_A_SMALL_THREAD],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr
