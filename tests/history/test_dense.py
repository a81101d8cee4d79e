import json

import pytest

from headgate.dialects import dialect_named
from headgate.history.dense import dense_calls
from tests.histories import DIALECTS, body, calls

ASKED = [
    ("c1", "Read", {"file_path": "/a/package.JSON"}),
    ("c2", "Read", {"file_path": "/a/json"}),
    ("c3", "read_file", {"path": "rows.jsonl"}),
    ("c4", "bash", {"command": "cat x.json"}),
    ("c5", "Read", {"path": 7}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_are_told_by_the_extension_of_the_file_they_ask_for(dialect):
    history = dialect_named(dialect).read(body(dialect, calls(dialect, *ASKED)))

    assert dense_calls(history.messages, ("json", "jsonl")) == {"c1", "c3"}
    assert dense_calls(history.messages, ()) == frozenset()


def test_arguments_that_are_no_object_ask_for_no_file():
    made = {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "x.json"}}
    message = {"role": "assistant", "content": None, "tool_calls": [made]}
    history = dialect_named("openai-chat").read(json.dumps([message]).encode())

    assert dense_calls(history.messages, ("json",)) == frozenset()
