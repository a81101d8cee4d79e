import asyncio
import os
import signal
import sys

import pytest

from headgate.proxy import stdio
from headgate.proxy.message import message_of, request
from headgate.proxy.stdio import Child, Framed, OwnStdio
from tests.proxy import servers

SERVER = [sys.executable, servers.__file__]
LONGEST_S = 20


def run(story):
    return asyncio.run(asyncio.wait_for(story(), 2 * LONGEST_S))


async def asked(child, number, tool):
    await child.send(request("tools/call", b'{"name":"%b"}' % tool, b"%d" % number))


def test_a_child_is_spoken_to_in_lines():
    async def story():
        child = await Child.start(SERVER)
        await child.send(request("tools/list", b"", b"1"))
        heard = await child.receive()
        await child.close()
        assert heard.id == b"1"
        assert await child.receive() is None
        assert (child.code, child.ending) == (0, "exited with 0")

    run(story)


def test_a_child_that_crashes_says_how():
    async def story():
        child = await Child.start(SERVER)
        await asked(child, 1, b"crash")
        assert await child.receive() is None
        assert (child.code, child.ending) == (3, "exited with 3")
        await child.send(request("ping", b"", b"2"))

    run(story)


def test_a_child_that_does_not_go_is_made_to(monkeypatch):
    monkeypatch.setattr(stdio, "GRACE_S", 0.3)

    async def story():
        child = await Child.start([*SERVER, "stubborn"])
        await child.send(request("ping", b"", b"1"))
        await child.receive()
        await child.stop()
        assert (child.code, child.ending) == (128 + signal.SIGKILL, "was ended by SIGKILL")

    run(story)


def test_what_a_server_prints_goes_to_people_and_who_waits_is_answered(caplog):
    async def story():
        child = await Child.start(SERVER)
        await asked(child, 7, b"garble")
        heard = await child.receive()
        await child.stop()
        assert heard.id == b"7"
        assert b"the server's answer could not be read" in heard.error

    run(story)
    assert "what is no message: Debugger listening on ws://127.0.0.1" in caplog.text


def test_a_command_that_is_not_there_cannot_be_started():
    async def story():
        await Child.start(["/no/such/server"])

    with pytest.raises(FileNotFoundError):
        run(story)


def test_a_message_that_is_too_long_is_answered():
    chunks = [b'{"result":"', b"x" * 5_000, b'","id":3}\n{"id":4,"result":{}}\n', b""]
    odd = []

    async def read():
        return chunks.pop(0)

    async def note(error, line):
        odd.append((error.id, str(error)))

    async def story():
        framed = Framed(read, note, most_bytes=1_000)
        assert (await framed.receive()).id == b"4"
        assert await framed.receive() is None

    run(story)
    assert odd == [(b"3", "5,020 bytes in one message; at most 67,108,864")]


def test_our_own_ends_are_lines_too(tmp_path):
    into, out = os.pipe(), os.pipe()
    os.write(into[1], b'{"id":1,"method":"ping"}\n{"id":2,broken\nwhat?\n{"id":3,"method":"end"}')
    os.close(into[1])

    async def story():
        own = OwnStdio(into[0], out[1])
        heard = [await own.receive(), await own.receive()]
        assert await own.receive() is None
        await own.send(message_of(b'{"id":1,\n"result":{}}'))
        os.close(out[1])
        return heard

    heard = run(story)
    said = os.read(out[0], 10_000).splitlines()
    os.close(out[0])
    assert [message.id for message in heard] == [b"1", b"3"]
    assert b'"id":2,"error":{"code": -32600' in said[0]
    assert b'"id":null,"error":{"code": -32700' in said[1]
    assert said[2] == b'{"id":1, "result":{}}'


def test_a_client_that_is_gone_is_not_written_to():
    into, out = os.pipe(), os.pipe()
    os.close(out[0])
    os.close(into[1])

    async def story():
        own = OwnStdio(into[0], out[1])
        for _ in range(2):
            await own.send(message_of(b'{"id":1,"result":{}}'))
        assert await own.receive() is None

    run(story)
    os.close(out[1])
