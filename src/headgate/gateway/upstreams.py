"""Which provider a request is for: a fixed map, so that no client chooses where its keys go.

`/NAME/…` asks for an upstream by its name. Without a name, the path and the kind of key say it, as
the providers' own clients send them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from headgate.errors import PolicyError

NAME = re.compile(r"(?!v\d|token$)[a-z0-9][a-z0-9_-]{0,31}")
"""Of an upstream: it stands first in a path, where versions and tokens may stand too."""

VERSION = re.compile(r"/v\d[a-z0-9]*")

DOTS = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$)|\\|%5c|%2f", re.IGNORECASE)
"""Would leave the folder that an upstream's URL names, on some server or other."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A provider's address, fixed when the gateway starts."""

    name: str
    url: str
    """Without a slash at its end."""
    is_named: bool = True
    """Whether the operator wrote it; only then may its name lead into a private network."""

    def target(self, path: str, query: str) -> str:
        """Where a path is on this upstream, escaped as the client wrote it."""
        base = urlsplit(self.url).path
        version = base[base.rfind("/") :] if base else ""
        # Whoever writes https://host/v1 means what his client calls /v1.
        if VERSION.fullmatch(version) and (path + "/").startswith(version + "/"):
            path = path[len(version) :]
        return self.url + path + (f"?{query}" if query else "")


DEFAULTS = (
    Upstream("anthropic", "https://api.anthropic.com", is_named=False),
    Upstream("openai", "https://api.openai.com", is_named=False),
    Upstream("gemini", "https://generativelanguage.googleapis.com", is_named=False),
)


def upstream_of(text: str) -> Upstream:
    """Read `NAME=URL`."""
    name, equals, url = text.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise PolicyError(f"upstream {text!r}; it takes NAME=URL, as in openai=https://host")
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_http = is_http and (parts.port is None or parts.port > 0)
    except ValueError:
        is_http = False
    if not is_http or parts.query or parts.fragment or parts.username or parts.password:
        raise PolicyError(f"upstream {name!r}: it takes http(s)://HOST[:PORT][/PATH], no more")
    return Upstream(name, url.rstrip("/"))


def with_named(named: Sequence[Upstream]) -> tuple[Upstream, ...]:
    """The upstreams that are known, those that the operator named in the place of ours."""
    return tuple({one.name: one for one in (*DEFAULTS, *named)}.values())


def upstream_for(
    path: str, headers: Mapping[bytes, bytes], upstreams: Sequence[Upstream]
) -> tuple[Upstream, str] | None:
    """The upstream of a request, and the path there; None where nothing says which."""
    by_name = {one.name: one for one in upstreams}
    first, slash, rest = path[1:].partition("/")
    if first in by_name:
        return by_name[first], slash + rest
    meant = by_name.get(_meant(path, headers))
    return (meant, path) if meant else None


def leaves_its_folder(path: str) -> bool:
    """Whether a path has steps that a server may take upwards."""
    return not path.startswith("/") or DOTS.search(path) is not None


def _meant(path: str, headers: Mapping[bytes, bytes]) -> str:
    if b"anthropic-version" in headers or re.match(r"/v1/(?:messages|complete)(?:/|$)", path):
        return "anthropic"
    if b"x-goog-api-key" in headers or re.match(r"(?:/upload)?/v1(?:alpha|beta)\d*/", path):
        return "gemini"
    if re.match(r"/v1/models/[^/:]+:\w+$", path):
        return "gemini"
    if b"x-api-key" in headers:
        return "anthropic"
    if re.match(r"/(?:v1/|chat/completions$|responses(?:/|$))", path):
        return "openai"
    return ""
