"""How many files a gate holds open, counted in a process of its own: no other test has any."""

import json
import subprocess
import sys

PROGRAM = """
import gc, json, os, sys
from headgate import Gate, Policy, tokens
from headgate.testing import lines, result

def held():
    return len(os.listdir("/dev/fd")) - before

before = 0
before = held()
gc.disable()
gate = Gate(Policy(result=tokens(200)), state=sys.argv[1])
gate.admit([result("grep", lines(100))])
written = held()
journals = [gate.journal(name) for name in ("a", "b")]
for journal in journals:
    journal.append(lambda records: [b"record"])
with_journals = held()
del gate, journals, journal
print(json.dumps([written, with_journals, held()]))
"""


def test_a_gate_holds_ten_files_and_the_last_who_has_it_lets_them_go(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, check=True
    )

    assert json.loads(ran.stdout) == [10, 12, 0]
