"""The admin port: is it well, and what did it do. It only answers, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from headgate.gateway.asgi import Receive, Scope, Send, answer
from headgate.gateway.counters import METRICS, Counters, as_json, as_metrics
from headgate.gateway.entry import Entry
from headgate.gateway.refusals import Refusal
from headgate.version import __version__

if TYPE_CHECKING:
    from headgate.gateway.serving import Serving

METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


class Admin:
    """The admin port as an ASGI application."""

    def __init__(
        self, serving: Serving, counters: Counters, alive: Callable[[], tuple[int, int]]
    ) -> None:
        """`alive` says how many workers there are, and how many there should be."""
        self._serving = serving
        self._counters = counters
        self._alive = alive
        # A token opens the gateway; the admin port opens to this machine alone, without one.
        self._entry = Entry(origins=frozenset())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        if scope["type"] != "http":
            return
        only_head = scope["method"] == "HEAD"
        status, content_type, body = self._page(scope)
        headers: tuple[tuple[bytes, bytes], ...] = ((b"cache-control", b"no-store"),)
        if status == 405:
            headers += ((b"allow", b"GET, HEAD"),)
        await answer(
            send, status, body, content_type=content_type, headers=headers, only_head=only_head
        )

    def _page(self, scope: Scope) -> tuple[int, bytes, bytes]:
        path = scope["raw_path"].decode("latin-1")
        try:
            self._entry.path_inside(path, dict(reversed(scope["headers"])))
        except Refusal as refusal:
            return refusal.status, b"application/json", _error(refusal.message)
        pages = {"/healthz": self._health, "/stats.json": self._stats, "/metrics": self._metrics}
        pages["/openapi.json"] = _described
        if path not in pages:
            return 404, b"application/json", _error(f"there is {', '.join(pages)}")
        if scope["method"] not in ("GET", "HEAD"):
            return 405, b"application/json", _error("it only answers GET and HEAD")
        return pages[path]()

    def _health(self) -> tuple[int, bytes, bytes]:
        alive, wanted = self._alive()
        is_well = alive > 0
        body = {
            "status": "ok" if is_well else "down",
            "version": __version__,
            "workers": {"alive": alive, "wanted": wanted},
            "passthrough": self._serving.passthrough,
        }
        return 200 if is_well else 503, b"application/json", msgspec.json.encode(body)

    def _stats(self) -> tuple[int, bytes, bytes]:
        return 200, b"application/json", msgspec.json.encode(as_json(self._counters))

    def _metrics(self) -> tuple[int, bytes, bytes]:
        return 200, METRICS_TYPE, as_metrics(self._counters).encode()


def _error(message: str) -> bytes:
    return msgspec.json.encode({"error": message})


def _described() -> tuple[int, bytes, bytes]:
    return 200, b"application/json", msgspec.json.encode(description())


def description() -> dict[str, object]:
    """The admin port in OpenAPI's words."""
    whole = {"type": "integer", "minimum": 0}
    health = _object(
        status={"enum": ["ok", "down"]},
        version={"type": "string"},
        workers=_object(alive=whole, wanted=whole),
        passthrough={"type": "boolean"},
    )
    pages = {
        "/healthz": _operation("Whether it answers.", _json(health), {"503": _json(health)}),
        "/stats.json": _operation("What it did since it started.", _json(_stats_schema()), {}),
        "/metrics": _operation(
            "The same for Prometheus.", {"text/plain": {"schema": {"type": "string"}}}, {}
        ),
        "/openapi.json": _operation("This page.", _json({"type": "object"}), {}),
    }
    info = {"title": "headgate gateway, admin port", "version": __version__}
    return {"openapi": "3.1.0", "info": info, "paths": pages}


def _stats_schema() -> dict[str, object]:
    whole = {"type": "integer", "minimum": 0}
    buckets = {"type": "object", "additionalProperties": whole}
    histogram = _object(count=whole, sum={"type": "number", "minimum": 0}, buckets=buckets)
    schemas: dict[str, object] = {}
    for metric in METRICS:
        if metric.kind == "histogram":
            schemas[metric.name] = histogram
        else:
            labelled = _object(**dict.fromkeys(metric.values, whole)) if metric.label else whole
            schemas[metric.name] = labelled
    return _object(**schemas)


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _json(schema: dict[str, object]) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


def _operation(
    about: str, content: dict[str, object], others: dict[str, dict[str, object]]
) -> dict[str, object]:
    error = _json(_object(error={"type": "string"}))
    answers = {"200": content, **others, "403": error, "421": error}
    described = {
        status: {"description": about if status == "200" else "It is not.", "content": content}
        for status, content in answers.items()
    }
    return {"get": {"summary": about, "responses": described}}
