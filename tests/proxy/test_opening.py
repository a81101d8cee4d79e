import asyncio

import pytest

from headgate.proxy import relay
from headgate.proxy.opening import Refused
from headgate.proxy.rules import Rules
from tests.proxy.ends import note, request, result

META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": 4}}
CLASH = [{"name": "read_result"}]


def test_the_client_hears_of_the_server_when_its_tools_are_known(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        await server.hear()
        server.say(result(0, capabilities={"tools": {}}, serverInfo={"name": "notes"}))
        assert (await server.hear())["method"] == "notifications/initialized"
        first = await server.hear()
        server.say(note("notifications/message", data="waits"))
        server.say(result(first["id"], tools=[{"name": "a"}], nextCursor="two"))
        second = await server.hear()
        assert (second["method"], second["params"]) == ("tools/list", {"cursor": "two"})
        server.say(result(second["id"], tools=[{"name": "b"}]))
        heard = [await client.hear(), await client.hear()]
        assert heard[0]["result"]["serverInfo"] == {"name": "notes"}
        assert heard[1]["params"] == {"data": "waits"}
        client.say(note("notifications/initialized"))
        client.say(request(1, "ping"))
        assert (await server.hear())["method"] == "ping"

    relaying(story, opened=False)


def test_a_server_without_tools_is_not_asked_for_them(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        await server.hear()
        server.say(result(0, capabilities={"prompts": {}}))
        assert (await client.hear())["id"] == 0
        client.say(note("notifications/initialized"))
        assert (await server.hear())["method"] == "notifications/initialized"

    relaying(story, opened=False)


def test_a_server_that_asks_the_client_something_is_not_kept_waiting(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={"roots": {}}))
        await server.hear()
        server.say(result(0, capabilities={"tools": {}}))
        await server.hear()
        asked = await server.hear()
        server.say(request("r", "roots/list"))
        assert [(await client.hear())["id"], (await client.hear())["id"]] == [0, "r"]
        server.say(result(asked["id"], tools=[]))
        client.say(result("r", roots=[]))
        assert (await server.hear())["result"] == {"roots": []}

    relaying(story, opened=False)


def test_a_server_that_does_not_list_its_tools_is_waited_for_only_so_long(relaying, monkeypatch):
    monkeypatch.setattr(relay, "LONGEST_S", 0.01)

    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        await server.hear()
        server.say(result(0, capabilities={"tools": {}}))
        assert (await client.hear())["id"] == 0

    relaying(story, opened=False)


def test_a_name_clash_refuses_to_start_and_says_the_way_out(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        await server.hear()
        server.say(result(0, capabilities={"tools": {}}))
        await server.hear()
        server.say(result((await server.hear())["id"], tools=CLASH))
        refused = await client.hear()
        with pytest.raises(Refused):
            await running
        assert refused["id"] == 0
        assert refused["error"]["message"] == (
            "notes has a tool 'read_result' of its own, and the proxy adds one of that name to "
            "read results back; give ours another with --reader NAME"
        )
        assert server.closed

    relaying(story, opened=False)


def test_another_name_is_the_way_out(relaying):
    async def story(client, server, running):
        client.say(request(1, "tools/list"))
        await server.hear()
        server.say(result(1, tools=CLASH))
        tools = (await client.hear())["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["read_result", "read_rest"]

    relaying(story, rules=Rules("notes", reader="read_rest"), tools=CLASH)


def test_a_clash_that_comes_later_is_refused_then(relaying):
    async def story(client, server, running):
        client.say(request(1, "tools/list"))
        await server.hear()
        server.say(result(1, tools=CLASH))
        assert "--reader NAME" in (await client.hear())["error"]["message"]
        with pytest.raises(Refused):
            await running

    relaying(story)


def test_without_a_handshake_the_tools_are_asked_for_before_the_first_call(relaying):
    async def story(client, server, running):
        client.say(request(1, "tools/call", name="grep", arguments={"page": 2}, **META))
        client.say(request(2, "prompts/list", **META))
        listing, prompts = await server.hear(), await server.hear()
        assert (listing["method"], prompts["method"]) == ("tools/list", "prompts/list")
        assert listing["params"] == {
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        }
        server.say(result(2, prompts=[], resultType="complete"))
        await asyncio.sleep(0)
        assert client.has_heard_all
        server.say(result(listing["id"], tools=[{"name": "grep"}]))
        assert (await client.hear())["id"] == 2
        assert (await server.hear())["params"]["arguments"] == {}

    relaying(story, opened=False)


def test_a_call_that_is_sent_with_the_handshake_waits_for_the_tools(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        client.say(request(1, "tools/call", name="grep", arguments={"page": 2}))
        await server.hear()
        server.say(result(0, capabilities={"tools": {}}))
        assert (await server.hear())["method"] == "notifications/initialized"
        asked = await server.hear()
        assert asked["method"] == "tools/list"
        server.say(result(asked["id"], tools=[{"name": "grep"}]))
        assert (await server.hear())["params"]["arguments"] == {}

    relaying(story, opened=False)


def test_a_client_that_says_all_at_once_and_goes_is_answered(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        client.say(request(1, "tools/call", name="grep", arguments={}))
        client.leave()
        await server.hear()
        server.say(result(0, capabilities={"tools": {}}))
        await server.hear()
        server.say(result((await server.hear())["id"], tools=[{"name": "grep"}]))
        assert (await server.hear())["id"] == 1
        assert not server.closed
        server.say(result(1, content=[{"type": "text", "text": "late"}]))
        assert [(await client.hear())["id"], (await client.hear())["id"]] == [0, 1]

    relaying(story, opened=False)


@pytest.mark.parametrize(
    "answered",
    [
        {"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "no"}},
        result(0, capabilities={}),
    ],
)
def test_a_call_does_not_wait_for_tools_that_nobody_lists(relaying, answered):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        client.say(request(1, "tools/call", name="grep", arguments={}))
        await server.hear()
        server.say(answered)
        assert (await server.hear())["id"] == 1

    relaying(story, opened=False)


def test_a_call_that_waits_is_answered_when_the_server_goes(relaying):
    async def story(client, server, running):
        client.say(request(0, "initialize", capabilities={}))
        client.say(request(1, "tools/call", name="grep", arguments={}))
        await server.hear()
        server.leave()
        heard = {m["id"]: m for m in [await client.hear(), await client.hear()]}
        assert "exited with 3" in heard[0]["error"]["message"]
        assert heard[1]["result"]["isError"] is True

    relaying(story, opened=False)


def test_an_answer_of_our_own_is_complete_where_the_protocol_wants_that_said(relaying):
    async def story(client, server, running):
        client.say(request(1, "tools/call", name="read_result", arguments={}, **META))
        server.say(result((await server.hear())["id"], tools=[]))
        assert (await client.hear())["result"]["resultType"] == "complete"

    relaying(story, opened=False)


def test_discovery_comes_before_the_tools(relaying):
    async def story(client, server, running):
        client.say(request(1, "server/discover", **META))
        assert (await server.hear())["method"] == "server/discover"
        server.say(result(1, capabilities={"tools": {}}, supportedVersions=["2026-07-28"]))
        server.say(result((await server.hear())["id"], tools=CLASH))
        assert "--reader NAME" in (await client.hear())["error"]["message"]

    relaying(story, opened=False)


def test_a_server_of_the_older_kind_is_left_to_the_handshake(relaying):
    async def story(client, server, running):
        client.say(request(1, "server/discover", **META))
        await server.hear()
        unknown = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'
        server.say(unknown)
        assert await client.hear_raw() == unknown
        assert server.has_heard_all

    relaying(story, opened=False)
