"""Both ends of a gateway as plain sockets: an upstream that sends any bytes, and a client too."""

import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress

LONGEST_S = 10

CHUNK_END = b"0\r\n\r\n"


def head(status="200 OK", **headers):
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{named}\r\n".encode()


def chunked(*pieces):
    return [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]


def stream_head(status="200 OK", **headers):
    more = {"content_type": "text/event-stream", "transfer_encoding": "chunked", **headers}
    return head(status, **more)


class Upstream:
    """Answers each request with the next script: bytes to send, or functions of the socket.

    After a script the connection is closed, unless the script says `KEEP`.
    """

    def __init__(self, *scripts, otherwise=b""):
        self.scripts = list(scripts)
        self.otherwise = otherwise
        """What is sent when the scripts are at their end."""
        self.requests = []
        self.connections = 0
        self.left = threading.Event()
        """The other side closed a connection while its answer was under way."""

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(LONGEST_S)

    def _run(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.settimeout(LONGEST_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, suppress(OSError):
            while (request := read_message(connection)) is not None:
                self.requests.append(request)
                script = self.scripts.pop(0) if self.scripts else self.otherwise
                for step in script if isinstance(script, list) else [script]:
                    if step is KEEP:
                        break
                    step(self, connection) if callable(step) else connection.sendall(step)
                else:
                    return


KEEP = object()


def reset(upstream, connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def until_left(upstream, connection):
    """Send nothing more; notice when the other side leaves."""
    while connection.recv(65536):
        pass
    upstream.left.set()


def read_message(connection):
    """One request or answer, head and body; None where the connection ended before."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    headers = [(n.lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines)]
    named = dict(headers)
    if "content-length" in named:
        while len(body) < int(named["content-length"]):
            piece = connection.recv(65536)
            if not piece:
                break
            body += piece
    elif named.get("transfer-encoding") == "chunked":
        while not body.endswith(CHUNK_END):
            piece = connection.recv(65536)
            if not piece:
                break
            body += piece
    return Message(first, headers, body)


class Message:
    def __init__(self, first, headers, body):
        self.first = first
        self.headers = headers
        self.named = dict(headers)
        self.body = body

    @property
    def status(self):
        return int(self.first.split()[1])

    @property
    def unchunked(self):
        """The body without the frames of the transfer."""
        out, rest = b"", self.body
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            out += rest[: int(size, 16)]
            rest = rest[int(size, 16) + 2 :]
        return out


@contextmanager
def connected(url):
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), LONGEST_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def request(body=b"", path="/v1/messages", method="POST", **headers):
    more = {"host": "127.0.0.1", "x_api_key": "sk-ant-key", **headers}
    if body and "transfer_encoding" not in more:
        more.setdefault("content_length", len(body))
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in more.items())
    return f"{method} {path} HTTP/1.1\r\n{named}\r\n".encode() + body


def exchange(url, data):
    """Send bytes, and read one answer."""
    with connected(url) as connection:
        connection.sendall(data)
        return read_message(connection)


def everything(url, data):
    """Send bytes, and read until the other side closes."""
    with connected(url) as connection:
        connection.sendall(data)
        out = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                out += piece
        return out


def settled(gateway):
    """Wait until nothing is under way: a client has its answer a moment before it is counted."""
    end = time.monotonic() + LONGEST_S
    while gateway.counters.sum("in_flight"):
        assert time.monotonic() < end
        threading.Event().wait(0.002)
    return gateway.counters
