import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from headgate.gateway.telemetry import named_service, otel_spans, spans_of
from headgate.testing import Provider
from tests.gateway.conftest import body_of
from tests.gateway.wire import exchange, request, settled
from tests.serving import serving


@pytest.fixture
def exported():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, spans_of(provider)


def test_a_request_is_one_span_with_sizes_and_no_words(gateway_to, exported):
    exporter, spans = exported
    with Provider("Done.") as provider:
        gateway = gateway_to(provider.url, spans=spans)
        exchange(gateway.url, request(body_of(), anthropic_version="2023-06-01"))

    settled(gateway)
    [span] = exporter.get_finished_spans()
    usage = provider.usages[0]
    told = dict(span.attributes)
    assert 30_000 < told.pop("headgate.tokens.kept_out") < 40_000
    assert told == {
        "headgate.dialect": "anthropic",
        "gen_ai.request.model": "claude-opus-4-6",
        "headgate.outcome": "changed",
        "headgate.results.fresh": 1,
        "headgate.fixes": 0,
        "gen_ai.provider.name": "anthropic",
        "http.response.status_code": 200,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": 0,
    }


def test_a_refused_request_leaves_a_span_without_the_reason(gateway_to, exported):
    exporter, spans = exported
    gateway = gateway_to("http://127.0.0.1:1", spans=spans)
    exchange(gateway.url, request(b"{}", "/v1beta/models/g:generateContent?key=AIzaSecret"))

    settled(gateway)
    [span] = exporter.get_finished_spans()
    assert "AIza" not in span.to_json()
    assert span.attributes["gen_ai.request.model"] == "g"


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("OTEL_SERVICE_NAME", "", "headgate-gateway"),
        ("OTEL_SERVICE_NAME", "team-7", "team-7"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=team-8,zone=a", "team-8"),
    ],
)
def test_the_service_is_called_as_the_variables_say(monkeypatch, variable, value, name):
    monkeypatch.setenv(variable, value)

    assert named_service().attributes["service.name"] == name


def test_spans_go_where_the_variables_say(monkeypatch):
    heard = []

    def answer(exchange):
        heard.append((exchange.path, exchange.body))
        exchange.send_response(200)
        exchange.end_headers()

    with serving(answer) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        spans, end = otel_spans()
        with spans(None) as span:
            span.answered("openai", 200)
        end()

    [(path, body)] = heard
    assert path == "/v1/traces"
    assert b"gen_ai.provider.name" in body
    assert b"openai" in body
