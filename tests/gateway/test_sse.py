import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.gateway.sse import Framer, data_of
from headgate.testing import Call, Provider, Think

RECORDED = (
    b'event: message_start\ndata: {"type":"message_start"}\n\n'
    b": a comment\n\n"
    b"event: ping\ndata: {}\n\n"
    b'data: {"text":"caf\xc3\xa9 \xf0\x9f\x8c\x8a"}\n'
    b"data: second line\n\n"
    b"id: 7\nretry: 10\n\n"
    b"data: [DONE]\n\n"
)
SAID = [
    b'{"type":"message_start"}',
    b"{}",
    b'{"text":"caf\xc3\xa9 \xf0\x9f\x8c\x8a"}\nsecond line',
    b"[DONE]",
]


def said(*chunks: bytes, most_event_bytes: int = 1000) -> list[bytes]:
    framer = Framer(most_event_bytes)
    return [data for chunk in chunks for data in framer.feed(chunk)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_events_are_the_same_wherever_a_stream_is_cut(line_end):
    stream = RECORDED.replace(b"\n", line_end)
    for at in range(len(stream) + 1):
        assert said(stream[:at], stream[at:]) == SAID


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_events_come_byte_by_byte(line_end):
    stream = RECORDED.replace(b"\n", line_end)

    assert said(*(stream[i : i + 1] for i in range(len(stream)))) == SAID


def test_an_event_that_has_not_ended_is_not_told():
    assert said(b"data: 1\n\ndata: 2\n") == [b"1"]


def test_one_space_after_the_colon_belongs_to_the_line():
    assert data_of(b"data:  two\ndata:none\ndata\nmydata: no") == b" two\nnone\n"


def test_an_event_over_the_bound_is_passed_over_and_the_next_is_told():
    long = b"data: " + b"x" * 200 + b"\n\n"
    stream = b"data: before\n\n" + long + b"data: after\n\n"
    for size in (1, 7, len(stream)):
        chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
        told = said(*chunks, most_event_bytes=100)
        assert told[0] == b"before"
        assert told[-1] == b"after"


def test_what_is_held_stays_within_the_bound_whatever_comes():
    framer = Framer(100)
    for _ in range(1_000):
        framer.feed(b"x" * 99)
    assert len(framer._held) <= 100


@given(st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"data: a", b"b", b":", b" "])), st.data())
def test_cutting_never_changes_what_is_said(pieces, data):
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert said(*chunks) == said(stream)


def test_the_stand_ins_stream_reads_the_same_at_every_cut():
    import json
    import urllib.request

    body = {"model": "claude-opus-4-6", "max_tokens": 9, "stream": True}
    body["messages"] = [{"role": "user", "content": "hi"}]
    with Provider([Think("hm"), Call("ls", {"path": "é🌊"})]) as provider:
        asked = urllib.request.Request(
            provider.url + "/v1/messages",
            json.dumps(body).encode(),
            {"x-api-key": "key", "anthropic-version": "2023-06-01"},
        )
        with urllib.request.urlopen(asked) as response:
            stream = response.read()

    whole = said(stream, most_event_bytes=10_000)
    assert [json.loads(data)["type"] for data in whole][::100] == ["message_start"]
    for at in range(len(stream)):
        assert said(stream[:at], stream[at:], most_event_bytes=10_000) == whole
