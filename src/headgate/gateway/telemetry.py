"""One OpenTelemetry span for each request, where the operator asks for them.

Where they go is said by OpenTelemetry's own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, …). A span
has sizes and names of models, never a header, a query or anything that was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol, TypeAlias

from headgate.errors import PolicyError
from headgate.gateway.endpoints import Endpoint
from headgate.gateway.preparing import Ready
from headgate.history.usage import usage_of

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource


class Span(Protocol):
    """What is noted of one request."""

    def prepared(self, ready: Ready) -> None:
        """What was done with its body."""
        ...

    def answered(self, upstream: str, status: int) -> None:
        """Who answered, and how."""
        ...

    def reported(self, usage: Mapping[str, object]) -> None:
        """What it cost."""
        ...


class NoSpan:
    """Notes nothing."""

    def prepared(self, ready: Ready) -> None:
        """Note nothing."""

    def answered(self, upstream: str, status: int) -> None:
        """Note nothing."""

    def reported(self, usage: Mapping[str, object]) -> None:
        """Note nothing."""


Spans: TypeAlias = Callable[[Endpoint | None], AbstractContextManager[Span]]

_NO_SPAN = NoSpan()

MODEL_CHARS = 128
"""Of a model's name: a client may write anything there."""


def no_spans(endpoint: Endpoint | None) -> AbstractContextManager[Span]:
    """Nothing is noted."""
    return nullcontext(_NO_SPAN)


class OtelSpan:
    """Notes one request in a span of OpenTelemetry's."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def prepared(self, ready: Ready) -> None:
        """What was done with its body."""
        self._span.set_attribute("headgate.outcome", ready.done)
        if ready.outcome is None:
            return
        if ready.outcome.model:
            self._span.set_attribute("gen_ai.request.model", ready.outcome.model[:MODEL_CHARS])
        states = zip(ready.outcome.verdicts, ready.outcome.states, strict=True)
        fresh = [verdict for verdict, state in states if state == "fresh"]
        kept_out = sum(verdict.before.tokens - verdict.after.tokens for verdict in fresh)
        self._span.set_attribute("headgate.results.fresh", len(fresh))
        self._span.set_attribute("headgate.tokens.kept_out", kept_out)
        self._span.set_attribute("headgate.fixes", len(ready.outcome.fixes))

    def answered(self, upstream: str, status: int) -> None:
        """Who answered, and how."""
        self._span.set_attribute("gen_ai.provider.name", upstream)
        self._span.set_attribute("http.response.status_code", status)

    def reported(self, usage: Mapping[str, object]) -> None:
        """What it cost."""
        told = usage_of(usage)
        if told is not None:
            self._span.set_attribute("gen_ai.usage.input_tokens", told.prompt)
            self._span.set_attribute("gen_ai.usage.output_tokens", told.output_tokens)
            self._span.set_attribute("gen_ai.usage.cache_read.input_tokens", told.cache_read_tokens)


def otel_spans() -> tuple[Spans, Callable[[], None]]:
    """Spans that go where OpenTelemetry's variables say, and a call that sends the last ones."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise PolicyError("needs the 'otel' extra: pip install 'headgate[otel]'") from error
    provider = TracerProvider(resource=named_service())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return spans_of(provider), provider.shutdown


def named_service() -> Resource:
    """Who sends the spans: what OpenTelemetry's variables call it goes before our own name."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    ours = Resource.create({"service.name": "headgate-gateway"})
    return ours.merge(OTELResourceDetector().detect())


def spans_of(provider: trace.TracerProvider) -> Spans:
    """Spans of a provider that is set up already."""
    tracer = provider.get_tracer("headgate.gateway")

    @contextmanager
    def spans(endpoint: Endpoint | None) -> Iterator[Span]:
        # What an exception says may quote the request; its class is enough.
        with tracer.start_as_current_span(
            "headgate.gateway", record_exception=False, set_status_on_exception=False
        ) as span:
            span.set_attribute("headgate.dialect", endpoint.dialect if endpoint else "other")
            if endpoint and endpoint.model:
                span.set_attribute("gen_ai.request.model", endpoint.model[:MODEL_CHARS])
            yield OtelSpan(span)

    return spans
