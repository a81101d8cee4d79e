"""The client that asks the providers: raw bytes both ways, nothing added, nothing tried twice."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from multidict import CIMultiDict
from yarl import URL

from headgate.gateway.headers import Headers
from headgate.gateway.serving import Serving
from headgate.gateway.upstreams import Upstream

NOTHING_OF_OURS: Final = ("accept", "accept-encoding", "content-type", "user-agent")
"""What aiohttp would say of itself."""

KEPT_OPEN_S: Final = 15.0
"""Shorter than the providers': a connection that they close at the same moment is a lost request,
since nothing is tried twice."""

HEADER_BYTES: Final = 64 * 1024

PIECE_BYTES: Final = 512 * 1024
"""A long body is written in pieces, so that other streams go on in between."""


class PublicOnly(AbstractResolver):
    """Names that nobody wrote down must not lead into a private network."""

    def __init__(self, trusted: frozenset[str]) -> None:
        self._inner = ThreadedResolver()
        self._trusted = trusted

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host."""
        found = await self._inner.resolve(host, port, family)
        if host in self._trusted:
            return found
        public = [one for one in found if ip_address(one["host"].partition("%")[0]).is_global]
        if not public:
            raise OSError(None, f"{host} leads into a private network; name it with --upstream")
        return public

    async def close(self) -> None:
        """Let go of what resolves."""
        await self._inner.close()


class UpstreamClient:
    """Connections to all upstreams of one worker."""

    def __init__(self, serving: Serving) -> None:
        self._proxies = proxies(serving.upstreams)
        named = [one.url for one in serving.upstreams if one.is_named]
        trusted = [*named, *self._proxies.values()]
        hosts = frozenset(urlsplit(url).hostname or "" for url in trusted)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, resolver=PublicOnly(hosts), keepalive_timeout=KEPT_OPEN_S
            ),
            timeout=aiohttp.ClientTimeout(
                total=None,
                sock_connect=serving.connect_timeout_s,
                sock_read=serving.silence_timeout_s,
            ),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=NOTHING_OF_OURS,
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )
        # A request that may have arrived is the client's to repeat, not ours.
        self._session._retry_connection = False

    async def ask(
        self,
        upstream: Upstream,
        method: str,
        target: str,
        headers: Headers,
        body: bytes | AsyncIterable[bytes] | None,
    ) -> aiohttp.ClientResponse:
        """Send a request; the answer comes back as soon as its head is there."""
        named = CIMultiDict((name.decode("latin-1"), _text(value)) for name, value in headers)
        if isinstance(body, bytes):
            named["content-length"] = str(len(body))
            body = _in_pieces(body) if len(body) > PIECE_BYTES else body
        return await self._session.request(
            method,
            URL(target, encoded=True),
            headers=named,
            data=body,
            allow_redirects=False,
            proxy=self._proxies.get(upstream.name),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def proxies(upstreams: Sequence[Upstream]) -> dict[str, str]:
    """The proxies that the environment names, by the upstreams that are behind them."""
    known = getproxies()
    found: dict[str, str] = {}
    for upstream in upstreams:
        parts = urlsplit(upstream.url)
        proxy = known.get(parts.scheme)
        if proxy and not proxy_bypass(parts.hostname or ""):
            found[upstream.name] = proxy
    return found


def _text(value: bytes) -> str:
    # aiohttp writes headers as UTF-8, so what is UTF-8 comes out as it came in.
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def _in_pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), PIECE_BYTES):
        yield body[start : start + PIECE_BYTES]
