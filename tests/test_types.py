import pytest

from headgate import Gate, ShownResult, Text, ToolResult
from headgate.testing import result


def test_what_a_gate_shows_has_its_verdict(tmp_path):
    gate = Gate(state=tmp_path)

    [shown] = gate.admit([result("bash", "short")])
    stream = gate.stream("call_2", "bash")
    stream.write(b"short too")

    assert type(shown) is type(stream.close()) is ShownResult
    assert shown.verdict.fate == "whole"


def test_nothing_is_shown_without_a_verdict():
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'verdict'"):
        ShownResult("call_1", "bash", (Text("x"),))

    assert ToolResult("call_1", "bash", (Text("x"),)).verdict is None
