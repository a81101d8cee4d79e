import asyncio
import json

from headgate.proxy.message import message_of
from headgate.proxy.shared import Shared
from tests.proxy.ends import note, request, result

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def of(value):
    return message_of(json.dumps(value).encode())


def told(story):
    async def main():
        return await asyncio.wait_for(story(Shared()), 5)

    asyncio.run(main())


def test_two_clients_with_the_same_ids_and_tokens_are_told_apart():
    async def story(shared):
        asked = [
            await shared.ask(of(request(1, "tools/call", _meta={"progressToken": 1}, name=name)))
            for name in ("a", "b")
        ]
        sent = [json.loads((await shared.receive()).raw) for _ in asked]
        assert [m["id"] for m in sent] == [1, 2]
        assert [m["params"]["_meta"]["progressToken"] for m in sent] == [1, 2]
        assert [m["params"]["name"] for m in sent] == ["a", "b"]
        await shared.send(of(note("notifications/progress", progressToken=2, progress=5)))
        await shared.send(of(result(2, from_="b")))
        await shared.send(of(result(1, from_="a")))
        progress = json.loads(asked[1].replies.get_nowait().raw)
        assert progress["params"] == {"progressToken": 1, "progress": 5}
        for exchange, name in zip(asked, "ab", strict=True):
            answered = json.loads(exchange.replies.get_nowait().raw)
            assert (answered["id"], answered["result"]) == (1, {"from_": name})

    told(story)


def test_a_client_that_leaves_cancels_what_it_asked():
    async def story(shared):
        exchange = await shared.ask(of(request("x", "tools/call")))
        await shared.receive()
        await shared.leave(exchange)
        cancelled = json.loads((await shared.receive()).raw)
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == 1
        await shared.send(of(result(1)))
        assert exchange.replies.empty()

    told(story)


def test_a_client_that_was_answered_cancels_nothing():
    async def story(shared):
        exchange = await shared.ask(of(request("x", "tools/call")))
        await shared.receive()
        await shared.send(of(result(1)))
        await shared.leave(exchange)
        await shared.end()
        assert await shared.receive() is None

    told(story)


def test_what_a_subscription_brings_names_it_as_its_client_does():
    async def story(shared):
        exchange = await shared.ask(of(request("mine", "subscriptions/listen")))
        changed = note("notifications/tools/list_changed", _meta={SUBSCRIPTION: 1})
        await shared.send(of(changed))
        await shared.send(of(result(1, _meta={SUBSCRIPTION: 1})))
        heard = json.loads(exchange.replies.get_nowait().raw)
        ended = json.loads(exchange.replies.get_nowait().raw)
        assert heard["params"]["_meta"] == {SUBSCRIPTION: "mine"}
        assert (ended["id"], ended["result"]["_meta"]) == ("mine", {SUBSCRIPTION: "mine"})

    told(story)


def test_a_line_of_the_log_is_not_told_to_the_wrong_client():
    async def story(shared):
        one = await shared.ask(of(request(1, "tools/call")))
        await shared.send(of(note("notifications/message", data="for one")))
        other = await shared.ask(of(request(1, "tools/call")))
        await shared.send(of(note("notifications/message", data="for whom")))
        assert one.replies.qsize() == 1
        assert other.replies.empty()

    told(story)


def test_nobody_waits_for_a_server_that_is_gone():
    async def story(shared):
        before = await shared.ask(of(request("x", "tools/call")))
        await shared.close()
        after = await shared.ask(of(request("y", "tools/call")))
        for exchange, name in ((before, "x"), (after, "y")):
            refused = json.loads(exchange.replies.get_nowait().raw)
            assert refused["id"] == name
            assert "the server has ended" in refused["error"]["message"]

    told(story)
