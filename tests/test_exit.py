"""How a program ends that still has a gate."""

import subprocess
import sys

import pytest

# A function of the program that `sys` holds keeps its globals until all modules are gone.
PROGRAM = """
import sys
from headgate import Gate, Policy, tokens
from headgate.testing import lines, result

gate = Gate(Policy(result=tokens(200)), state=sys.argv[1])
gate.admit([result("grep", lines(100))])
{more}
sys.excepthook = lambda *told: None
"""
A_STREAM = 'stream = gate.stream("call_2", "bash")\nstream.write(b"line\\n" * 2_000_000)'


@pytest.mark.parametrize("more", ["", A_STREAM], ids=["kept", "under way"])
def test_a_program_ends_without_a_word_though_its_gate_outlives_its_modules(tmp_path, more):
    program = PROGRAM.format(more=more)

    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
