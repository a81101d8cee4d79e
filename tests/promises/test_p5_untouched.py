"""P5: with nothing to change, the very same bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.check import check
from headgate.dialects import dialect_named
from headgate.history.repair import repair
from tests.dialects.scripts import DIALECTS, render, scripts, written


@pytest.mark.proves("P5", "P6", "H3")
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_a_valid_history_goes_through_repair_as_the_same_object(name, data):
    body = data.draw(written(render(data.draw(scripts()), name), name))
    assert check(body, name) == []
    history = dialect_named(name).read(body)

    repaired = repair(history)

    assert repaired.history is history
    assert (repaired.fixes, repaired.gave_up) == ((), "")
    assert dialect_named(name).write(repaired.history) is body


@pytest.mark.proves("P5", "H2")
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_a_history_whose_calls_still_wait_goes_through_as_the_same_object(name, data):
    items = render(data.draw(scripts()), name)
    places = [number for number, item in enumerate(items) if _calls(item)]
    if places:
        items = items[: data.draw(st.sampled_from(places)) + 1]
    body = data.draw(written(items, name))
    assert check(body, name, pending=True) == []
    history = dialect_named(name).read(body)

    assert repair(history, pending=True).history is history


def _calls(item):
    blocks = item.get("content") or item.get("parts") or []
    kinds = {
        kind for block in blocks if isinstance(block, dict) for kind in (block.get("type"), *block)
    }
    return bool({"tool_use", "functionCall"} & kinds) or "tool_calls" in item
