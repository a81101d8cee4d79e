import threading
import time

import pytest

from headgate.endpoint import MOST_ANSWER_BYTES, UrlEndpoint
from headgate.errors import PolicyError
from tests.serving import serving

pytestmark = pytest.mark.proves("A5")


def send(request, status, body, **headers):
    request.send_response(status)
    for name, value in {"content-length": len(body), **headers}.items():
        request.send_header(name, str(value))
    request.end_headers()
    request.wfile.write(body)


def test_it_posts_json_with_the_headers_it_was_given():
    seen = []

    def answer(request):
        seen.append((request.path, request.body, request.headers["x-api-key"]))
        send(request, 200, b'{"input_tokens": 7}')

    with serving(answer) as url:
        assert UrlEndpoint(url + "/", {"x-api-key": "k"})("/v1/count", b"{}") == (
            200,
            b'{"input_tokens": 7}',
        )

    assert seen == [("/v1/count", b"{}", "k")]


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_a_refusal_is_an_answer(status):
    with serving(lambda request: send(request, status, b"no")) as url:
        assert UrlEndpoint(url)("/", b"{}") == (status, b"no")


def test_a_redirect_is_not_followed():
    asked = []

    def answer(request):
        asked.append(request.path)
        send(request, 302, b"", location="/elsewhere")

    with serving(answer) as url:
        assert UrlEndpoint(url, {"x-api-key": "secret"})("/v1", b"{}") == (302, b"")

    assert asked == ["/v1"]


def test_an_endless_answer_is_read_up_to_a_bound():
    def answer(request):
        request.send_response(200)
        request.end_headers()
        piece = bytes(64 * 1024)
        try:
            for _ in range(64):
                request.wfile.write(piece)
        except OSError:
            pass

    with serving(answer) as url:
        _, body = UrlEndpoint(url)("/", b"{}")

    assert len(body) == MOST_ANSWER_BYTES


def test_nobody_there_is_an_os_error():
    with serving(lambda request: None) as url:
        pass

    with pytest.raises(OSError):
        UrlEndpoint(url)("/", b"{}")


def test_an_answer_that_breaks_off_is_an_os_error():
    def answer(request):
        request.send_response(200)
        request.send_header("transfer-encoding", "chunked")
        request.end_headers()
        request.wfile.write(b"ff\r\nabc")

    with serving(answer) as url, pytest.raises(OSError):
        UrlEndpoint(url)("/", b"{}")


def test_an_answer_that_comes_too_slowly_is_an_os_error():
    stop = threading.Event()

    def answer(request):
        request.send_response(200)
        request.end_headers()
        until = time.monotonic() + 5
        try:
            while time.monotonic() < until and not stop.wait(0.02):
                request.wfile.write(b" ")
                request.wfile.flush()
        except OSError:
            pass

    with serving(answer) as url:
        with pytest.raises(OSError):
            UrlEndpoint(url, timeout_s=0.2)("/", b"{}")
        stop.set()


@pytest.mark.parametrize("url", ["", "api.example.com", "file:///etc/passwd", "http://"])
def test_only_http_urls_are_taken(url):
    with pytest.raises(PolicyError, match="base_url is"):
        UrlEndpoint(url)


def test_a_timeout_is_above_zero():
    with pytest.raises(PolicyError, match="timeout_s is 0"):
        UrlEndpoint("https://api.example.com", timeout_s=0)


def test_the_key_is_never_shown():
    assert "secret" not in repr(UrlEndpoint("https://api.example.com", {"x-api-key": "secret"}))
