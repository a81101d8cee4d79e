import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_page_in_the_docs_is_what_the_help_says(state):
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / "cli_docs.py", "-"],
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert (ROOT / "docs" / "cli.md").read_bytes() == ran.stdout, "run make docs"
