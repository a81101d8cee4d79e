"""A client and a server in memory: what a test says is sent, and what arrived is looked at."""

import asyncio
import json

from headgate.proxy.message import message_of

LONGEST_S = 20


class End:
    """One end of a relay; `say` makes it speak, `hear` waits for what it is told."""

    def __init__(self, ending="exited with 3"):
        self.ending = ending
        self.closed = False
        self._said = asyncio.Queue()
        self._heard = asyncio.Queue()

    async def receive(self):
        said = await self._said.get()
        if isinstance(said, Exception):
            raise said
        return said

    async def send(self, message):
        self._heard.put_nowait(message.raw)

    async def close(self):
        self.closed = True

    async def stop(self):
        self.closed = True

    def say(self, value):
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self._said.put_nowait(message_of(raw))

    def break_off(self, error):
        self._said.put_nowait(error)

    def leave(self):
        self._said.put_nowait(None)

    async def hear_raw(self):
        return await asyncio.wait_for(self._heard.get(), LONGEST_S)

    async def hear(self):
        return json.loads(await self.hear_raw())

    @property
    def has_heard_all(self):
        return self._heard.empty()


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def note(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(number, **fields):
    return {"jsonrpc": "2.0", "id": number, "result": fields}


def text(*words, **more):
    return {"content": [{"type": "text", "text": word} for word in words], **more}
