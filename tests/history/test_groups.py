import json

import pytest

from headgate.dialects import DIALECTS, dialect_named
from headgate.history.groups import groups_of
from tests.histories import calls, results, round_of, said, user

every_dialect = pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])


def grouped(name, items):
    """The ids of the results in each group, with the tools of their calls."""
    history = dialect_named(name).read(json.dumps(items).encode())
    return [
        [(spot.part.call_id, call.name if call else None) for spot, call in group.answered]
        for group in groups_of(history)
    ]


def use(id_):
    return {"type": "tool_use", "id": id_, "name": "grep", "input": {}}


def result(id_):
    return {"type": "tool_result", "tool_use_id": id_, "content": "x"}


@pytest.mark.proves("H6")
@every_dialect
def test_all_results_that_answer_one_message_are_one_group(name):
    steps = round_of(name, 1, "a", "b") + round_of(name, 2, "c") + said(name, "ok")

    assert grouped(name, user(name, "go") + steps + user(name, "?")) == [
        [("call_1_0", "grep"), ("call_1_1", "grep")],
        [("call_2_0", "grep")],
    ]


@pytest.mark.proves("H6")
@every_dialect
def test_what_the_user_says_between_results_does_not_split_a_group(name):
    asked = calls(name, ("a", "grep", {}), ("b", "read", {}))
    split = (
        results(name, ("a", "grep", "x")) + user(name, "wait") + results(name, ("b", "read", "y"))
    )

    assert grouped(name, user(name, "go") + asked + split) == [[("a", "grep"), ("b", "read")]]


@pytest.mark.proves("H6")
def test_fragments_of_one_response_are_one_group_though_results_stand_between():
    messages = [
        {"role": "user", "content": "go"},
        {"id": "msg_1", "role": "assistant", "content": [use("a")]},
        {"role": "user", "content": [result("a")]},
        {"id": "msg_1", "role": "assistant", "content": [use("b")]},
        {"role": "user", "content": [result("b")]},
        {"id": "msg_2", "role": "assistant", "content": [use("c")]},
        {"role": "user", "content": [result("c")]},
    ]

    assert grouped("anthropic", messages) == [[("a", "grep"), ("b", "grep")], [("c", "grep")]]


@pytest.mark.proves("H6")
@pytest.mark.parametrize("role", ["system", "progress", "attachment"])
def test_other_records_do_not_split_a_group(role):
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [use("a"), use("b")]},
        {"role": "user", "content": [result("a")]},
        {"role": role, "content": [{"type": "text", "text": "50 %"}]},
        {"role": "user", "content": [result("b")]},
    ]

    assert grouped("anthropic", messages) == [[("a", "grep"), ("b", "grep")]]


@pytest.mark.proves("H6")
def test_an_id_that_comes_back_belongs_to_the_call_of_its_own_group():
    items = [*calls("openai-chat", ("a", "grep", {})), *results("openai-chat", ("a", "", "x"))]
    again = [*calls("openai-chat", ("a", "read", {})), *results("openai-chat", ("a", "", "y"))]

    assert grouped("openai-chat", items + again) == [[("a", "grep")], [("a", "read")]]


@pytest.mark.proves("H6")
def test_without_ids_results_find_their_calls_by_name_and_order():
    def part(kind, name, **more):
        return {kind: {"name": name, **more}}

    asked = [part("functionCall", n, args={"n": i}) for i, n in enumerate(["a", "b", "a"])]
    given = [part("functionResponse", n, response={"result": ""}) for n in ["a", "a", "b"]]
    turns = [{"role": "model", "parts": asked}, {"role": "user", "parts": given}]
    history = dialect_named("gemini").read(json.dumps(turns).encode())

    [group] = groups_of(history)

    assert [(spot.part.name, call.value) for spot, call in group.answered] == [
        ("a", b'{"n": 0}'),
        ("a", b'{"n": 2}'),
        ("b", b'{"n": 1}'),
    ]


@every_dialect
def test_a_history_without_results_has_no_groups(name):
    assert grouped(name, user(name, "go") + calls(name, ("a", "grep", {}))) == []
