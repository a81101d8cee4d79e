import gzip
import json

import pytest

from headgate.gateway import reports
from headgate.gateway.reports import Report

PACKED = gzip.compress(b'{"usage":{"input_tokens":5}}', mtime=0)


def events(*said):
    return "".join(f"event: x\ndata: {json.dumps(one)}\n\n" for one in said).encode()


def usage_in(body, content_type="text/event-stream; charset=utf-8", encoding=""):
    report = Report(content_type, encoding)
    for at in range(0, len(body), 7):
        report.feed(body[at : at + 7])
    return report.usage()


def test_anthropic_reports_at_the_start_and_again_at_the_end():
    stream = events(
        {"type": "message_start", "message": {"usage": {"input_tokens": 12, "output_tokens": 1}}},
        {"type": "content_block_delta", "delta": {"text": 'what is "usage" here'}},
        {"type": "message_delta", "usage": {"output_tokens": 40, "input_tokens": None}},
    )

    assert usage_in(stream) == {"input_tokens": 12, "output_tokens": 40}


def test_chat_reports_in_its_last_chunk():
    stream = events(
        {"choices": [{"delta": {"content": "hi"}}], "usage": None},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
    )

    assert usage_in(stream + b"data: [DONE]\n\n") == {"prompt_tokens": 9, "completion_tokens": 2}


def test_responses_report_inside_the_completed_response():
    stream = events(
        {"type": "response.created", "response": {"usage": None}},
        {"type": "response.completed", "response": {"usage": {"input_tokens": 3}, "output": []}},
    )

    assert usage_in(stream) == {"input_tokens": 3}


def test_gemini_reports_in_each_chunk_and_the_last_stands():
    stream = events(
        {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 1}},
        {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 5}},
    )

    assert usage_in(stream) == {"promptTokenCount": 7, "candidatesTokenCount": 5}


def test_gemini_without_events_streams_one_array():
    body = json.dumps([{"usageMetadata": {"promptTokenCount": n}} for n in (1, 2)]).encode()

    assert usage_in(body, "application/json") == {"promptTokenCount": 2}


def test_an_answer_in_one_piece_has_its_report_inside():
    body = json.dumps({"id": "msg", "usage": {"input_tokens": 5}}).encode()

    assert usage_in(body, "application/json") == {"input_tokens": 5}
    assert usage_in(gzip.compress(body), "application/json", "gzip") == {"input_tokens": 5}


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"<html>busy</html>", "text/html", ""),
        (b"not json at all", "application/json", ""),
        (b'{"usage": 7}', "application/json", ""),
        (b"[1, {", "application/json", ""),
        (b'data: {"usage": \n\n', "text/event-stream", ""),
        (b'data: {"usage": "\xff"}\n\n', "text/event-stream", ""),
        (PACKED[:-12], "application/json", "gzip"),
        (b"no gzip", "application/json", "gzip"),
        (b"anything", "application/json", "rot13"),
        (b"[" * 100_000, "application/json", ""),
        (b'data: {"usage":' + b"[" * 100_000 + b"\n\n", "text/event-stream", ""),
    ],
)
def test_what_cannot_be_read_is_not_there(body, content_type, encoding):
    assert usage_in(body, content_type, encoding) is None


def test_a_long_answer_is_not_held(monkeypatch):
    monkeypatch.setattr(reports, "MOST_ANSWER_BYTES", 100)
    report = Report("application/json", "")
    for _ in range(50):
        report.feed(b'{"usage":{"input_tokens":5},')
        assert len(report._held) <= 100
    assert report.usage() is None
