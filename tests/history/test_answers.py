import pytest

from tests.history.mending import mended


def fragment(message_id, *blocks):
    return {"role": "assistant", "id": message_id, "content": list(blocks)}


@pytest.mark.proves("H1", "H6")
@pytest.mark.parametrize(
    ("second", "roles", "last"),
    [
        ("one", ["user", "assistant", "user"], ["a", "b"]),
        ("two", ["user", "assistant", "user", "assistant", "user"], ["b"]),
    ],
)
def test_what_follows_a_call_without_result_is_an_answer_of_its_own_unless_its_id_is_the_same(
    second, roles, last
):
    messages = [
        {"role": "user", "content": "go"},
        fragment("one", {"type": "tool_use", "id": "a", "name": "ls", "input": {}}),
        fragment(
            second,
            {"type": "text", "text": "and"},
            {"type": "tool_use", "id": "b", "name": "ls", "input": {"path": "."}},
        ),
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "x"}]},
    ]

    items, kinds = mended("anthropic", messages)

    assert [item["role"] for item in items] == roles
    assert kinds[0] == "missing"
    assert [block["tool_use_id"] for block in items[-1]["content"]] == last
