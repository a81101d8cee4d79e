"""Real clients against a real server that has had enough of them."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import aiohttp
import anthropic
import httpx
import openai
import pytest
import requests

from headgate import Call, Registry

BODY = json.dumps({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}})


class Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # as the server calls it
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(429)
        self.send_header("Retry-After", "7")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY.encode())

    do_POST = do_GET  # noqa: N815  # as the server calls it

    def log_message(self, *words: object) -> None: ...


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


TOOLS = Registry()


@TOOLS.tool
def by_httpx(url: str) -> str:
    return httpx.get(f"{url}/?api_key=k1", trust_env=False).raise_for_status().text


@TOOLS.tool
async def by_httpx_async(url: str) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"{url}/?api_key=k1")).raise_for_status().text


@TOOLS.tool
def by_requests(url: str) -> str:
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(f"{url}/?api_key=k1", timeout=5)
        answer.raise_for_status()
        return answer.text


@TOOLS.tool
async def by_aiohttp(url: str) -> str:
    async with (
        aiohttp.ClientSession(raise_for_status=True) as session,
        session.get(f"{url}/?api_key=k1") as answer,
    ):
        return await answer.text()


@TOOLS.tool
def by_urllib(url: str) -> str:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        return direct.open(f"{url}/?api_key=k1", timeout=5).read()
    except urllib.error.HTTPError as error:
        error.close()
        raise


@TOOLS.tool
def by_anthropic(url: str) -> str:
    with anthropic.Anthropic(api_key="k1", base_url=url, max_retries=0) as client:
        asked = [{"role": "user", "content": "hello"}]
        return client.messages.create(model="m", max_tokens=9, messages=asked)


@TOOLS.tool
async def by_openai(url: str) -> str:
    async with openai.AsyncOpenAI(api_key="k1", base_url=url, max_retries=0) as client:
        return await client.responses.create(model="m", input="hello")


@pytest.mark.proves("R12")
def test_a_refusal_of_any_client_says_how_long_to_wait_and_hides_the_key(run, address):
    calls = [Call(f"call_{name}", name, {"url": address}) for name in TOOLS.tools]

    results = run(TOOLS, calls)
    TOOLS.close()

    told = {result.tool: json.loads(result.text) for result in results}
    assert set(told) == set(TOOLS.tools)
    for tool, limit in told.items():
        assert (limit["type"], limit["retryAfterSeconds"], limit["upstream"]) == (
            "rate_limited",
            7,
            "127.0.0.1",
        ), tool
    assert not [result for result in results if "k1" in result.text]
