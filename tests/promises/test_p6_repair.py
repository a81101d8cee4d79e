"""P6: what is repaired satisfies the provider's rules; what was valid stays; twice is once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.check import check
from headgate.dialects import dialect_named
from headgate.history.repair import repair
from tests.dialects.scripts import DIALECTS, broken, render, scripts, written
from tests.histories import body, round_of, said, user


def repaired_bytes(name, raw, **how):
    dialect = dialect_named(name)
    repaired = repair(dialect.read(raw), **how)
    return repaired, dialect.write(repaired.history)


@pytest.mark.proves("P6", "H1", "H3")
@pytest.mark.parametrize("reuse_ids", [False, True], ids=["own ids", "ids that come back"])
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_a_broken_history_is_repaired_so_that_its_provider_takes_it(name, reuse_ids, data):
    script = data.draw(scripts(thinking=False, reuse_ids=reuse_ids))
    came = data.draw(written(data.draw(broken(render(script, name), name)), name))

    repaired, out = repaired_bytes(name, came)

    assert repaired.gave_up == ""
    assert check(out, name) == []
    again, twice = repaired_bytes(name, out)
    assert (again.fixes, twice) == ((), out)
    assert bool(repaired.fixes) == bool(check(came, name))


@pytest.mark.proves("P6", "H3", "H4")
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_beside_thinking_a_history_is_repaired_or_goes_out_as_it_came(name, data):
    script = data.draw(scripts())
    came = data.draw(written(data.draw(broken(render(script, name), name)), name))

    repaired, out = repaired_bytes(name, came)

    if repaired.gave_up:
        assert out is came
        assert repaired.fixes == ()
    else:
        assert check(out, name) == []
        assert repaired_bytes(name, out)[1] is out


@pytest.mark.proves("P6", "H2")
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_with_calls_that_wait_the_rest_is_repaired_all_the_same(name, data):
    script = data.draw(scripts(thinking=False))
    came = data.draw(written(data.draw(broken(render(script, name), name)), name))

    repaired, out = repaired_bytes(name, came, pending=True)

    assert repaired.gave_up == ""
    assert check(out, name, pending=True) == []
    assert repaired_bytes(name, out, pending=True)[1] is out


@pytest.mark.proves("P4", "H1")
@pytest.mark.parametrize("name", DIALECTS)
@given(data=st.data())
def test_what_was_repaired_is_repaired_the_same_when_the_history_has_grown(name, data):
    script = data.draw(scripts(thinking=False, reuse_ids=data.draw(st.booleans())))
    sent = data.draw(broken(render(script, name), name)) + user(name, "and?")
    grown = sent + said(name, "well") + round_of(name, 7, "late", "r") + user(name, "so?")
    dialect = dialect_named(name)

    before = repair(dialect.read(body(name, sent))).history.messages
    after = repair(dialect.read(body(name, grown))).history.messages

    assert [message.raw for message in after[: len(before)]] == [m.raw for m in before]
