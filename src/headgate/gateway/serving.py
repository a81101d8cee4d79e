"""All rules and numbers of one gateway, fixed when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from headgate.errors import PolicyError
from headgate.gateway.entry import Entry
from headgate.gateway.upstreams import DEFAULTS, Upstream
from headgate.loopback import LEAST_TOKEN_CHARS, LOCAL_NAMES, is_loopback
from headgate.policy import Policy

MOST_BODY_BYTES = 32 * 1024 * 1024
"""What the strictest provider takes; held in memory while it is prepared."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What a gateway does, for whom, and within which bounds."""

    policy: Policy = field(default_factory=Policy)
    upstreams: tuple[Upstream, ...] = DEFAULTS
    host: str = "127.0.0.1"
    port: int = 8787
    """0 takes any that is free."""
    admin_port: int | None = 8788
    """None: there is no admin port."""
    session: str = "default"
    state: Path | None = None
    files: Path | None = None
    """Where the plain files of originals go, for tools that may read only there."""
    entry: Entry = field(default_factory=Entry)
    passthrough: bool = False
    """Whether every request passes untouched: the switch for when something is wrong."""
    most_body_bytes: int = MOST_BODY_BYTES
    prepare_timeout_s: float = 20.0
    """After this the request goes out as it came."""
    connect_timeout_s: float = 10.0
    silence_timeout_s: float = 900.0
    """How long an upstream may send nothing; providers send pings, and think for minutes."""
    shutdown_timeout_s: float = 30.0
    """How long answers under way may take to come to their end."""

    def __post_init__(self) -> None:
        token = self.entry.token
        if not is_loopback(self.host) and not token:
            raise PolicyError(
                f"host {self.host!r} can be reached by others; give a token, see --token-file"
            )
        if token and len(token) < LEAST_TOKEN_CHARS:
            raise PolicyError(
                f"the token has {len(token)} characters; it takes {LEAST_TOKEN_CHARS} or more"
            )
        for upstream in self.upstreams:
            parts = urlsplit(upstream.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            ours = (self.host.lower(), *LOCAL_NAMES, "0.0.0.0", "::")
            if port in (self.port, self.admin_port) and parts.hostname in ours:
                raise PolicyError(f"upstream {upstream.name!r} is {upstream.url}: this gateway")

    def for_files(self) -> Policy:
        """The policy for a model that has its own file tools, and ours only if its client says so.

        What a process keeps in memory nobody could ask for.
        """
        marker = self.policy.marker
        if marker.reader == "tool":
            marker = replace(marker, reader="file")
        return self.policy.replace(marker=marker, memory_bytes=0)
