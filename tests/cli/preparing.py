"""What the tests of `headgate prepare` share."""

import json

from headgate.testing import lines
from tests.histories import round_of, user

LOG = lines(3_000)


def looked(dialect, *texts):
    """A history with one batch of results."""
    return user(dialect, "look") + round_of(dialect, 1, *texts)


def reported(headgate, *words, **more):
    """What `--report` writes."""
    ran = headgate("prepare", *words, "--report", "report.json", **more)
    assert ran.returncode in (0, 1), ran.stderr
    return json.loads((headgate.folder / "report.json").read_bytes())
