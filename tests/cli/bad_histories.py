"""What is no history, or a broken one, for every command that takes histories."""

import json
from collections.abc import Iterator

from tests.histories import DIALECTS, body, calls, results, round_of, said, user

LEVELS = 100_000

UNREADABLE = {
    "nothing": (b"", "the body is empty"),
    "white space": (b" \n", "the body is empty"),
    "no JSON": (b"hello", "not JSON: Expecting value at line 1, column 1"),
    "JSON cut short": (b'[{"role": "user"', "not JSON: Expecting ',' delimiter at line 1"),
    "JSON and more": (b'[{"role": "user"}] x', "not JSON: Extra data at line 1, column 20"),
    "a control": (b'["\x01"]', "not JSON: Invalid control character at line 1, column 3"),
    "no UTF-8": (b'["\xff"]', "byte 0xff at 2 is not UTF-8"),
    "UTF-16": ('{"messages": []}'.encode("utf-16-le"), "not JSON"),
    "a byte order mark": (b"\xef\xbb\xbf[]", "not JSON: Unexpected UTF-8 BOM"),
    "NaN": (b'{"contents": [], "x": NaN}', "NaN at character 22 is not JSON"),
    "null": (b"null", "this is no history"),
    "a number": (b"5", "this is no history"),
    "a text": (b'"messages"', "this is no history"),
    "an empty array": (b"[]", "this is no history"),
    "an empty object": (b"{}", "this is no history"),
    "another body": (b'{"model": "gpt-4o", "prompt": "x"}', "this is no history"),
    "messages that are none": (b'{"messages": 5}', "this is no history"),
    "an array of numbers": (b"[1, 2]", "this is no history"),
    "two arrays": (b'{"input": [], "contents": []}', "this fits openai-responses and gemini; "),
    "plain messages": (
        b'{"messages": [{"role": "user", "content": "x"}]}',
        "this fits anthropic and openai-chat; say which with --dialect",
    ),
    "deep arrays": (b"[" * LEVELS + b"]" * LEVELS, "nested too deep"),
    "deep objects": (b'{"a":' * LEVELS + b"1" + b"}" * LEVELS, "nested too deep"),
    "deep in a body": (
        b'{"contents": [' + b"[" * LEVELS + b"]" * LEVELS + b"]}",
        "nested too deep",
    ),
    "brackets that never close": (b"[" * LEVELS, "nested too deep"),
}
"""By name: the bytes, and how the one line about them begins."""

WRONG = (None, True, 5, -1.5, "", "x", [], [None], {}, {"x": 1})


def unanswered(dialect: str) -> bytes:
    """A call without its result."""
    messages = user(dialect, "x") + calls(dialect, ("c1", "grep", {})) + user(dialect, "and?")
    return body(dialect, messages)


def beyond_repair() -> bytes:
    """Two calls of one id beside thinking, which nobody may change."""
    messages = user("anthropic", "x") + calls("anthropic", ("c1", "ls", {}), ("c1", "ls", {}))
    messages[1]["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    return body("anthropic", messages + user("anthropic", "and?"))


def long_history(dialect: str) -> bytes:
    """99,999 messages, some of them calls and their results."""
    talk = [*said(dialect, "ok"), *user(dialect, "go on")]
    messages = user(dialect, "begin")
    while len(messages) < 99_000:
        messages += round_of(dialect, len(messages), f"result {len(messages)}") + talk * 50
    return body(dialect, messages + talk * ((99_999 - len(messages)) // 2), model="gpt-4o")


def wrong_types() -> Iterator[tuple[str, bytes]]:
    """A small history of each dialect with one value at a time replaced by each wrong one."""
    for dialect in DIALECTS:
        messages = [
            *user(dialect, "x"),
            *calls(dialect, ("c1", "ls", {"path": "a"}), ("c2", "ls", {})),
            *results(dialect, ("c1", "ls", "a\nb"), ("c2", "ls", "c")),
            *said(dialect, "ok"),
            *user(dialect, "thanks"),
        ]
        whole = json.loads(body(dialect, messages, model="gpt-4o", system="s", tools=[]))
        for path in list(_paths(whole)):
            for wrong in WRONG:
                yield dialect, json.dumps(_replaced(whole, path, wrong)).encode()


def _paths(value: object, path: tuple = ()) -> Iterator[tuple]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(item, (*path, key))


def _replaced(value: object, path: tuple, wrong: object) -> object:
    if not path:
        return wrong
    key, *rest = path
    copy = value.copy()
    copy[key] = _replaced(value[key], tuple(rest), wrong)
    return copy
