"""One exchange with an upstream: the answer passes as it comes, and is only looked at."""

from __future__ import annotations

from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass

import aiohttp

from headgate.gateway.asgi import Send
from headgate.gateway.counters import Counters
from headgate.gateway.headers import Headers, returned
from headgate.gateway.refusals import Refusal
from headgate.gateway.reports import Report
from headgate.gateway.telling import Telling
from headgate.gateway.upstream_client import UpstreamClient
from headgate.gateway.upstreams import Upstream

READABLE_STATUS = 200

STATUSES = range(200, 600)
"""Those that end an exchange; another one cannot be passed on."""


@dataclass(frozen=True, slots=True)
class Outbound:
    """A request as it goes out."""

    upstream: Upstream
    method: str
    target: str
    headers: Headers
    body: bytes | AsyncIterable[bytes] | None
    is_read: bool
    """Whether a usage report is looked for in the answer."""


@dataclass(frozen=True, slots=True)
class Answered:
    """How an exchange ended."""

    status: int
    usage: Mapping[str, object] | None


class Exchange:
    """Asks upstreams and passes their answers on."""

    def __init__(self, client: UpstreamClient, counters: Counters, tell: Telling) -> None:
        self._client = client
        self._counters = counters
        self._tell = tell

    async def __call__(self, outbound: Outbound, send: Send) -> Answered:
        """Send a request and pass its answer on; raises `Refusal` where there is none."""
        response = await self._asked(outbound)
        try:
            self._check_status(response.status, outbound.upstream)
            self._counters.add("answers", _status(response.status))
            headers = returned(response.raw_headers)
            await send(
                {"type": "http.response.start", "status": response.status, "headers": headers}
            )
            report = self._report(response, outbound.is_read)
            try:
                async for chunk in response.content.iter_any():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    self._look(report, chunk)
            except (aiohttp.ClientError, ConnectionError, TimeoutError):
                # Without its last chunk the client's connection closes: it sees what we saw.
                self._counters.add("broken", "upstream")
            else:
                await send({"type": "http.response.body", "body": b""})
            return Answered(response.status, report.usage() if report else None)
        finally:
            response.close()

    async def _asked(self, outbound: Outbound) -> aiohttp.ClientResponse:
        upstream = outbound.upstream
        try:
            return await self._client.ask(
                upstream, outbound.method, outbound.target, outbound.headers, outbound.body
            )
        except TimeoutError:
            self._counters.add("broken", "timeout")
            said = f"upstream {upstream.name!r} did not answer in time"
            raise Refusal(504, "", said) from None
        except (aiohttp.ClientError, OSError) as error:
            self._counters.add("broken", "unreachable")
            said = f"upstream {upstream.name!r} cannot be reached: {type(error).__name__}"
            raise Refusal(502, "", said) from None

    def _check_status(self, status: int, upstream: Upstream) -> None:
        if status not in STATUSES:
            self._counters.add("broken", "upstream")
            raise Refusal(502, "", f"upstream {upstream.name!r} answered with status {status}")

    def _report(self, response: aiohttp.ClientResponse, is_read: bool) -> Report | None:
        if not is_read or response.status != READABLE_STATUS:
            return None
        named = response.headers
        return Report(named.get("content-type", ""), named.get("content-encoding", ""))

    def _look(self, report: Report | None, chunk: bytes) -> None:
        if report is None:
            return
        try:
            report.feed(chunk)
        except Exception as error:  # noqa: BLE001  # the stream goes on, read or not
            self._tell("reading usage", error)


def _status(status: int) -> str:
    return "429" if status == 429 else f"{status // 100}xx"
