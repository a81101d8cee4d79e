import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.presets import PRESETS

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = ROOT / "scripts"


@pytest.fixture
def written(state):
    """What a script of the docs writes."""

    def run(script):
        command = [sys.executable, SCRIPTS / script, "-"]
        return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode()

    return run


def test_the_page_on_presets_is_what_the_presets_say(written):
    assert (ROOT / "docs" / "presets.md").read_text() == written("presets_docs.py"), "run make docs"


def test_the_comparison_shows_ten_batches_under_every_preset(written):
    # It is not written unless every original reads back.
    page = written("comparison.py")

    headings = [line for line in page.splitlines() if line.startswith("## ")]
    asked = [batch["asked"] for batch in batches()]
    assert headings == [f"## {number}. {text}" for number, text in enumerate(asked, start=1)]
    for name in PRESETS:
        assert page.count(f"\n| {name} | ") == 10
        assert page.count(f"<summary>{name}</summary>") == 10


def test_what_is_asked_for_is_in_every_recorded_batch():
    for batch in batches():
        told = [json.dumps(result["content"], ensure_ascii=False) for result in batch["results"]]
        assert any(
            json.dumps(batch["sought"])[1:-1] in text or batch["sought"] in text for text in told
        )


def batches():
    return json.loads(gzip.decompress((SCRIPTS / "batches.json.gz").read_bytes()))
