"""What passes through is upstream's own bytes, however they come, and however they end."""

import gzip
import json
import threading

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.gateway import Running, Serving
from headgate.gateway.upstreams import upstream_of
from headgate.testing import Call, Provider, Reset, Say, Stall, Think
from tests.gateway.conftest import body_of, history
from tests.gateway.wire import (
    CHUNK_END,
    KEEP,
    LONGEST_S,
    Upstream,
    chunked,
    connected,
    everything,
    exchange,
    head,
    read_message,
    request,
    reset,
    settled,
    stream_head,
    until_left,
)

EVENTS = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":'
    b'{"input_tokens":25,"output_tokens":1}}}\n\n'
    b"event: ping\ndata: {}\n\n"
    b'event: content_block_delta\ndata: {"delta":{"text":"caf\xc3\xa9 \xf0\x9f\x8c\x8a"}}\r\n\r\n'
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":9}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
ASKED = request(body_of(text="short"), anthropic_version="2023-06-01")


def asked_of(gateway, data=ASKED):
    return everything(gateway.url, data.replace(b"host", b"connection: close\r\nhost", 1))


@pytest.mark.proves("P23")
def test_a_stream_passes_byte_for_byte_wherever_its_chunks_are_cut(gateway_to):
    scripts = [
        [stream_head(), *chunked(EVENTS[:at], EVENTS[at:]), CHUNK_END, KEEP]
        for at in range(1, len(EVENTS))
    ]
    with Upstream(*scripts) as upstream:
        gateway = gateway_to(upstream.url)
        with connected(gateway.url) as connection:
            for _ in scripts:
                connection.sendall(ASKED)
                answer = read_message(connection)
                assert answer.unchunked == EVENTS
        assert upstream.connections == 1

    assert settled(gateway).sum("usage_tokens", "output") == 9 * len(scripts)
    assert gateway.counters.sum("usage_tokens", "input") == 25 * len(scripts)


@pytest.mark.proves("P23")
@pytest.mark.parametrize("write_bytes", [1, 3])
def test_a_stream_that_comes_byte_by_byte_is_the_same_with_and_without(gateway_to, write_bytes):
    reply = [Think("hm"), Say("café 🌊"), Call("bash", {"command": "ls é"})]
    body = json.dumps(history(text="short", stream=True)).encode()
    asked = request(body, anthropic_version="2023-06-01")
    options = {"write_bytes": write_bytes, "delta_chars": 2, "seed": "s", "clock": lambda: 0.0}
    with Provider(reply, **options) as provider:
        direct = exchange(provider.url, asked)
    with Provider(reply, reply, **options) as provider:
        gateway = gateway_to(provider.url)
        through = exchange(gateway.url, asked)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        with client.messages.stream(**history(text="short")) as stream:
            final = stream.get_final_message()

    assert through.unchunked == direct.unchunked
    assert final.content[1].text == "café 🌊"
    assert final.content[2].input == {"command": "ls é"}


def test_each_event_arrives_before_the_next_is_sent(gateway_to):
    seen = threading.Event()
    events = EVENTS.split(b"\n\n", 1)

    def wait(upstream, connection):
        assert seen.wait(LONGEST_S)

    first, second = chunked(events[0] + b"\n\n", events[1])
    with Upstream([stream_head(), first, wait, second, CHUNK_END]) as upstream:
        gateway = gateway_to(upstream.url)
        with connected(gateway.url) as connection:
            connection.sendall(ASKED)
            got = b""
            while events[0] not in got:
                got += connection.recv(65536)
            seen.set()
            while not got.endswith(CHUNK_END):
                got += connection.recv(65536)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "rot13"])
def test_an_encoding_passes_with_its_bytes(gateway_to, encoding):
    packed = gzip.compress(EVENTS)
    with Upstream(
        [stream_head(content_encoding=encoding), *chunked(packed), CHUNK_END]
    ) as upstream:
        gateway = gateway_to(upstream.url)
        answer = exchange(gateway.url, ASKED)

    assert answer.named["content-encoding"] == encoding
    assert answer.unchunked == packed
    assert settled(gateway).sum("usage_tokens", "output") == (9 if encoding == "gzip" else 0)


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        ("429 Too Many Requests", {"retry_after": "7", "x_should_retry": "true"}, b'{"a": 1}'),
        ("500 Oops", {"request_id": "req_1"}, b"{}"),
        ("529 Overloaded", {"retry_after_ms": "10"}, b'{"type":"error"}'),
        ("503 Busy", {"content_type": "text/html"}, b"<html>busy</html>"),
        ("200 OK", {"content_type": "text/html"}, b"<html>a login page</html>"),
        ("200 OK", {"content_type": "application/json"}, b"\x00\xff garbage \xfe"),
        ("200 OK", {"content_type": "text/event-stream"}, b"\x00\xff garbage \xfe"),
        ("302 Found", {"location": "https://elsewhere.example/"}, b""),
        ("418 Odd", {"anthropic_ratelimit_tokens_remaining": "0"}, b"x"),
    ],
)
def test_whatever_an_upstream_answers_arrives_as_it_is(gateway_to, status, headers, body):
    with Upstream(head(status, content_length=len(body), **headers) + body) as upstream:
        gateway = gateway_to(upstream.url)
        answer = exchange(gateway.url, ASKED)

    assert answer.status == int(status.split()[0])
    assert answer.body == body
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    assert answer.headers == [("content-length", str(len(body))), *named]
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("status", ["199 Odd", "600 Odd", "999 Odd", "101 Switching Protocols"])
def test_a_status_that_ends_nothing_is_told(gateway_to, status):
    with Upstream(head(status, content_length=0)) as upstream:
        gateway = gateway_to(upstream.url)
        answer = exchange(gateway.url, ASKED)

    assert answer.status == 502


def test_a_body_cut_short_arrives_cut_short(gateway_to):
    packed = gzip.compress(EVENTS * 50)
    with Upstream(
        head(content_length=len(packed), content_encoding="gzip") + packed[:-9]
    ) as upstream:
        gateway = gateway_to(upstream.url)
        got = asked_of(gateway)

    assert got.partition(b"\r\n\r\n")[2] == packed[:-9]
    assert gateway.counters.sum("broken", "upstream") == 1


@pytest.mark.proves("P23")
@pytest.mark.parametrize("end", [reset, lambda upstream, connection: None], ids=["reset", "closed"])
def test_a_stream_that_breaks_off_breaks_off_and_is_not_tried_again(gateway_to, end):
    pieces = chunked(EVENTS[:60], EVENTS[60:])
    with Upstream([stream_head(), pieces[0], end], []) as upstream:
        gateway = gateway_to(upstream.url)
        got = asked_of(gateway)

    body = got.partition(b"\r\n\r\n")[2]
    assert body in (pieces[0], b"")
    assert not got.endswith(CHUNK_END)
    assert len(upstream.requests) == 1


@pytest.mark.proves("P23")
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_an_upstream_that_hangs_up_is_told_and_not_tried_again(gateway_to, method):
    with Upstream([], [], []) as upstream:
        gateway = gateway_to(upstream.url)
        asked = ASKED if method == "POST" else request(method="GET", path="/v1/models")
        answer = exchange(gateway.url, asked)

    assert answer.status == 502
    assert len(upstream.requests) == 1
    assert "upstream 'anthropic' cannot be reached" in json.loads(answer.body)["error"]["message"]
    assert gateway.counters.sum("broken", "unreachable") == 1


def test_a_connection_that_was_used_before_and_is_gone_is_not_tried_again(gateway_to):
    once = head(content_length=2) + b"{}"
    with Upstream([once, KEEP], [reset], [once]) as upstream:
        gateway = gateway_to(upstream.url)
        assert exchange(gateway.url, request(method="GET", path="/v1/models")).status == 200
        answer = exchange(gateway.url, request(method="GET", path="/v1/models"))

    assert answer.status == 502
    assert len(upstream.requests) == 2


def test_an_upstream_that_is_not_there_is_told(gateway_to):
    gateway = gateway_to("http://127.0.0.1:1")

    answer = exchange(gateway.url, ASKED)

    assert answer.status == 502
    assert json.loads(answer.body) == {
        "type": "error",
        "error": {
            "type": "api_error",
            "message": "headgate: upstream 'anthropic' cannot be reached: ClientConnectorError",
        },
    }


def test_an_upstream_that_never_answers_is_given_up(gateway_to):
    with Upstream(until_left) as upstream:
        gateway = gateway_to(upstream.url, silence_timeout_s=0.05)
        answer = exchange(gateway.url, ASKED)
        assert upstream.left.wait(LONGEST_S)

    assert answer.status == 504
    assert gateway.counters.sum("broken", "timeout") == 1


def test_an_upstream_that_falls_silent_is_given_up(gateway_to):
    with Upstream([stream_head(), *chunked(EVENTS[:50]), until_left]) as upstream:
        gateway = gateway_to(upstream.url, silence_timeout_s=1)
        got = asked_of(gateway)
        assert upstream.left.wait(LONGEST_S)

    assert got.endswith(chunked(EVENTS[:50])[0])
    assert gateway.counters.sum("broken", "upstream") == 1


@pytest.mark.proves("P23")
@pytest.mark.parametrize("after", [0, 1, 60])
def test_a_client_that_leaves_cancels_upstream(gateway_to, after):
    sent = [stream_head(), *chunked(EVENTS[:60])] if after else []
    with Upstream([*sent, until_left]) as upstream:
        gateway = gateway_to(upstream.url)
        with connected(gateway.url) as connection:
            connection.sendall(ASKED)
            got = b""
            while after and len(got.partition(b"\r\n\r\n")[2]) < after:
                got += connection.recv(65536)
            while not upstream.requests:
                threading.Event().wait(0.005)

        assert upstream.left.wait(LONGEST_S)
    assert gateway.counters.sum("broken", "client") == 1


def test_a_client_that_leaves_in_the_middle_of_its_body_leaves_nothing_behind(gateway_to):
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        for cut in (20, len(ASKED) // 2, len(ASKED) - 1):
            with connected(gateway.url) as connection:
                connection.sendall(ASKED[:cut])
        assert exchange(gateway.url, ASKED).status == 200

    assert len(provider.requests) == 1
    assert settled(gateway).sum("broken", "client") == 2


def test_a_client_that_leaves_an_upload_leaves_its_upstream_too(gateway_to):
    upload = request(b"x" * 500_000, "/v1/files")
    with Upstream([]) as upstream:
        gateway = gateway_to(upstream.url)
        with connected(gateway.url) as connection:
            connection.sendall(upload[:-7])
        assert exchange(gateway.url, request(method="GET", path="/")).status == 200

    assert len([r for r in upstream.requests if len(r.body) == 500_000]) == 0


def test_the_stand_ins_stalls_and_resets_reach_the_real_client(gateway_to):
    with Provider(Reset(after_events=2), Stall(after_events=2), "Done.") as provider:
        gateway = gateway_to(provider.url, silence_timeout_s=2)
        client = anthropic.Anthropic(base_url=gateway.url, api_key="key", max_retries=0)
        for _ in range(2):
            with (
                pytest.raises(Exception, match=r"(?i)peer closed|incomplete|connection"),
                client.messages.stream(**history()) as stream,
            ):
                stream.until_done()
        answer = client.messages.create(**history())

    assert answer.content[0].text == "Done."
    assert len(provider.requests) == 3


def test_an_answer_under_way_comes_to_its_end_when_the_gateway_stops(gateway_to):
    go = threading.Event()

    def wait(upstream, connection):
        assert go.wait(LONGEST_S)

    first, second = chunked(EVENTS[:60], EVENTS[60:])
    with Upstream([stream_head(), first, wait, second, CHUNK_END]) as upstream:
        made = gateway_to(upstream.url).serving
        with Running(made) as gateway, connected(gateway.url) as connection:
            connection.sendall(ASKED)
            got = b""
            while EVENTS[:60] not in got:
                got += connection.recv(65536)
            gateway.stop()
            go.set()
            while piece := connection.recv(65536):
                got += piece

    assert got.endswith(b"\r\n\r\n" + first + second + CHUNK_END)


@settings(max_examples=settings.default.max_examples // 5)
@given(cuts=st.lists(st.integers(1, len(EVENTS) - 1), unique=True, max_size=12), data=st.binary())
def test_any_bytes_in_any_pieces_pass(shared_gateway, cuts, data):
    body = EVENTS[:200] + data + EVENTS[200:]
    cuts = sorted(cuts)
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    gateway, upstream = shared_gateway
    upstream.scripts[:] = [[stream_head(), *chunked(*pieces), CHUNK_END, KEEP]]

    assert exchange(gateway.url, ASKED).unchunked == body


@pytest.fixture(scope="module")
def shared_gateway(tmp_path_factory):
    with Upstream() as upstream:
        serving = Serving(
            upstreams=(upstream_of(f"anthropic={upstream.url}"),),
            port=0,
            admin_port=None,
            state=tmp_path_factory.mktemp("shared") / "state",
        )
        with Running(serving) as gateway:
            yield gateway, upstream
