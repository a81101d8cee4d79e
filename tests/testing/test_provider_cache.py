import pytest

from headgate.testing import Provider
from tests.testing.conversing import Clock, ask, marked

LONG = "All work and no play makes a dull prompt. " * 150


def cached(message):
    usage = message.usage
    return (
        usage.cache_read_input_tokens > 0,
        usage.cache_creation_input_tokens > 0,
    )


def test_a_marked_prefix_is_written_once_and_read_again(claude):
    with Provider() as provider:
        client = claude(provider)
        first = ask(client, system=[marked(LONG)])
        second = ask(client, {"role": "user", "content": "Something else"}, system=[marked(LONG)])

    assert cached(first) == (False, True)
    assert cached(second) == (True, False)
    assert second.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens
    assert first.usage.cache_creation.ephemeral_5m_input_tokens > 1_000


def test_a_growing_conversation_reads_the_turn_before_and_writes_the_new_one(claude):
    with Provider("a " * 400, "b " * 400, "c") as provider:
        client = claude(provider)
        history = [{"role": "user", "content": LONG}]
        usages = []
        for question in ("next", "and then", "done"):
            answer = ask(client, *history, cache_control={"type": "ephemeral"})
            usages.append(answer.usage)
            history += [answer.to_param(), {"role": "user", "content": question}]

    reads = [usage.cache_read_input_tokens for usage in usages]
    writes = [usage.cache_creation_input_tokens for usage in usages]
    assert reads == [0, writes[0], writes[0] + writes[1]]
    assert writes[1] > 400
    assert [usage.input_tokens for usage in usages] == [0, 0, 0]


def test_a_change_before_the_mark_misses_the_cache(claude):
    with Provider() as provider:
        client = claude(provider)
        ask(client, system=[marked(LONG)])
        changed = ask(client, system=[marked("Now: 12:01. " + LONG)])

    assert cached(changed) == (False, True)


def test_a_prefix_under_the_models_minimum_is_silently_not_kept(claude):
    short = "A short system prompt. " * 100
    with Provider() as provider:
        client = claude(provider)
        small = [ask(client, system=[marked(short)]) for _ in range(2)]
        other = ask(client, system=[marked(short)], model="claude-haiku-4-5")

    assert [cached(message) for message in small] == [(False, True), (True, False)]
    assert cached(other) == (False, False)


@pytest.mark.parametrize(("mark", "lives_s"), [({}, 300), ({"ttl": "1h"}, 3_600)])
def test_a_prefix_lives_from_its_last_use(claude, mark, lives_s):
    clock = Clock()
    system = [marked(LONG, {"cache_control": {"type": "ephemeral", **mark}})]
    with Provider(clock=clock) as provider:
        client = claude(provider)
        ask(client, system=system)
        clock.now += lives_s - 1
        again = ask(client, system=system)
        clock.now += lives_s - 1
        once_more = ask(client, system=system)
        clock.now += lives_s + 1
        too_late = ask(client, system=system)

    assert cached(again) == cached(once_more) == (True, False)
    assert cached(too_late) == (False, True)


def test_more_than_twenty_blocks_since_the_last_mark_miss_it(claude):
    def history(more):
        blocks = [{"type": "text", "text": f"word {n}"} for n in range(more)]
        return {"role": "user", "content": [marked(LONG), *blocks, marked("end")]}

    with Provider() as provider:
        client = claude(provider)
        ask(client, {"role": "user", "content": [marked(LONG)]})
        first = {**history(0), "content": [{"type": "text", "text": LONG}, marked("end")]}
        near = ask(client, first)
        far = [{"type": "text", "text": f"word {n}"} for n in range(25)]
        blocks = [{"type": "text", "text": LONG}, *far, marked("end")]
        missed = ask(client, {"role": "user", "content": blocks})

    assert cached(near) == (True, True)
    assert cached(missed) == (False, True)


def test_both_times_to_live_are_billed_apart(claude):
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    with Provider() as provider:
        message = ask(
            claude(provider),
            {"role": "user", "content": [marked(LONG)]},
            system=[marked(LONG, hour)],
        )

    written = message.usage.cache_creation
    assert written.ephemeral_1h_input_tokens > 1_000
    assert written.ephemeral_5m_input_tokens > 1_000


def test_another_tool_choice_keeps_the_system_cached_and_no_message(claude):
    messages = [{"role": "user", "content": [marked(LONG)]}]
    with Provider() as provider:
        client = claude(provider)
        first = ask(client, *messages, system=[marked(LONG)])
        second = ask(client, *messages, system=[marked(LONG)], tool_choice={"type": "any"})

    total = first.usage.cache_creation_input_tokens
    assert 0 < second.usage.cache_read_input_tokens < total
    assert second.usage.cache_creation_input_tokens > 0
