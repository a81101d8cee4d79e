"""A mark for an hour behind one for five minutes is refused, and lasts as long as that one."""

import json

import pytest

from headgate.check import check
from headgate.dialects import dialect_named
from headgate.history.repair import repair
from tests.history.mending import mended

SHORT = {"cache_control": {"type": "ephemeral"}}
FIVE = {"cache_control": {"type": "ephemeral", "ttl": "5m"}}
LONG = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def text(said, mark=None):
    return {"type": "text", "text": said, **(mark or {})}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


@pytest.mark.proves("H1")
@pytest.mark.parametrize("short", [SHORT, FIVE])
def test_a_longer_mark_behind_a_shorter_lasts_as_long_as_that_one(short):
    messages = [user(text("a", LONG), text("b", short), text("c", LONG))]

    items, kinds = mended("anthropic", messages)

    assert kinds == ["cache"]
    assert items == [user(text("a", LONG), text("b", short), text("c", SHORT))]


@pytest.mark.proves("H1")
def test_marks_of_tools_and_system_count():
    system = [text("s", SHORT)]

    items, kinds = mended("anthropic", [user(text("a", LONG))], system=system, model="claude-x")

    assert (items, kinds) == ([user(text("a", SHORT))], ["cache"])


@pytest.mark.proves("H1")
def test_marks_inside_of_a_result_come_before_its_own():
    call = {"type": "tool_use", "id": "a", "name": "ls", "input": {"cache_control": {"ttl": "1h"}}}
    held = {"type": "tool_result", "tool_use_id": "a", "content": [text("x", SHORT)], **LONG}
    messages = [user(text("go")), {"role": "assistant", "content": [call]}, user(held)]

    items, kinds = mended("anthropic", messages)

    assert kinds == ["cache"]
    assert items == [*messages[:2], user({**held, **SHORT})]


@pytest.mark.proves("H3")
def test_marks_in_order_are_left_alone():
    messages = [user(text("a", LONG), text("b", LONG), text("c", SHORT), text("d", FIVE))]

    assert mended("anthropic", messages) == (messages, [])


@pytest.mark.proves("H1", "P6")
def test_marks_inside_of_tools_system_and_the_request_are_put_in_order_too():
    tool = {"name": "ls", "input_schema": {"type": "object"}}
    came = {
        "model": "claude-x",
        "tools": [{**tool, **SHORT}, {**tool, "name": "rm", **LONG}],
        "system": [text("s", LONG)],
        "cache_control": LONG["cache_control"],
        "messages": [user(text("a"))],
    }
    dialect = dialect_named("anthropic")
    repaired = repair(dialect.read(json.dumps(came).encode()))

    out = dialect.write(repaired.history)

    assert [fix.where for fix in repaired.fixes] == ["tools", "system", "cache_control"]
    assert check(out, "anthropic") == []
    assert json.loads(out) == {
        **came,
        "tools": [{**tool, **SHORT}, {**tool, "name": "rm", **SHORT}],
        "system": [text("s", SHORT)],
        "cache_control": SHORT["cache_control"],
    }
    assert repair(dialect.read(out)).fixes == ()
