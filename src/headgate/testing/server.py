"""The HTTP under the stand-in: reads a request, sends an answer, or breaks it off."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from urllib.parse import parse_qsl, urlsplit

from headgate.testing.answers import Answer, dumps
from headgate.testing.replies import Failure, Request, Reset, Stall

TOO_LARGE = 413
"""The answer to a body that is not read at all."""


class Listener(ThreadingHTTPServer):
    """A server on loopback that can be left at any moment: it closes what is still open."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(
        self, answer: Callable[[Request], Answer], *, most_body_bytes: int, write_bytes: int
    ) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.answer = answer
        self.most_body_bytes = most_body_bytes
        self.write_bytes = write_bytes
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def server_bind(self) -> None:
        """Bind without asking for a host name, which may take seconds where there is no network."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def get_request(self) -> tuple[socket.socket, object]:
        """Remember a connection, so that it can be closed."""
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: object) -> None:
        """Forget a connection that is done."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)  # type: ignore[arg-type]  # typed for datagrams as well

    def leave(self) -> None:
        """Stop, and let nobody wait: stalled replies end, idle connections are closed."""
        self.shutdown()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with suppress(OSError):  # the client may be faster
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves in the middle is nothing to print."""


class Exchange(BaseHTTPRequestHandler):
    """One connection; requests on it are answered one after another."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def do_POST(self) -> None:
        """Answer a request with a body."""
        length = int(self.headers.get("content-length") or 0)
        if length > self.server.most_body_bytes:
            self.close_connection = True
            self._send(self.server.answer(self._request(b"", status=TOO_LARGE)))
            return
        is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        body = b"".join(self._chunks()) if is_chunked else self.rfile.read(length)
        self._send(self.server.answer(self._request(body)))

    def do_GET(self) -> None:
        """Answer a request without a body."""
        self._send(self.server.answer(self._request(b"")))

    def do_DELETE(self) -> None:
        """Answer a request to forget something."""
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Requests are recorded, not logged."""

    def _request(self, body: bytes, status: int = 0) -> Request:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query))
        return Request(self.command, parts.path, query, headers, body, status=status)

    def _chunks(self) -> Iterator[bytes]:
        left = self.server.most_body_bytes
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            left -= size
            if left < 0:
                self.close_connection = True
                return
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, answer: Answer) -> None:
        try:
            if answer.events is None:
                self._send_body(answer)
            else:
                self._send_events(answer, answer.events)
        except ConnectionError:
            self.close_connection = True

    def _send_body(self, answer: Answer) -> None:
        if isinstance(answer.fault, Stall):
            self._stall()
            return
        if isinstance(answer.fault, Reset):
            self._reset()
            return
        body = dumps(dict(answer.body)).encode("utf-8", "surrogatepass")
        self._head(answer, "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_events(self, answer: Answer, events: tuple[bytes, ...]) -> None:
        fault = answer.fault
        most = len(events) if fault is None else min(fault.after_events, len(events) - 1)
        self._head(answer, "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("cache-control", "no-cache")
        self.end_headers()
        for data in events[:most]:
            self._write(data)
        if isinstance(fault, Stall):
            self._stall()
            return
        if isinstance(fault, Reset):
            self._reset()
            return
        if isinstance(fault, Failure):
            self._write(answer.broken_off)
        self.wfile.write(b"0\r\n\r\n")

    def _head(self, answer: Answer, content_type: str) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)

    def _write(self, data: bytes) -> None:
        size = self.server.write_bytes or len(data)
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def _stall(self) -> None:
        """Wait for the client to leave, or for the listener to close the connection."""
        self.close_connection = True
        self.connection.recv(1)

    def _reset(self) -> None:
        """Close so that the other side is told of a reset, not of an end."""
        self.close_connection = True
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
