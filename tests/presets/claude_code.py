"""What the tests of the preset claude_code share."""

from headgate.testing import result
from headgate.types import Media
from tests.histories import calls

IMAGE = Media("image", {"type": "image", "source": {"data": "A" * 90_000}})


def admitted(gate, *batch):
    return gate.admit(list(batch))


def grep(size, call_id="toolu_01XYZ", **more):
    return result("Grep", "x" * size, call_id=call_id, **more)


def is_persisted(shown):
    return shown.text.startswith("<persisted-output>\n")


def fragment(message_id, *asked):
    return {**calls("anthropic", *asked)[0], "id": message_id}
