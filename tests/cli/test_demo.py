import os
import re
import subprocess
from pathlib import Path

from tests.cli.conftest import PROGRAM

ROOT = Path(__file__).parent.parent.parent


def test_the_demo_works_from_end_to_end_and_leaves_nothing_behind(state, tmp_path):
    ran = subprocess.run(
        ["sh", ROOT / "scripts" / "demo.sh"],
        env={
            **os.environ,
            "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}",
            "TMPDIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "E       assert 0.0 == (667 / 2)" in ran.stdout
    # How many lines pytest prints depends on the plugins and the width it finds.
    assert re.search(r"1 place found in lines 1-(1,0\d\d) of \1,", ran.stdout)
    assert not state.exists()
    assert list(tmp_path.iterdir()) == []
