"""A program in the place of the proxy that does not do its work must be found out."""

import json
import sys
from pathlib import Path

import pytest

from headgate.doctor.check import ODD, Check
from headgate.doctor.mcp import checks
from headgate.install.plan import Site
from headgate.install.written import Kept, Record

PASSES_ALL_ON = """\
import os, sys
words = sys.argv[sys.argv.index("--") + 1 :]
os.execv(words[0], words)
"""

KEEPS_NOTHING = f"""\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    texts = {{"content": [{{"type": "text", "text": {ODD!r}}}]}}
    given = {{"tools/list": {{"tools": []}}, "tools/call": texts}}.get(asked["method"], {{}})
    if "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": given}}), flush=True)
"""

REFUSES = """\
import json, sys
for line in sys.stdin:
    error = {"code": 1, "message": "no"}
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}), flush=True)
"""

SAYS_NOTHING = "pass"


def looked_at(folder: Path, program: str) -> list[Check]:
    """The checks of one server that is configured to be started through a program."""
    script, settings = folder / "headgate", folder / "settings.json"
    script.write_text(f"#!{sys.executable}\n{program}")
    script.chmod(0o700)
    words = ["mcp", "--", sys.executable, "-m", "headgate.doctor.stand_in"]
    settings.write_text(
        json.dumps({"mcpServers": {"logs": {"command": str(script), "args": words}}})
    )
    record = Record((Kept(str(settings), "{}", settings.read_text()),), 0, "", None)
    return checks("gemini", record, Site(folder, str(script), folder / "state"))


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (PASSES_ALL_ON, {"starts": False, "shortened": False}),
        (KEEPS_NOTHING, {"starts": False, "shortened": True, "kept": True, "read back": False}),
        (REFUSES, {"starts": False, "answers": False}),
        (SAYS_NOTHING, {"starts": False, "answers": False}),
    ],
    ids=["passes all on", "keeps nothing", "refuses", "says nothing"],
)
def test_a_proxy_that_does_not_do_its_work_is_found_out(tmp_path, program, found):
    looked = looked_at(tmp_path, program)

    assert {check.name: check.ok for check in looked} == {"configured": True, **found}


def test_what_a_server_says_is_told(tmp_path):
    told = {check.name: check.says for check in looked_at(tmp_path, REFUSES)}

    assert told["starts"] == 'logs: initialize was answered with {"code": 1, "message": "no"}'


def test_settings_that_cannot_be_read_are_told(tmp_path):
    settings = tmp_path / "settings.json"
    settings.write_text("{")
    record = Record((Kept(str(settings), None, "{}"),), 0, "", None)

    [check] = checks("gemini", record, Site(tmp_path, "headgate", tmp_path / "state"))

    assert (check.name, check.ok) == ("configured", False)
    assert str(settings) in check.says
