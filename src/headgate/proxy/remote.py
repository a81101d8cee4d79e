"""A server over streamable HTTP, through the MCP SDK's transport.

The transport keeps the connection: sessions, event streams, resuming. What a client's SDK would add
to each request is added here: the headers that repeat what the message says.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterable, Mapping
from urllib.parse import urlsplit

import httpx2
import mcp_types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage

from headgate.mcp.listing import known_tools
from headgate.mcp.wire import encoded, loaded_object
from headgate.proxy.message import (
    INVALID_REQUEST,
    MOST_BYTES,
    SERVER_GONE,
    Message,
    Unreadable,
    message_of,
    refusal,
)
from headgate.proxy.opening import VERSION_KEY

log = logging.getLogger("headgate.mcp")

CONNECT_S = 30.0
"""To connect and to send; how long an answer takes is the client's to judge."""

REFUSING = (429, 503)

ODD = "this is no message of the protocol, and over HTTP it cannot be passed on"


class RemoteLink:
    """One connection to a server over HTTP."""

    def __init__(self, url: str, headers: tuple[tuple[str, str], ...]) -> None:
        self._url = url
        self._headers = headers
        self._stamp = Stamp()
        self._inbox: asyncio.Queue[Message | None] = asyncio.Queue()
        self._outbox: asyncio.Queue[SessionMessage | None] = asyncio.Queue()
        self._running: asyncio.Task[None] | None = None
        self.ending = "closed the connection"

    @staticmethod
    async def open(url: str, headers: tuple[tuple[str, str], ...]) -> RemoteLink:
        """A connection; nothing is sent before the first message."""
        link = RemoteLink(url, headers)
        link._running = asyncio.create_task(link._run())
        return link

    async def receive(self) -> Message | None:
        """The next message of the server."""
        message = await self._inbox.get()
        if message is not None:
            self._stamp.learn(message)
        return message

    async def send(self, message: Message) -> None:
        """Send a message, as a request of its own."""
        if self._running is None or self._running.done():
            return
        headers = self._stamp.headers(message)
        try:
            read = mcp_types.jsonrpc_message_adapter.validate_json(message.raw, by_name=False)
        except ValueError:
            if message.is_request:
                await self._inbox.put(refusal(message.id, INVALID_REQUEST, ODD))
            return
        metadata = ClientMessageMetadata(headers=headers) if headers else None
        await self._outbox.put(SessionMessage(read, metadata))

    async def close(self) -> None:
        """End the session with the server."""
        await self._outbox.put(None)

    async def stop(self) -> None:
        """End it, and wait until it is closed."""
        await self.close()
        if self._running is not None:
            await asyncio.wait({self._running})

    async def _run(self) -> None:
        try:
            await self._connected()
        except Exception as error:  # noqa: BLE001  # told by its kind; its words may hold the URL
            self.ending = f"could not be reached: {type(error).__name__}"
            log.warning("%s %s", urlsplit(self._url).hostname, self.ending)
        finally:
            self._inbox.put_nowait(None)

    async def _connected(self) -> None:
        timeout = httpx2.Timeout(CONNECT_S, read=None, pool=None)
        transport = Telling(httpx2.AsyncHTTPTransport())
        async with (
            httpx2.AsyncClient(
                headers=list(self._headers), timeout=timeout, transport=transport
            ) as client,
            streamable_http_client(
                self._url, http_client=client, max_sse_event_size=MOST_BYTES
            ) as (incoming, outgoing),
        ):
            reading = asyncio.create_task(self._read(incoming))
            try:
                while (message := await self._outbox.get()) is not None:
                    await outgoing.send(message)
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, incoming: AsyncIterable[SessionMessage | Exception]) -> None:
        async for item in incoming:
            if isinstance(item, Exception):
                log.warning("a message of the server could not be read: %s", type(item).__name__)
                continue
            raw = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            with contextlib.suppress(Unreadable):
                await self._inbox.put(message_of(raw))


class Stamp:
    """The headers of each request: they repeat what stands in the message, for who is between."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._initialize = b""
        self._lists: set[bytes] = set()
        self._by_tool: dict[str, Mapping[tuple[str, ...], str]] = {}

    def headers(self, message: Message) -> dict[str, str]:
        """The headers that go with a message."""
        if message.method == "initialize":
            self._initialize, self._version = message.id, None
            return {}
        if message.method == "tools/list":
            self._lists.add(message.id)
        params = loaded_object(message.params) if VERSION_KEY.encode() in message.params else {}
        meta = params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: message.method}
        name = params.get(NAME_BEARING_METHODS.get(message.method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            arguments = params.get("arguments")
            if message.method == "tools/call" and isinstance(arguments, dict):
                headers |= mcp_param_headers(self._by_tool.get(name, {}), arguments)
        return headers

    def learn(self, message: Message) -> None:
        """Note what later headers depend on: the version agreed on, the tools' arguments."""
        if self._initialize and message.id == self._initialize:
            self._initialize = b""
            version = loaded_object(message.result).get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        if message.id in self._lists:
            self._lists.discard(message.id)
            for tool in known_tools(message.result):
                schema = loaded_object(tool.raw).get("inputSchema")
                if find_invalid_x_mcp_header(schema) is None:
                    self._by_tool[tool.name] = x_mcp_header_map(schema)


class Telling(httpx2.AsyncBaseTransport):
    """A transport that makes an error of the connection, or a refusal, an answer to its request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; what fails is told as JSON-RPC, with what the server said of it."""
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if request.method != "POST":
                raise
            words = f"{request.url.host} could not be reached: {type(error).__name__}"
            return _told(502, refusal(b"", SERVER_GONE, words).raw)
        if request.method != "POST" or response.status_code not in REFUSING:
            return response
        await response.aread()
        await response.aclose()
        said = {
            "code": SERVER_GONE,
            "message": f"{response.status_code} {response.reason_phrase}".strip(),
            "data": {
                "status": response.status_code,
                "headers": {
                    name: value
                    for name, value in response.headers.items()
                    if name.lower().startswith(("retry-after", "x-ratelimit", "ratelimit"))
                },
            },
        }
        raw = b'{"jsonrpc":"2.0","id":null,"error":%b}' % encoded(said)
        return _told(response.status_code, raw)

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()


def _told(status: int, raw: bytes) -> httpx2.Response:
    return httpx2.Response(status, headers={"content-type": "application/json"}, content=raw)
