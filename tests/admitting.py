"""What the tests of a batch's plan share."""

from headgate import Media, Policy
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.testing import lines, result

METER = meter_for("o200k", "tokens")
KEY = bytes(32)
IMAGE = Media("image", {"source": {"data": "AAAA" * 1_000}})


def plan(batch, policy=None, ledger=None, overrides=NO_OVERRIDES, **desk):
    desk = Desk(policy or Policy(), METER, KEY, "default", **desk)
    return plan_batch(batch, ledger or Ledger(None), desk, overrides)


def big(tool="grep", count=3_000, **more):
    return result(tool, lines(count), **more)
