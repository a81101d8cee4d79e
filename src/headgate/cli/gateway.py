"""`headgate gateway`: HTTP between an agent and its provider, with nothing to change in either."""

from __future__ import annotations

import logging
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.cli.opening import chosen, session_for
from headgate.cli.output import CommandError, record_line, say, write
from headgate.cli.parser import Parser, from_one, number

if TYPE_CHECKING:
    from headgate.gateway.serving import Serving
    from headgate.gateway.telemetry import Spans

USAGE = """\
[--port 8787] [--upstream NAME=URL] [--preset P] [--passthrough]
                        [--session S] [--files DIR] [--workers N] [--admin-port 8788]
                        [--host H] [--token-file FILE] [--allow-host H] [--allow-origin O]
                        [--max-body MB] [--otel] [--json]"""

SAYS = """\
Stand between an agent and its provider. Point ANTHROPIC_BASE_URL, OPENAI_BASE_URL (with /v1) or
GOOGLE_GEMINI_BASE_URL at it, and nothing else changes: tool results come within their limits, what
was sent once is sent again byte for byte, histories are repaired, and answers stream through as the
provider sends them. What does not fit is kept whole in files that the agent's own tools can open.
Whatever goes wrong here, the request goes out as it came. Stop it with Ctrl-C; answers under way
come to their end.
"""

EXAMPLES = """\
  headgate gateway
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude
  headgate gateway --port 9000 --upstream openai=https://my-company.example/llm --workers 4
  headgate gateway --files ./.headgate          # for agents that may read only their workspace
  curl http://127.0.0.1:8788/stats.json
"""

MOST_PORT = 65_535


def parser() -> Parser:
    """How it is called."""
    made = Parser("gateway", usage=USAGE, says=SAYS, examples=EXAMPLES)
    add = made.add_argument
    add("--port", type=port, default=8787, metavar="N", help="listen here (default: 8787)")
    add(
        "--upstream",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="where anthropic, openai or gemini is; another name is called as /NAME/...",
    )
    add("--preset", metavar="P", help="the limits and budgets of this preset")
    add(
        "--passthrough",
        action="store_true",
        help="touch nothing (also with HEADGATE_PASSTHROUGH=1)",
    )
    made.add_session()
    add("--files", metavar="DIR", help="put the files of originals here, as in a workspace")
    add("--workers", type=from_one, default=1, metavar="N", help="processes (default: 1)")
    add(
        "--admin-port",
        type=port,
        default=8788,
        metavar="N",
        help="/healthz, /metrics and /stats.json are here, on loopback (default: 8788)",
    )
    add("--no-admin", action="store_true", help="have no admin port")
    add("--host", default="127.0.0.1", metavar="H", help="listen on this address")
    add("--token-file", metavar="FILE", help="ask for the token in FILE, made if it is not there")
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="H",
        help="a name by which it may be called, beside those of loopback",
    )
    add(
        "--allow-origin",
        action="append",
        default=[],
        metavar="O",
        help="a web page that may call it",
    )
    add(
        "--max-body",
        type=from_one,
        default=32,
        metavar="MB",
        help="the largest history that is taken (default: 32)",
    )
    add("--otel", action="store_true", help="send a span for each request; see OTEL_... variables")
    made.add_json("say on stdout where it listens, as one object")
    return made


def port(value: str) -> int:
    """A port; 0 is any that is free."""
    found = number(value, 0)
    if found > MOST_PORT:
        raise ArgumentTypeError(f"{value!r}; it takes a port from 0 to {MOST_PORT:,}")
    return found


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    serving = serving_for(asked)
    spans, sent = spans_for(asked)
    try:
        with logged_to_stderr():
            run(serving, asked, words, spans)
    finally:
        sent()
    return 0


def run(serving: Serving, asked: Namespace, words: Sequence[str], spans: Spans) -> None:
    """Serve until a signal comes."""
    from headgate.gateway import launch
    from headgate.gateway.server import listening_on, url_of
    from headgate.gateway.workers import VARIABLE, place_of

    place = os.environ.pop(VARIABLE, "")
    if place:
        launch.as_worker(serving, place_of(place), spans)
        return
    opened = listening_on(serving.host, serving.port)
    admin = None
    if serving.admin_port is not None:
        admin = listening_on("127.0.0.1", serving.admin_port)
    ready = partial(announce, asked, url_of(opened), url_of(admin) if admin else "")
    if asked.workers == 1:
        launch.alone(serving, opened, admin, spans, ready)
        return
    command = (sys.executable, "-m", "headgate", "gateway", *words)
    launch.as_parent(serving, opened, admin, command, asked.workers, ready)


def announce(asked: Namespace, url: str, admin_url: str) -> None:
    """Say where it listens."""
    if asked.json:
        write(record_line({"url": url, "admin_url": admin_url or None}))
        return
    say(f"listening on {url}; ANTHROPIC_BASE_URL={url} OPENAI_BASE_URL={url}/v1")
    if admin_url:
        say(f"healthz, metrics and stats.json are on {admin_url}")
    if asked.token_file:
        say(f"clients show the token in {asked.token_file} as the header x-headgate-token")
    from headgate.loopback import is_loopback

    if not is_loopback(asked.host):
        say("keys travel here without encryption: put something that speaks TLS in front")


def spans_for(asked: Namespace) -> tuple[Spans, Callable[[], None]]:
    """Where spans go, and a call that sends the last ones."""
    from headgate.gateway.telemetry import no_spans, otel_spans

    return otel_spans() if asked.otel else (no_spans, lambda: None)


class Stderr(logging.Handler):
    """Shows failures as messages of ours, line by line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one; that it cannot be shown is no reason to fail."""
        with suppress(OSError, ValueError, AttributeError):
            for line in record.getMessage().splitlines():
                say(line)


@contextmanager
def logged_to_stderr() -> Iterator[None]:
    """Show what the gateway logs, as long as it runs."""
    log, shown = logging.getLogger("headgate.gateway"), Stderr()
    log.addHandler(shown)
    try:
        yield
    finally:
        log.removeHandler(shown)


def serving_for(asked: Namespace) -> Serving:
    """What the flags ask for."""
    need_extra()
    from headgate.gateway.entry import Entry
    from headgate.gateway.serving import Serving
    from headgate.gateway.token_file import token_in
    from headgate.gateway.upstreams import upstream_of, with_named
    from headgate.loopback import LOCAL_NAMES, is_loopback

    token = token_in(Path(asked.token_file)) if asked.token_file else ""
    hosts = LOCAL_NAMES | {host.lower() for host in asked.allow_host}
    if is_loopback(asked.host):
        hosts |= {asked.host.lower()}
    return Serving(
        policy=chosen(asked.preset),
        upstreams=with_named([upstream_of(text) for text in asked.upstream]),
        host=asked.host,
        port=asked.port,
        admin_port=None if asked.no_admin else asked.admin_port,
        session=session_for(asked),
        files=Path(asked.files).absolute() if asked.files else None,
        entry=Entry(hosts, frozenset(origin.lower() for origin in asked.allow_origin), token),
        passthrough=asked.passthrough or os.environ.get("HEADGATE_PASSTHROUGH") == "1",
        most_body_bytes=asked.max_body * 1024 * 1024,
    )


def need_extra() -> None:
    """Say what to install where it is not there."""
    try:
        for package in ("aiohttp", "httptools", "uvicorn", "uvloop"):
            import_module(package)
    except ImportError as error:
        raise CommandError("needs the 'gateway' extra: pip install 'headgate[gateway]'") from error
