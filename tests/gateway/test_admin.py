"""The admin port, against its own description, with whatever a client may send."""

import json
import urllib.request

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.gateway import Running, Serving
from headgate.gateway.admin import description
from tests.gateway.wire import connected, everything, read_message

PATHS = ["/healthz", "/stats.json", "/metrics", "/openapi.json"]


@pytest.fixture(scope="module")
def admin(tmp_path_factory):
    state = tmp_path_factory.mktemp("admin") / "state"
    with Running(Serving(port=0, admin_port=0, state=state, passthrough=True)) as gateway:
        yield gateway


def got(url):
    with urllib.request.urlopen(url) as answer:
        return answer.headers["content-type"], answer.read()


def test_it_says_whether_it_is_well(admin):
    kind, body = got(admin.admin_url + "/healthz")

    assert kind == "application/json"
    told = json.loads(body)
    assert told.pop("version")
    assert told == {"status": "ok", "workers": {"alive": 1, "wanted": 1}, "passthrough": True}


def test_it_shows_its_numbers_for_programs_and_for_prometheus(admin):
    before = json.loads(got(admin.admin_url + "/stats.json")[1])["requests"]["other"]
    got(admin.url + "/")
    after = json.loads(got(admin.admin_url + "/stats.json")[1])["requests"]["other"]
    kind, text = got(admin.admin_url + "/metrics")

    assert after == before + 1
    assert kind.startswith("text/plain; version=0.0.4")
    assert f'requests_total{{dialect="other"}} {after}\n' in text.decode()


def test_the_gateway_itself_has_no_admin_pages(admin):
    for path in PATHS:
        asked = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
        assert everything(admin.url, asked).startswith(b"HTTP/1.1 404 ")


def test_it_is_told_apart_by_its_host_and_refuses_pages(admin):
    head = b"GET /stats.json HTTP/1.1\r\nconnection: close\r\n"

    assert b" 421 " in everything(admin.admin_url, head + b"host: evil.example\r\n\r\n")[:20]
    page = b"host: localhost\r\norigin: https://evil.example\r\n\r\n"
    assert b" 403 " in everything(admin.admin_url, head + page)[:20]


def test_head_has_no_body(admin):
    asked = b"HEAD /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"

    assert everything(admin.admin_url, asked).endswith(b"\r\n\r\n")


NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12)
VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30)
OURS = {"host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "origin"}


@settings(max_examples=settings.default.max_examples // 2)
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
    path=st.one_of(
        st.sampled_from(PATHS), st.text("/abz.%20?=&;", max_size=20).map(lambda text: "/" + text)
    ),
    query=st.text("ab=&%", max_size=10),
    headers=st.dictionaries(NAMES.filter(lambda name: name not in OURS), VALUES, max_size=4),
    body=st.binary(max_size=100),
)
def test_every_answer_is_one_that_is_described(admin, method, path, query, headers, body):
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{method} {path}?{query} HTTP/1.1\r\nhost: localhost\r\n{lines}"
    raw = f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
    with connected(admin.admin_url) as connection:
        connection.sendall(raw)
        answer = read_message(connection)
    at = path.partition("?")[0]

    if at not in PATHS:
        assert answer.status == 404
    elif method not in ("GET", "HEAD"):
        assert (answer.status, answer.named["allow"]) == (405, "GET, HEAD")
    else:
        described = description()["paths"][at]["get"]["responses"][str(answer.status)]["content"]
        kind = answer.named["content-type"].partition(";")[0]
        if method == "GET" and kind == "application/json":
            jsonschema.validate(json.loads(answer.body), described[kind]["schema"])
        assert kind in described


def test_the_description_is_one_that_tools_understand():
    told = description()

    assert told["openapi"] == "3.1.0"
    assert sorted(told["paths"]) == sorted(PATHS)
    for page in told["paths"].values():
        for response in page["get"]["responses"].values():
            for content in response["content"].values():
                jsonschema.Draft202012Validator.check_schema(content["schema"])
