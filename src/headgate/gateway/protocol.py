"""HTTP as uvicorn reads it, with bounds on the head of a request.

The parser underneath is strict about what can be read in two ways; what it lets through all the
same is refused here.
"""

from __future__ import annotations

import asyncio
import sys

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 128 * 1024
"""Of a head that comes in several pieces; clients send a few thousand bytes."""

HEAD_TIMEOUT_S = 30.0
"""For the head of a request, from its first byte on."""

CODING = b"transfer-encoding"
SAYS_LENGTH = frozenset({b"content-length", CODING})


class BoundedProtocol(HttpToolsProtocol):
    """Refuses heads that are endless, in bytes or in time, and what is said twice in them."""

    head_bytes = 0
    received = b""
    head_timer: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take the next bytes, unless an unfinished head has too many already."""
        if self.head_timer is not None:
            self.head_bytes += len(data)
            if self.head_bytes > MOST_HEAD_BYTES:
                self._stop_timer()
                self.send_400_response("The head of the request is too long.")
                return
        self.received = data
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self.head_bytes = 0
        self.head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._too_slow)

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._stop_timer()
        if self._wishes():
            return
        lengths = [header for header in self.headers if header[0] in SAYS_LENGTH]
        if len(lengths) > 1 or sum(name == b"host" for name, _ in self.headers) > 1:
            raise httptools.HttpParserError("the length or the host is said twice")
        if lengths and lengths[0][0] == CODING and lengths[0][1].lower() != b"chunked":
            raise httptools.HttpParserError("the transfer is coded in a way nobody knows")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is complete."""
        if not self._wishes():
            super().on_message_complete()

    def _wishes(self) -> bool:
        """Whether a client would rather speak another protocol, as some do in every request."""
        return bool(self.parser.should_upgrade()) and self.parser.get_method() != b"CONNECT"

    def _unsupported_upgrade_warning(self) -> None:
        """Read the request again without its wish: behind one, the parser reads no body."""
        stopped = sys.exception()
        if not isinstance(stopped, httptools.HttpParserUpgrade):
            return
        head = [b" ".join((self.parser.get_method(), self.url, b"HTTP/1.1"))]
        head += [b": ".join(header) for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        rest = self.received[stopped.args[0] :]
        self.data_received(b"\r\n".join((*head, b"", rest)))

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left."""
        self._stop_timer()
        super().connection_lost(exc)

    def _too_slow(self) -> None:
        self.head_timer = None
        self.transport.close()

    def _stop_timer(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None
