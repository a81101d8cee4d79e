"""What stands around a gateway that is measured: a fast upstream, and a bare reverse proxy.

Both are programs: `python bench/gateway_parts.py upstream PORT`, `… bare PORT UPSTREAM_URL`. The
upstream answers a chat with a stream of events, as many and as far apart as the request's headers
say. The bare proxy is the same server and the same client as the gateway's, and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import sys

EVENTS = b"x-events"
PAUSE_MS = b"x-pause-ms"


def event(number: int) -> bytes:
    """One piece of an answer."""
    delta = {"content": f"word {number} "}
    said = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-5",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
    }
    return b"data: " + json.dumps(said).encode() + b"\n\n"


LAST = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5",'
    b'"choices":[],"usage":{"prompt_tokens":28000,"completion_tokens":20,"total_tokens":28020}}\n\n'
    b"data: [DONE]\n\n"
)
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\nx-request-id: req_1\r\n\r\n"
)


def answer(events: int) -> bytes:
    """All that a stream of so many events says."""
    return b"".join(map(event, range(events))) + LAST


def chunk(data: bytes) -> bytes:
    """A piece of a chunked transfer."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class Upstream(asyncio.Protocol):
    """Answers chats without looking at them."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.held = bytearray()
        self.wanted = -1
        self.asked = (1, 0)
        self.tasks: set[asyncio.Task[None]] = set()

    def data_received(self, data: bytes) -> None:
        self.held += data
        while True:
            if self.wanted < 0:
                end = self.held.find(b"\r\n\r\n")
                if end < 0:
                    return
                self._read_head(bytes(self.held[:end]).lower())
                del self.held[: end + 4]
            if len(self.held) < self.wanted:
                return
            del self.held[: self.wanted]
            self.wanted = -1
            self._answer()

    def _read_head(self, head: bytes) -> None:
        named = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        self.wanted = int(named.get(b"content-length", 0))
        self.asked = (int(named.get(EVENTS, 1)), int(named.get(PAUSE_MS, 0)))

    def _answer(self) -> None:
        events, pause_ms = self.asked
        if not pause_ms:
            self.transport.write(HEAD + chunk(answer(events)) + b"0\r\n\r\n")
            return
        task = asyncio.ensure_future(self._stream(events, pause_ms / 1000))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _stream(self, events: int, pause_s: float) -> None:
        self.transport.write(HEAD)
        for number in range(events):
            self.transport.write(chunk(event(number)))
            await asyncio.sleep(pause_s)
        self.transport.write(chunk(LAST) + b"0\r\n\r\n")


async def be_upstream(port: int) -> None:
    """Listen until somebody ends the process."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upstream, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


def bare(upstream: str):
    """The same server and client, passing everything on."""
    import aiohttp

    session = None

    async def app(scope, receive, send):
        nonlocal session
        if scope["type"] != "http":
            return
        if session is None:
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        parts = []
        while True:
            message = await receive()
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                break
        headers = {k.decode(): v.decode() for k, v in scope["headers"] if k not in NOT_SENT}
        url, data = upstream + scope["path"], b"".join(parts)
        async with session.request(scope["method"], url, data=data, headers=headers) as response:
            named = [(k, v) for k, v in response.raw_headers if k.lower() not in NOT_SENT]
            start = {"type": "http.response.start", "status": response.status, "headers": named}
            await send(start)
            async for piece in response.content.iter_any():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

    return app


NOT_SENT = (b"host", b"content-length", b"transfer-encoding", b"connection")


def main(words: list[str]) -> None:
    """Be one of the two."""
    import uvicorn
    import uvloop

    what, port = words[0], int(words[1])
    if what == "upstream":
        uvloop.run(be_upstream(port))
    else:
        uvicorn.run(
            bare(words[2]), port=port, http="httptools", log_level="critical", access_log=False
        )


if __name__ == "__main__":
    main(sys.argv[1:])
