import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import (
    SOURCE,
    Module,
    catch_alls,
    cycle,
    impure,
    misnamed,
    misplaced,
    modules,
    oversized,
)
from tests.requirements import TESTS, skipped_in

CHECKS = [misplaced, impure, catch_alls, misnamed, oversized]

HEAVY = ["asyncio", "hyperscan", "numpy", "re2", "regex", "splintr", "sqlite3", "ssl", "tiktoken"]
"""Costly to load, and not needed by everybody who imports the package."""

IMPORTING = """
import json, os, sys

touched = []

def watch(event, arguments):
    opened = arguments[2] if event == "open" else None
    writes = isinstance(opened, int) and opened & (os.O_WRONLY | os.O_RDWR)
    if writes or event.startswith(("os.mkdir", "os.rename", "os.remove", "socket.", "subprocess.")):
        touched.append([event, repr(arguments)])

class Watched(dict):
    def get(self, name, default=None):
        self.note(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.note(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        self.note(name)
        return super().__contains__(name)

    def note(self, name):
        frame = sys._getframe(2)
        while frame.f_code.co_filename == os.__file__:
            frame = frame.f_back
        if frame.f_code.co_filename.startswith(sys.argv[1]):
            touched.append(["environment", name])

os.environ = Watched(os.environ)
sys.addaudithook(watch)
import headgate
print(json.dumps({"touched": touched, "modules": sorted(sys.modules)}))
"""


def test_there_is_source_to_check():
    assert {"types.py", "shape/shaper.py"} <= {module.path for module in modules()}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_source_keeps(check):
    found = [line for module in modules() for line in check(module)]

    assert not found, "\n".join(found)


def test_no_module_imports_itself_around_a_corner():
    assert cycle(modules()) == []


def test_no_test_is_skipped_or_expected_to_fail():
    found = [line for path in sorted(TESTS.rglob("*.py")) for line in skipped_in(path)]

    assert not found, "\n".join(found)


def test_importing_the_package_has_no_effect_and_loads_nothing_heavy(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-B", "-c", IMPORTING, str(SOURCE)],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
        timeout=60,
    )

    seen = json.loads(ran.stdout)
    assert seen["touched"] == []
    assert [name for name in HEAVY if name in seen["modules"]] == []
    assert ran.stderr == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("marker.py", "from headgate.types import Ref", []),
        ("shape/cut.py", "from headgate.shape.shaper import Room", []),
        ("shape/cut.py", "from . import shaper\nfrom .shaper import Room\nimport json", []),
        ("cli/trim.py", "from headgate import Gate", []),
        (
            "marker.py",
            "from headgate.policy import Policy",
            ["marker.py:1: marker stands above policy and may not import it"],
        ),
        (
            "shape/cut.py",
            "def late():\n    from headgate import ledger",
            ["shape/cut.py:2: shape/ stands above ledger and may not import it"],
        ),
        (
            "shape/cut.py",
            "from ..spill import files",
            ["shape/cut.py:1: shape/ stands above spill/ and may not import it"],
        ),
        (
            "gate.py",
            "import headgate",
            ["gate.py:1: gate stands above __init__ and may not import it"],
        ),
        ("novelty.py", "", ["novelty.py: LAYERS has no word 'novelty'"]),
    ],
)
def test_an_import_from_the_same_line_or_below_is_found(path, source, found):
    assert list(misplaced(Module(path, source))) == found


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("gate.py", "import os, time", []),
        ("spill/files.py", "import os", []),
        ("journal.py", "import os", []),
        ("scan.py", "import threading", []),
        ("measure/vocab.py", "import threading\ndef load():\n    import os\n    open('x')", []),
        ("marker.py", "import os.path", ["marker.py:1: os.path in a pure file"]),
        ("marker.py", "from time import time", ["marker.py:1: time.time in a pure file"]),
        ("marker.py", "def f():\n    open('x')", ["marker.py:2: builtins.open in a pure file"]),
        ("read/lines.py", "import threading", ["read/lines.py:1: threading in a pure file"]),
        ("measure/vocab.py", "import os", ["measure/vocab.py:1: os in a pure file"]),
    ],
)
def test_a_pure_file_that_touches_the_world_is_found(path, source, found):
    assert list(impure(Module(path, source))) == found


@pytest.mark.parametrize(
    ("path", "caught", "found"),
    [
        ("gate.py", "except OSError: pass", []),
        ("gate.py", "except BaseException:\n    undo()\n    raise", []),
        ("cli/main.py", "except Exception: pass", []),
        ("gate.py", "except Exception: pass", ["gate.py:2: except Exception"]),
        (
            "gate.py",
            "except (OSError, Exception): pass",
            ["gate.py:2: except (OSError, Exception)"],
        ),
        ("gate.py", "except: pass", ["gate.py:2: except anything"]),
        (
            "gate.py",
            "except BaseException as e: raise E from e",
            ["gate.py:2: except BaseException"],
        ),
    ],
)
def test_a_catch_all_outside_the_entry_points_is_found(path, caught, found):
    assert list(catch_alls(Module(path, f"try: f()\n{caught}"))) == found


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("gate.py", "def commonplace(): ...", []),
        ("shape/utils.py", "", ["shape/utils.py:1: the name utils says nothing"]),
        ("gate.py", "class HTTPHandler: ...", ["gate.py:1: the name HTTPHandler says nothing"]),
        ("gate.py", "def _file_manager(): ...", ["gate.py:1: the name _file_manager says nothing"]),
    ],
)
def test_a_name_that_says_nothing_is_found(path, source, found):
    assert list(misnamed(Module(path, source))) == found


def test_a_long_file_and_a_long_function_are_found_and_docstrings_are_free():
    body = "    x = 1\n"
    documented = 'def f():\n    """One.\n' + "\n" * 50 + '    """\n' + body * 59
    long = "def g():\n" + body * 60

    assert list(oversized(Module("gate.py", documented))) == []
    assert list(oversized(Module("gate.py", long))) == ["gate.py:1: g has 61 lines, at most 60"]
    assert list(oversized(Module("gate.py", "x = 1\n" * 401))) == [
        "gate.py: 401 lines, at most 400"
    ]


def test_a_cycle_inside_a_folder_is_found():
    found = [
        Module("shape/__init__.py", ""),
        Module("shape/a.py", "from headgate.shape.b import B"),
        Module("shape/b.py", "from headgate.shape import c"),
        Module("shape/c.py", "from .a import A"),
    ]

    assert cycle(found) == [f"headgate.shape.{name}" for name in "abca"]
    assert cycle(found[:3]) == []


def test_a_cycle_through_the_folder_itself_is_found():
    found = [
        Module("shape/__init__.py", "from headgate.shape.a import A"),
        Module("shape/a.py", "from headgate.shape import B"),
    ]

    assert cycle(found) == ["headgate.shape", "headgate.shape.a", "headgate.shape"]


def test_a_module_that_is_not_written_yet_makes_no_cycle():
    found = [
        Module("__init__.py", "from headgate.gate import Gate"),
        Module("gate.py", "from headgate.journal import Journal"),
    ]

    assert cycle(found) == []


@pytest.mark.parametrize(
    "line", ["@pytest.mark.skipif(ROOT)", "pytest.importorskip('x')", "pytest.skip('no')"]
)
def test_a_skip_is_found(tmp_path, line):
    path = tmp_path / "test_a.py"
    path.write_text(f"{line}\ndef test_a(): ...\n" if line[0] == "@" else f"{line}\n")

    assert skipped_in(path) == ["test_a.py:1: " + line.split(".")[-1].split("(")[0]]


def test_the_source_is_where_it_is_imported_from():
    import headgate

    assert Path(headgate.__file__).parent == SOURCE
