"""P24 at the gateway: whatever a client or an upstream sends, nobody is left without an answer."""

import random
import socket
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Policy, tokens
from headgate.gateway import Running, Serving
from headgate.gateway.upstreams import upstream_of
from tests.gateway.conftest import body_of
from tests.gateway.fuzz import mutated
from tests.gateway.wire import (
    CHUNK_END,
    KEEP,
    Upstream,
    chunked,
    connected,
    exchange,
    head,
    request,
    stream_head,
)

FINE = head(content_length=2) + b"{}"
ASKED = (
    request(body_of(text="x" * 3_000), anthropic_version="2023-06-01"),
    request(body_of(text="x"), "/v1beta/models/g:streamGenerateContent?alt=sse"),
    request(b'{"input": []}', "/v1/responses", accept_encoding="gzip"),
    request(b"5\r\nhello\r\n0\r\n\r\n", "/v1/files", transfer_encoding="chunked"),
    request(method="GET", path="/v1/models?limit=1"),
)
ANSWERED = (
    FINE,
    stream_head(content_encoding="gzip") + b"".join(chunked(b"data: {}\n\n")) + CHUNK_END,
    head("429 Slow", retry_after="1", content_length=0),
)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with Upstream(otherwise=[FINE, KEEP]) as upstream:
        names = ("anthropic", "openai", "gemini")
        serving = Serving(
            Policy(result=tokens(128)),
            upstreams=tuple(upstream_of(f"{name}={upstream.url}") for name in names),
            port=0,
            admin_port=None,
            state=tmp_path_factory.mktemp("p24") / "state",
            silence_timeout_s=5,
        )
        with Running(serving) as running:
            yield running, upstream


def all_that_comes(url, data):
    """Send bytes and nothing more, and read until the other side closes."""
    with connected(url) as connection:
        with suppress(ConnectionError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        out = b""
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                out += piece
        return out


def is_well(gateway, upstream):
    upstream.scripts.clear()
    # A connection that the upstream has just closed is a lost request: nothing is tried twice.
    answers = (exchange(gateway.url, ASKED[0]).status for _ in range(3))
    return 200 in answers and gateway.counters.sum("broken", "fault") == 0


@pytest.mark.proves("P24")
@settings(max_examples=settings.default.max_examples // 2)
@given(seed=st.integers(0, 2**32), asked=st.sampled_from(ASKED))
def test_no_request_hangs_or_breaks_it(gateway, seed, asked):
    running, upstream = gateway

    all_that_comes(running.url, mutated(asked, random.Random(seed)))

    assert is_well(running, upstream)


@pytest.mark.proves("P24")
@settings(max_examples=settings.default.max_examples // 2)
@given(seed=st.integers(0, 2**32), answered=st.sampled_from(ANSWERED))
def test_no_answer_of_an_upstream_hangs_or_breaks_it(gateway, seed, answered):
    running, upstream = gateway
    upstream.scripts[:] = [mutated(answered, random.Random(seed))]
    asked = ASKED[0].replace(b"host", b"connection: close\r\nhost", 1)

    with connected(running.url) as connection:
        connection.sendall(asked)
        got = b""
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                got += piece

    assert got.startswith(b"HTTP/1.1 ")
    assert is_well(running, upstream)
