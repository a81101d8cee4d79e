"""Over HTTP on either side, with the SDK's client, transport and server."""

import asyncio
import contextlib
import json
import socket
import sys

import httpx2
import jsonschema
import pytest
from mcp.client.client import Client

from headgate import Gate, Policy, tokens
from headgate.mcp.toolgate import ToolGate
from headgate.proxy import sessions
from headgate.proxy.door import BadAddress, Door
from headgate.proxy.endpoint import Endpoint, serve_http, server_of
from headgate.proxy.message import message_of, request
from headgate.proxy.opening import Refused
from headgate.proxy.remote import RemoteLink, Stamp, Telling
from headgate.proxy.rules import Rules
from headgate.proxy.upstream import Command, Remote
from tests.proxy import servers

SERVER = Command((sys.executable, servers.__file__))
RULES = Rules("plain")
LONGEST_S = 60


@pytest.fixture
def opener(state):
    def open_gate(of):
        policy = Policy(result=tokens(400))
        return ToolGate(Gate(policy, state=state, session=f"http-{of}"))

    return open_gate


@contextlib.asynccontextmanager
async def offered(opener, upstream=SERVER, token=""):
    """An endpoint on a port of its own; gives its URL."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    endpoint = Endpoint(upstream, opener, RULES, Door("127.0.0.1", port, token))
    server = server_of(endpoint)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await running
        await endpoint.close()
        listening.close()


def run(story):
    return asyncio.run(asyncio.wait_for(story, LONGEST_S))


async def conversation(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    large = await client.call_tool("lines", {"n": 5_000})
    rows = await client.call_tool("rows", {"n": 50_000})
    jsonschema.validate(rows.structured_content, tools["rows"].output_schema)
    small = await client.call_tool("lines", {"n": 2})
    ref = large.meta["headgate/verdict"]["ref"]
    back = await client.call_tool("read_result", {"ref": ref, "lines": "4000"})
    assert list(tools)[-1] == "read_result"
    assert small.structured_content == servers.lines(2)["structuredContent"]
    assert back.content[0].text.startswith("line 4000 of the log\n")


def test_a_session_over_http_before_a_server_on_stdio(opener):
    async def story():
        async with offered(opener) as url, Client(url, mode="legacy") as client:
            await conversation(client)
            crashed = await client.call_tool("crash", {})
            assert "exited with 3 before it answered" in crashed.content[0].text
        async with offered(opener) as url, Client(url, mode="legacy") as client:
            assert (await client.call_tool("lines", {"n": 1})).content[
                0
            ].text == "line 1 of the log"

    run(story())


def test_a_proxy_before_a_proxy_over_http(opener):
    """`--http` before `--url` before `--http`: each adds its tool under a name of its own."""

    async def story():
        async with offered(opener) as url:
            link = await RemoteLink.open(url, ())
            hello = b'{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}'
            hello = hello.replace(b'"clientInfo":{}', b'"clientInfo":{"name":"t","version":"1"}')
            await link.send(request("initialize", hello, b"1"))
            assert (await link.receive()).id == b"1"
            await link.send(request("notifications/initialized"))
            call = b'{"name":"lines","arguments":{"n":5000}}'
            await link.send(request("tools/call", call, b'"two"'))
            answered = await link.receive()
            await link.send(message_of(b'{"jsonrpc":"2.0","id":3,"method":"odd","params":[1]}'))
            odd = await link.receive()
            await link.close()
            assert await link.receive() is None
            assert (odd.id, b"cannot be passed on" in odd.error) == (b"3", True)
            assert answered.id == b'"two"'
            assert b"lines omitted" in answered.result

    run(story())


def test_requests_that_stand_for_themselves(opener, sdk_upstream):
    async def story():
        async with offered(opener, sdk_upstream) as url, Client(url, mode="auto") as client:
            progress = []

            async def noted(done, total, message):
                progress.append(done)

            assert client.protocol_version == "2026-07-28"
            large, small, slow = await asyncio.gather(
                client.call_tool("report", {"rows": 9_000}),
                client.call_tool("report", {"rows": 1}),
                client.call_tool("slow", {}, progress_callback=noted),
            )
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            jsonschema.validate(large.structured_content, tools["report"].output_schema)
            assert small.structured_content == {"rows": [{"id": 0}], "title": "t"}
            assert (slow.content[0].text, progress) == ("done", [1.0, 2.0])
            ref = large.meta["headgate/verdict"]["ref"]
            back = await client.call_tool("read_result", {"ref": ref, "path": "$.rows[8999]"})
            assert back.content[0].text.startswith('{"id":8999}')
            last = await client.call_tool("read_result", {})
            assert "several clients ask" in last.content[0].text
            async with httpx2.AsyncClient() as http:
                await odd_requests(http, url)

    run(story())


async def odd_requests(http, url):
    """What no client of the SDK would send is answered all the same."""
    version = {
        "mcp-protocol-version": "2026-07-28",
        "accept": "application/json, text/event-stream",
    }

    async def status(**options):
        return (await http.post(url, headers=version, **options)).status_code

    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert await status(content=b"{broken") == 400
    assert await status(json=[ping]) == 400
    assert await status(json=ping) == 400
    assert await status(json=ping | {"method": "initialize"}) == 404
    assert await status(json={"jsonrpc": "2.0", "method": "notifications/x"}) == 202
    assert (await http.get(url, headers=version)).status_code == 405
    assert (await http.get(url.replace("/mcp", "/"))).status_code == 404
    assert (await http.post(url, json=ping, headers={"mcp-session-id": "gone"})).status_code == 404
    assert (await http.post(url, json=ping, headers={"host": "evil.example"})).status_code == 421


@pytest.fixture
def sdk_upstream():
    return Command((sys.executable, servers.__file__.replace("servers.py", "sdk_server.py")))


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
BOTH = {"accept": "application/json, text/event-stream"}


async def there(path):
    """Wait until a file is there."""
    async with asyncio.timeout(5):
        while not path.exists():
            await asyncio.sleep(0.02)


@pytest.mark.proves("P24")
@pytest.mark.parametrize("is_refused", [True, False])
def test_a_session_that_ends_takes_its_server_with_it(opener, tmp_path, is_refused):
    ended = tmp_path / "ended"
    command = f"{sys.executable} {servers.__file__}; touch {ended}"

    async def story():
        async with (
            offered(opener, Command(("sh", "-c", command))) as url,
            httpx2.AsyncClient() as http,
        ):
            if is_refused:
                refused = await http.post(url, content=b"{broken", headers=BOTH)
                assert refused.status_code == 400
            else:
                opened = await http.post(url, json=HELLO, headers=BOTH)
                named = {"mcp-session-id": opened.headers["mcp-session-id"]}
                assert not ended.exists()
                assert (await http.delete(url, headers=named)).status_code == 200
            await there(ended)

    run(story())


@pytest.mark.proves("P24")
def test_no_more_sessions_are_open_than_there_may_be(opener, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 1)

    async def story():
        async with offered(opener) as url, httpx2.AsyncClient() as http:
            opened = await http.post(url, json=HELLO, headers=BOTH)
            refused = await http.post(url, json=HELLO, headers=BOTH)
            named = {"mcp-session-id": opened.headers["mcp-session-id"]}
            assert (await http.delete(url, headers=named)).status_code == 200
            again = await http.post(url, json=HELLO, headers=BOTH)
        assert [answer.status_code for answer in (opened, refused, again)] == [200, 503, 200]
        assert refused.json()["error"]["message"] == "Too many open sessions"

    run(story())


@pytest.mark.proves("P24")
def test_no_more_sessions_are_opened_at_once_than_there_may_be(opener, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 2)

    async def story():
        async with offered(opener) as url, httpx2.AsyncClient() as http:
            asked = [http.post(url, json=HELLO, headers=BOTH) for _ in range(6)]
            answers = await asyncio.gather(*asked)
        assert sorted(answer.status_code for answer in answers) == [200, 200, 503, 503, 503, 503]

    run(story())


@pytest.mark.proves("P24")
def test_only_a_message_opens_a_session(opener, tmp_path):
    started = tmp_path / "started"

    async def story():
        async with (
            offered(opener, Command(("touch", str(started)))) as url,
            httpx2.AsyncClient() as http,
        ):
            for method in ("GET", "DELETE", "OPTIONS", "HEAD"):
                assert (await http.request(method, url, headers=BOTH)).status_code == 400
        assert not started.exists()

    run(story())


@pytest.mark.proves("P24")
@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
def test_who_would_rather_speak_another_protocol_is_answered(opener, protocol):
    wish = {"connection": "Upgrade", "upgrade": protocol, **BOTH}

    async def story():
        async with offered(opener) as url, httpx2.AsyncClient() as http:
            opened = await http.post(url, json=HELLO, headers=wish)
            assert (opened.status_code, "protocolVersion" in opened.text) == (200, True)

    run(story())


def test_a_server_that_cannot_be_started_is_told_to_who_asks(opener):
    async def story():
        async with offered(opener, Command(("/no/such/server",))) as url:
            async with httpx2.AsyncClient() as http:
                response = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "x"})
            assert response.status_code == 502
            assert "cannot be started: No such file" in response.json()["error"]["message"]

    run(story())


def test_a_name_clash_refuses_to_start_over_http_too(opener):
    clashing = Command((*SERVER.words, "clash"))

    with pytest.raises(Refused, match="--reader NAME"):
        run(serve_http(clashing, opener, RULES, Door("127.0.0.1", 0, "")))


def test_an_address_that_is_taken_is_named(opener):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadAddress, match=f"127.0.0.1:{port}: address already in use"):
            run(serve_http(SERVER, opener, RULES, Door("127.0.0.1", port, "")))


def test_the_headers_repeat_what_the_message_says():
    stamp = Stamp()
    hello = message_of(b'{"id":1,"method":"initialize","params":{}}')
    ping = message_of(b'{"id":2,"method":"ping"}')
    assert stamp.headers(hello) == {}
    assert stamp.headers(ping) == {}
    stamp.learn(message_of(b'{"id":1,"result":{"protocolVersion":"2025-06-18"}}'))
    assert stamp.headers(ping) == {"mcp-protocol-version": "2025-06-18"}

    meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}'
    stamp.headers(message_of(f'{{"id":3,"method":"tools/list","params":{{{meta}}}}}'.encode()))
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "R"}}}
    tools = [{"name": "näme", "inputSchema": schema}]
    stamp.learn(message_of(json.dumps({"id": 3, "result": {"tools": tools}}).encode()))
    params = f'{{"name":"näme","arguments":{{"region":"eu"}},{meta}}}'
    call = message_of(f'{{"id":4,"method":"tools/call","params":{params}}}'.encode())
    assert stamp.headers(call) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?bsOkbWU=?=",
        "Mcp-Param-R": "eu",
    }


@pytest.mark.proves("R12", "P20")
def test_a_refusal_and_a_broken_connection_are_answers():
    answers = iter(
        [
            httpx2.Response(
                429, headers={"Retry-After": "30", "set-cookie": "k=s3cret"}, text="no"
            ),
            httpx2.Response(503, text="no"),
            httpx2.ConnectError("cannot connect to https://x/?key=s3cret"),
            httpx2.Response(200, text="fine"),
        ]
    )

    async def answered(asked):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def story():
        transport = Telling(httpx2.MockTransport(answered))
        async with httpx2.AsyncClient(transport=transport) as http:
            return [await http.post("https://api.example.com/mcp?key=s3cret") for _ in range(4)]

    limited, busy, broken, fine = run(story())
    assert limited.json()["error"] == {
        "code": -32000,
        "message": "429 Too Many Requests",
        "data": {"status": 429, "headers": {"retry-after": "30"}},
    }
    assert busy.json()["error"]["data"] == {"status": 503, "headers": {}}
    assert broken.json()["error"]["message"] == "api.example.com could not be reached: ConnectError"
    assert fine.text == "fine"
    assert "s3cret" not in limited.text + busy.text + broken.text


def test_a_server_at_an_address_goes_by_its_host_alone():
    assert Remote("https://user:s3cret@api.example.com/mcp?key=s3cret").name == "api.example.com"


def test_who_has_no_token_is_told_before_anything_is_read(opener):
    async def story():
        async with offered(opener, token="t" * 22) as url, httpx2.AsyncClient() as http:
            refused = await http.post(url, content=b"x" * 10)
            allowed = await http.post(url, json={}, headers={"authorization": "Bearer " + "t" * 22})
            assert (refused.status_code, allowed.status_code) == (401, 400)

    run(story())


def test_a_body_that_is_too_long_is_refused(opener, monkeypatch):
    monkeypatch.setattr("headgate.proxy.endpoint.BODY_BYTES", 1_000)

    async def story():
        async with offered(opener) as url, httpx2.AsyncClient() as http:
            assert (await http.post(url, content=b"x" * 1_001)).status_code == 413

    run(story())
