"""P20: no key or secret of the operator appears in logs, errors, metrics or pages."""

import io
import logging
import os
import urllib.request
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from headgate import Gate
from headgate.gateway import Entry, Running, Serving
from headgate.gateway.app import Gateway
from headgate.gateway.telemetry import spans_of
from headgate.gateway.upstreams import upstream_of
from tests.gateway.conftest import body_of
from tests.gateway.wire import Upstream, everything, head, request, reset, stream_head

PLANTED = "PLANTEDSECRET"
TOKEN = f"{PLANTED}-token-0123456789abcdef"
KEYS = {
    "authorization": f"Bearer sk-{PLANTED}-bearer",
    "x_api_key": f"sk-ant-{PLANTED}-key",
    "x_goog_api_key": f"AIza{PLANTED}goog",
    "api_key": f"{PLANTED}-azure",
    "cookie": f"session={PLANTED}-cookie",
    "proxy_authorization": f"Basic {PLANTED}-proxy",
    "x_headgate_token": TOKEN,
    "anthropic_version": "2023-06-01",
}
QUERY = f"key=AIza{PLANTED}query&alt=sse"
PATHS = [
    f"/v1/messages?{QUERY}",
    f"/v1beta/models/g:streamGenerateContent?{QUERY}",
    f"/v1/chat/completions?{QUERY}",
    f"/token/{TOKEN}/v1/responses?{QUERY}",
    f"/v1/models?{QUERY}",
    f"/token/{TOKEN}wrong/v1/messages?{QUERY}",
    f"/nobody/knows?{QUERY}",
    f"/v1/../{PLANTED}?{QUERY}",
]
ANSWERS = {
    "fine": head(content_length=2) + b"{}",
    "hangs up": [],
    "resets": [reset],
    "breaks off": [stream_head(), b"5\r\nda"],
    "garbage": b"\x00\xff no http at all\r\n\r\n",
    "a bad header": b"HTTP/1.1 200 OK\r\nbad header\x00: 1\r\n\r\n",
}


def broken(*_, **__):
    raise ZeroDivisionError(f"quoting the request: {KEYS['x_api_key']} and {QUERY}")


@pytest.fixture
def heard():
    """Everything that anybody logs, down to the last detail."""
    stream = io.StringIO()
    shown = logging.StreamHandler(stream)
    root = logging.getLogger()
    before = root.level
    root.addHandler(shown)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(shown)
    root.setLevel(before)


@pytest.mark.proves("P20")
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("fault", ["", "preparing", "answering"])
def test_no_key_is_told_to_anybody_but_the_upstream(state, heard, monkeypatch, answer, fault):
    if fault == "preparing":
        monkeypatch.setattr(Gate, "prepare", broken)
    if fault == "answering":
        monkeypatch.setattr(Gateway, "_pass_on", broken)
    exporter = InMemorySpanExporter()
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(exporter))
    printed = io.StringIO()
    with (
        redirect_stdout(printed),
        redirect_stderr(printed),
        Upstream(*[ANSWERS[answer]] * len(PATHS)) as upstream,
    ):
        names = ("anthropic", "openai", "gemini")
        serving = Serving(
            upstreams=tuple(upstream_of(f"{name}={upstream.url}") for name in names),
            port=0,
            admin_port=0,
            state=state,
            entry=Entry(token=TOKEN),
        )
        with Running(serving, spans=spans_of(tracing)) as gateway:
            answers = [
                everything(
                    gateway.url, request(body_of(text="x"), path, connection="close", **KEYS)
                )
                for path in PATHS
            ]
            pages = [
                urllib.request.urlopen(f"{gateway.admin_url}/{page}").read()
                for page in ("healthz", "metrics", "stats.json", "openapi.json")
            ]
        assert PLANTED not in repr(serving)

    files = [os.path.join(at, name) for at, _, names in os.walk(state) for name in names]
    written = b"".join(Path(path).read_bytes() for path in files)
    spans = "".join(span.to_json() for span in exporter.get_finished_spans())
    told = b"".join([*answers, *pages, written, spans.encode(), heard.getvalue().encode()])
    assert all(answers)
    assert PLANTED.encode() not in told
    assert PLANTED not in printed.getvalue()
