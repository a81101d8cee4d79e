"""A way to post JSON to a provider with nothing but the standard library."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.parse import urlsplit

from headgate.errors import PolicyError
from headgate.loopback import is_loopback

MOST_ANSWER_BYTES: Final = 1024 * 1024
"""A count is a line; what is longer is not read."""

PIECE_BYTES: Final = 64 * 1024


class _StaysHere(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: following it would carry the key to another host."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class UrlEndpoint:
    """Posts to paths below a base URL; the headers, which hold a key, are never shown."""

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 10.0
    """For the whole answer, however slowly it comes."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PolicyError(f"base_url is {self.base_url!r}; it is like https://api.example.com")
        if not self.timeout_s > 0:
            raise PolicyError(f"timeout_s is {self.timeout_s}; it is a number above 0")

    def __call__(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer; an `OSError` where there is none in time."""
        until = time.monotonic() + self.timeout_s
        request = urllib.request.Request(
            self.base_url.rstrip("/") + path,
            body,
            {"content-type": "application/json", **self.headers},
        )
        try:
            with self._opener().open(request, timeout=self.timeout_s) as response:
                return response.status, _read(response, until)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _read(error, until)
        except HTTPException as error:
            raise OSError(f"{self.base_url}: {type(error).__name__} in the answer") from error

    def _opener(self) -> urllib.request.OpenerDirector:
        if is_loopback(urlsplit(self.base_url).hostname or ""):
            return urllib.request.build_opener(_StaysHere, urllib.request.ProxyHandler({}))
        return urllib.request.build_opener(_StaysHere)


def _read(response: HTTPResponse | urllib.error.HTTPError, until: float) -> bytes:
    pieces: list[bytes] = []
    left = MOST_ANSWER_BYTES
    while left > 0 and (piece := response.read1(min(left, PIECE_BYTES))):
        pieces.append(piece)
        left -= len(piece)
        if time.monotonic() > until:
            raise TimeoutError("the answer did not end in time")
    return b"".join(pieces)
