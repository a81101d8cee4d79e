"""Bytes that nobody would send, for the framer of events and for the splicer of histories.

`python -m tests.gateway.fuzz SECONDS [SEED]` tries as many as there is time for; `make fuzz` calls
it. What fails is written to a file, and is tried again by `python -m tests.gateway.fuzz FILE`.
"""

import json
import random
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from headgate import Gate, Policy, tokens
from headgate.dialects import dialect_named
from headgate.dialects.heads import head_of, located
from headgate.errors import HistoryError
from headgate.gateway.inflate import CannotInflate, inflated
from headgate.gateway.reading_tool import reading_tool
from headgate.gateway.reports import Report
from headgate.gateway.sse import Framer
from headgate.testing import lines

DIALECTS = ("anthropic", "openai-chat", "openai-responses", "gemini")
LIMIT_TOKENS = 128
MOST_EVENT_BYTES = 200

LOG = lines(60, n30="ERROR: disk 7 is full")
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
BODIES = (
    {
        "model": "claude-opus-4-6",
        "system": "s",
        "messages": [
            {"role": "user", "content": "Why?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    {"type": "tool_use", "id": "c1", "name": "bash", "input": {"a": 1e300}},
                    {"type": "tool_use", "id": "c2", "name": "grep", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": LOG},
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "is_error": True,
                        "content": [{"type": "text", "text": "é" * 900}],
                        "cache_control": {"type": "ephemeral"},
                    },
                ],
            },
        ],
    },
    {
        "messages": [
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": LOG},
        ]
    },
    {
        "previous_response_id": None,
        "input": [
            {"role": "user", "content": "Why?"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": LOG},
        ],
    },
    {
        "contents": [
            {"role": "user", "parts": [{"text": "Why?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "bash", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "bash", "response": {"result": LOG}}}],
            },
        ]
    },
)
STREAMS = (
    b'event: message_start\ndata: {"message":{"usage":{"input_tokens":9}}}\n\n: c\n\nevent: x\r\n'
    b'data: {"usage":{"output_tokens":3}}\r\ndata: 2\r\n\r\nid: 7\rdata: caf\xc3\xa9\r\r',
    b'data: {"usageMetadata":{"promptTokenCount":1}}\n\ndata: [DONE]\n\n',
)
SEEDS = (
    *(json.dumps(body).replace("1e+300", "1e400").encode() for body in BODIES),
    *STREAMS,
)
TOKENS = (
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"data:", b"data", b":", b" ", b"\xef\xbb\xbf", b"\x00"),
    *(b'"', b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b",", b"null", b"true", b"NaN"),
    *(b"1e999", b"-0", b'"tool_result"', b'"tool_use_id"', b'"c1"', b'"content"', b'"role"'),
    *(b'"usage"', b'"type"', b'"tool"', b'"read_result"', b'"parts"', b"[" * 40, b"\xff", b"\xf0"),
)


def mutated(data, chance):
    """A seed, changed in a few places."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(out))
        length = chance.choice((0, 1, 2, 8, 64))
        how = chance.randint(0, 4)
        if how == 0:
            out[at : at + length] = chance.choice(TOKENS)
        elif how == 1:
            del out[at : at + length]
        elif how == 2:
            out[at:at] = out[at : at + length] * chance.randint(1, 3)
        elif how == 3 and at < len(out):
            out[at] = chance.randint(0, 255)
        else:
            other = chance.choice(SEEDS)
            start = chance.randint(0, len(other))
            out[at : at + length] = other[start : start + 200]
    return bytes(out)


def pieces_of(data, chance):
    while data:
        size = chance.choice((1, 1, 2, 3, 7, 50, len(data)))
        yield data[:size]
        data = data[size:]


def try_framing(data, chance):
    """Events are the same however the stream is cut, and what is held is bounded."""
    whole, cut = Framer(10_000), Framer(10_000)
    bounded = Framer(MOST_EVENT_BYTES)
    report = Report("text/event-stream", "")
    said = []
    for piece in pieces_of(data, chance):
        said += cut.feed(piece)
        report.feed(piece)
        bounded.feed(piece)
        assert len(bounded._held) <= MOST_EVENT_BYTES
    assert said == whole.feed(data)
    report.usage()


def try_splicing(data, chance, gate):
    """A body is refused, or comes out; what was not decided on keeps its bytes."""
    dialect = chance.choice(DIALECTS)
    reading_tool(data)
    try:
        outcome = gate.prepare(data, dialect=dialect)
    except HistoryError:
        return
    if outcome.gave_up:
        assert outcome.body == data
    if outcome.body == data:
        return
    if is_json(data):
        assert is_json(outcome.body)
    again = gate.prepare(outcome.body, dialect=dialect)
    assert again.gave_up or again.body == outcome.body


def try_going_on(data, chance):
    """Whatever head it begins with, a body is read from there on as it is read whole."""
    dialect = dialect_named(chance.choice(DIALECTS))
    for seed in SEEDS[: len(BODIES)]:
        with suppress(HistoryError):
            known = located(dialect.read(seed))
            head = head_of(known, chance.randint(1, len(known.messages) or 1))
            if head is not None and head.begins(data):
                assert read_as(dialect, data, head) == read_as(dialect, data, None)


def read_as(dialect, data, head):
    """What a body says, where its messages begin, and its bytes; or what is wrong with it."""
    try:
        history = located(dialect.read(data, None, head))
    except HistoryError as error:
        return str(error)
    copied = tuple(msgspec.structs.replace(message) for message in history.messages)
    return history, history.starts, dialect.write(history.with_messages(copied)) == data


def is_json(data):
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def try_inflating(data, chance):
    """What is no such encoding is told, and what comes out is bounded."""
    for encoding in ("gzip", "deflate", "br", "zstd"):
        with suppress(CannotInflate):
            assert len(inflated(data, encoding, 1_000) or b"") <= 1_000


def try_one(data, seed, gate):
    """All targets on one input."""
    for target in (try_framing, try_inflating, try_going_on):
        target(data, random.Random(seed))
    try_splicing(data, random.Random(seed), gate)


def gate_in(folder):
    return Gate(Policy(result=tokens(LIMIT_TOKENS), spill=False), state=Path(folder) / "state")


def run(seconds, seed):
    """Try inputs until the time is over; gives how many."""
    count, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        gate = gate_in(folder)
        while time.monotonic() < end:
            data = mutated(random.Random(seed + count).choice(SEEDS), random.Random(seed + count))
            try:
                try_one(data, seed + count, gate)
            except BaseException:
                Path("fuzz-failure.bin").write_bytes(data)
                print(f"seed {seed + count} fails: fuzz-failure.bin", file=sys.stderr)
                raise
            count += 1
            if count % 2_000 == 0:
                gate = gate_in(tempfile.mkdtemp(dir=folder))
    return count


if __name__ == "__main__":
    first = sys.argv[1]
    if first.isdigit():
        started = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**9
        print(f"seed {started}: {run(int(first), started):,} inputs, no failure")
    else:
        with tempfile.TemporaryDirectory() as at:
            try_one(Path(first).read_bytes(), 0, gate_in(at))
