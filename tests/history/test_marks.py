import json

import pytest

from headgate.check import check
from headgate.dialects import anthropic
from headgate.history.repair import repair

MARK = {"cache_control": {"type": "ephemeral"}}


def marked(text):
    return {"type": "text", "text": text, **MARK}


def mended(messages, **body):
    history = anthropic.read(json.dumps({**body, "messages": messages}).encode())
    repaired = repair(history)
    out = anthropic.write(repaired.history)
    return repaired, out


def said(number):
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": [marked(f"text {number}")]}


@pytest.mark.proves("H1")
def test_failure_19_of_too_many_marks_the_earliest_in_the_messages_go():
    repaired, out = mended([said(n) for n in range(5)], system=[marked("s")], tools=[{**MARK}])

    assert check(out, "anthropic") == []
    kept = [bool("cache_control" in m["content"][0]) for m in json.loads(out)["messages"]]
    assert kept == [False, False, False, True, True]
    assert [(fix.kind, fix.where) for fix in repaired.fixes] == [
        ("cache", "messages[0]"),
        ("cache", "messages[1]"),
        ("cache", "messages[2]"),
    ]


@pytest.mark.proves("H3", "H4")
def test_four_marks_are_left_alone_and_a_field_of_an_input_is_none():
    call = {"type": "tool_use", "id": "a", "name": "n", "input": dict(MARK)}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
    messages = [
        *[said(n) for n in range(4)],
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]

    repaired, out = mended(messages)

    assert repaired.fixes == ()
    assert out is repaired.history.body


@pytest.mark.proves("H1")
def test_the_mark_of_the_request_itself_counts_too():
    repaired, out = mended([said(n) for n in range(5)][:5], cache_control={"type": "ephemeral"})

    assert repaired.counts == {"cache": 2}
    assert json.loads(out)["cache_control"] == {"type": "ephemeral"}
    assert check(out, "anthropic") == []


@pytest.mark.proves("H1")
def test_marks_inside_of_a_result_count_and_go_one_by_one():
    call = {"type": "tool_use", "id": "a", "name": "n", "input": {}}
    blocks = [marked("one"), marked("two")]
    result = {"type": "tool_result", "tool_use_id": "a", "content": blocks, **MARK}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result, marked("three")]},
        {"role": "assistant", "content": [marked("four")]},
        {"role": "user", "content": "x"},
    ]

    repaired, out = mended(messages)

    assert repaired.counts == {"cache": 1}
    content = json.loads(out)["messages"][2]["content"][0]
    assert content["content"] == [{"type": "text", "text": "one"}, marked("two")]
    assert "cache_control" in content


@pytest.mark.proves("H1")
def test_marks_inside_of_what_a_user_gives_count_too():
    given = {"type": "search_result", "source": "s", "title": "t", "content": [marked("one")]}
    messages = [{"role": "user", "content": [given]}, *[said(n) for n in range(1, 5)]]

    repaired, out = mended(messages)

    assert repaired.counts == {"cache": 1}
    [found] = json.loads(out)["messages"][0]["content"]
    assert found["content"] == [{"type": "text", "text": "one"}]
    assert check(out, "anthropic") == []


@pytest.mark.proves("H3")
def test_too_many_marks_beside_the_messages_are_not_ours_to_take_out():
    repaired, out = mended([said(0)], system=[marked(f"{n}") for n in range(5)])

    assert repaired.gave_up == "tools and system alone have 5 cache marks"
    assert out is repaired.history.body
