import re
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture(scope="module")
def gallery():
    sys.path.insert(0, str(SCRIPTS))
    import gallery

    yield gallery
    sys.path.remove(str(SCRIPTS))


def test_the_gallery_shows_twenty_one_outputs_of_different_kinds(gallery):
    verdicts = [gallery.shown(output) for output in gallery.outputs()]

    assert len(verdicts) == 21
    assert len({verdict.kind for verdict in verdicts}) >= 14


def test_every_output_of_the_gallery_is_too_big_and_fits_when_shown(gallery):
    for output in gallery.outputs():
        verdict = gallery.shown(output)

        assert verdict.before.tokens > output.tokens >= verdict.after.tokens


def test_the_gallery_is_the_same_every_time(gallery):
    output = gallery.outputs()[10]

    assert gallery.entry(11, output) == gallery.entry(11, gallery.outputs()[10])


def test_the_page_has_every_title(gallery):
    page = (SCRIPTS.parent / "docs" / "gallery.md").read_text(encoding="utf-8")

    assert re.findall(r"(?m)^## \d+\. .*", page) == [
        f"## {number}. {output.title}" for number, output in enumerate(gallery.outputs(), 1)
    ]
