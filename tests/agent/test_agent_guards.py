import pytest

from headgate import Gate, Policy, tokens
from headgate.events import GuardTripped
from headgate.guard_rules import GuardRule, Guards
from headgate.testing import (
    Call,
    Reset,
    ScriptedClient,
    lines,
)
from tests.agent.talking import agent_of, answers, every_dialect, violations


@pytest.mark.proves("G3")
@every_dialect
def test_a_warning_stands_above_the_result_the_model_gets(dialect, state):
    guards = Guards(identical=GuardRule(warn=1))
    same = Call("echo", {"text": "again"})
    client = ScriptedClient(same, same, "I see.")
    with agent_of(state, client, dialect=dialect, policy=Policy(guards=guards)) as agent:
        agent.run("Go.")

    first, second = answers(agent.conversation.messages, dialect)
    assert first[1] == "again"
    assert second[1] == (
        "[guard: this is call 2 of echo with the same arguments, and its result has not changed. "
        "The earlier result still holds: use it, change the arguments, or stop.]\nagain"
    )


@pytest.mark.proves("G3")
@every_dialect
def test_a_call_that_is_blocked_is_not_run_and_the_model_goes_on(dialect, state):
    guards = Guards(same_error=GuardRule(block=2))
    client = ScriptedClient(*[Call("fail", {"path": f"/srv/{n}.py"}) for n in "abc"], "I give up.")
    with agent_of(state, client, dialect=dialect, policy=Policy(guards=guards)) as agent:
        turn = agent.run("Go.")

    assert turn.text == "I give up."
    told = [text for _, text in answers(agent.conversation.messages, dialect)]
    assert "No such file: /srv/b.py" in told[1]
    assert told[2].startswith("Not run: the last 2 calls of fail failed with the same error")


@pytest.mark.proves("G3")
@every_dialect
def test_a_turn_that_is_halted_ends_cleanly_with_a_visible_event(dialect, state):
    guards = Guards(calls=GuardRule(halt=3))
    batch = [Call("echo", {"text": f"{n}"}, f"c{n}") for n in range(5)]
    client = ScriptedClient(batch, "Next turn.")
    with agent_of(state, client, dialect=dialect, policy=Policy(guards=guards)) as agent:
        events = list(agent.stream("Go."))

        turn = events[-1]
        assert (turn.reason, turn.requests) == ("halted", 1)
        assert turn.text == (
            "Not run: this is call 4 of the turn; 3 are allowed. "
            "The turn ends here; the user is told."
        )
        tripped = [event for event in events if isinstance(event, GuardTripped)]
        assert [(event.action, event.call_id) for event in tripped] == [("halt", "c3")]
        told = dict(answers(agent.conversation.messages, dialect))
        assert [told[f"c{n}"] for n in range(3)] == ["0", "1", "2"]
        assert told["c3"] == turn.text
        assert told["c4"] == (
            "Not run: a call before it in the batch went too far. "
            "The turn ends here; the user is told."
        )
        assert agent.run("Go on.").text == "Next turn."
    assert violations(agent, dialect) == []


@pytest.mark.proves("G3")
def test_polling_is_let_through_where_repeating_is_blocked(state):
    guards = Guards(identical=GuardRule(block=2), in_a_row=GuardRule(block=2))
    client = ScriptedClient(*[Call("poll")] * 5, *[Call("echo", {"text": "x"})] * 3, "Enough.")
    with agent_of(state, client, policy=Policy(guards=guards)) as agent:
        agent.run("Go.")

    told = [text.partition(":")[0] for _, text in answers(agent.conversation.messages)]
    assert told == ["1 %", "2 %", "3 %", "4 %", "5 %", "x", "x", "Not run"]


@pytest.mark.proves("G4")
def test_guards_go_on_counting_in_a_turn_that_another_process_goes_on_with(state):
    guards = Guards(calls=GuardRule(halt=2))
    policy = Policy(guards=guards)
    with agent_of(state, ScriptedClient(*[Call("poll")] * 2, Reset()), policy=policy) as agent:
        with pytest.raises(ConnectionResetError):
            agent.run("Go.")
        conversation = agent.conversation

    client = ScriptedClient(Call("poll"), "Not reached.")
    with agent_of(state, client, policy=policy, conversation=conversation) as agent:
        assert agent.run().reason == "halted"


@pytest.mark.proves("G4")
def test_compaction_makes_no_guard_forget(state):
    policy = Policy(guards=Guards(same_tool=GuardRule(halt=12)), result=tokens(4_000))
    client = ScriptedClient(
        answer=lambda request: Call("echo", {"text": lines(100, n7=f"{len(request.body)}")})
    )
    gate = Gate(policy, state=state, session="s")
    with agent_of(state, client, gate=gate, window_tokens=12_000) as agent:
        turn = agent.run("Go.")

    assert gate.ledger.epochs() != []
    assert (turn.reason, turn.calls) == ("halted", 13)
