"""One connection between a client and a server: everything passes, results through the gate."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, replace

from headgate.mcp.listing import offered
from headgate.mcp.result import McpCall
from headgate.mcp.toolgate import Asked, ToolGate, text_result
from headgate.mcp.wire import fields_of, loaded_object, object_of
from headgate.proxy.link import Link
from headgate.proxy.message import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    SERVER_GONE,
    Message,
    answer,
    refusal,
    with_params,
    with_result,
)
from headgate.proxy.opening import (
    LONGEST_S,
    OWN_ID,
    Opening,
    Refused,
    is_modern,
    without_capabilities,
)
from headgate.proxy.rules import Rules

log = logging.getLogger("headgate.mcp")


FAULT = "a fault of the proxy's own; its stderr says more"

LINGER_S = 5.0
"""How long a server may still answer what was asked before the client closed its end."""

DRAIN_S = 0.25
"""How long after a server's end its client may not know of it yet, and still ask."""

MOST_CANCELLED = 1_024
"""Requests that were cancelled and may still be answered; the oldest are forgotten."""


MOST_TASKS = 1_024
"""Tasks whose results may still be asked for; of an older one the tool is not known."""


@dataclass(frozen=True, slots=True)
class Open:
    """A request of the client that the server has not answered yet."""

    message: Message
    call: McpCall | None = None
    """Of a `tools/call`, or of the task that one began."""
    asked: Asked | None = None
    """Of a call of a tool that was listed."""


class Relay:
    """Passes messages both ways until one end is gone."""

    def __init__(self, client: Link, server: Link, tool_gate: ToolGate, rules: Rules) -> None:
        self.client = client
        self.server = server
        self.tool_gate = tool_gate
        self.rules = rules
        self.opening = Opening(rules)
        self.run_id = secrets.token_hex(4)
        self.calls = 0
        self.open: dict[bytes, Open] = {}
        self.cancelled: dict[bytes, Open] = {}
        self.tasks: dict[str, McpCall] = {}
        self.client_left = False
        self._own: set[bytes] = set()
        self._held: list[Message] = []
        self._work: set[asyncio.Task[None]] = set()
        self._patience: asyncio.Task[None] | None = None
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._opened = asyncio.Event()

    async def run(self) -> None:
        """Pass messages until the server is gone; every open request is answered."""
        inward = asyncio.create_task(self._inward())
        try:
            await self._outward()
        except Refused as refused:
            await self._refuse(str(refused))
            raise
        finally:
            left = [task for task in (inward, self._patience, *self._work) if task is not None]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def from_client(self, message: Message) -> None:
        """Take a message of the client."""
        if self.rules.deny and message.params:
            message = self._denying(message)
        if message.method == "notifications/initialized" and self.opening.said_initialized:
            return
        if message.method == "notifications/cancelled" and self._cancels_own(message):
            return
        if not message.is_request:
            await self.server.send(message)
            return
        for question in self.opening.before(message):
            await self._ask(question)
        if message.method == "tools/call" and self._is_opening:
            self._start(self._call_when_opened(message))
            return
        if message.method == "tools/call":
            await self._call(message)
            return
        if message.method == "initialize":
            self._opened.clear()
        call = None
        if message.method == "tasks/result":
            call = self.tasks.get(str(loaded_object(message.params).get("taskId")))
        await self._pass(Open(message, call))

    async def from_server(self, message: Message) -> None:
        """Take a message of the server."""
        if message.is_answer:
            await self._answered(message)
        elif message.is_request and self.rules.denies(message.method):
            words = f"{message.method} is denied to this server by its proxy"
            await self.server.send(refusal(message.id, METHOD_NOT_FOUND, words))
        else:
            if message.is_request:
                await self._release()
            await self._to_client(message)

    async def _inward(self) -> None:
        while (message := await self._heard()) is not None:
            try:
                await self.from_client(message)
            except Exception:
                # One message that breaks something must not end a session of many.
                log.exception("a message of the client could not be passed on")
                if message.is_request:
                    await self.client.send(refusal(message.id, INTERNAL_ERROR, FAULT))
        self.client_left = True
        await self._settled()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), LINGER_S)
        await self._settled()
        await self.server.close()

    async def _heard(self) -> Message | None:
        """The next message of the client; one that cannot be heard any more has left."""
        try:
            return await self.client.receive()
        except Exception:
            log.exception("the client cannot be heard any more")
            return None

    async def _outward(self) -> None:
        while (message := await self.server.receive()) is not None:
            try:
                await self.from_server(message)
            except Refused:
                raise
            except Exception:
                log.exception("a message of the server could not be passed on")
                if message.is_answer:
                    await self.client.send(refusal(message.id, INTERNAL_ERROR, FAULT))
        await self._release()
        await self._answer_the_rest()
        await self.client.close()

    async def _answer_the_rest(self) -> None:
        """The server is gone: answer what is open, and what was asked before that was known."""
        while True:
            await self._settled()
            for opened in list(self.open.values()):
                await self.client.send(self._gone(opened))
            self.open.clear()
            if self.client_left:
                return
            await asyncio.sleep(DRAIN_S)
            if not self.open and not self._work:
                return

    async def _answered(self, message: Message) -> None:
        if message.id.startswith(OWN_ID):
            await self._listed(message)
            return
        opened = self.open.pop(message.id, None) or self.cancelled.pop(message.id, None)
        if not self.open:
            self._quiet.set()
        if opened is None:
            await self._to_client(message)
            return
        if message.error:
            self._opened.set()
        method = opened.message.method
        if opened.call is not None:
            self._start(self._admit(opened, opened.call, message))
            return
        if method in ("initialize", "server/discover") and message.result:
            questions = self.opening.after(method, opened.message.params, message.result)
            await self._to_client(message)
            for question in questions:
                await self._ask(question)
            if not questions:
                self._opened.set()
            return
        if method == "tools/list" and message.result:
            self._learn(opened, message)
            message = with_result(message, offered(message.result, self.rules.reader))
        await self._to_client(message)

    async def _listed(self, message: Message) -> None:
        for question in self.opening.listed(message):
            await self.server.send(question)
        if not self.opening.is_listing:
            await self._release()

    async def _ask(self, question: Message) -> None:
        if question.is_request and self._patience is None:
            self._patience = asyncio.create_task(self._lose_patience())
        await self.server.send(question)

    async def _lose_patience(self) -> None:
        await asyncio.sleep(LONGEST_S)
        await self._release()

    def _learn(self, opened: Open, message: Message) -> None:
        try:
            changed = self.opening.learn(message.result)
        except Refused:
            self.open[message.id] = opened
            raise
        for name in changed:
            log.warning("the tool %r of %s is not what it was", name, self.rules.upstream)

    @property
    def _is_opening(self) -> bool:
        """Whether a call would come before the tools are known."""
        is_greeting = any(opened.message.method == "initialize" for opened in self.open.values())
        return self.opening.is_listing or is_greeting

    async def _call_when_opened(self, message: Message) -> None:
        await self._opened.wait()
        await self._call(message)

    async def _call(self, message: Message) -> None:
        """Answer a call of our own tool or from what is stored, else pass it on."""
        params = loaded_object(message.params)
        name, arguments = str(params.get("name", "")), params.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        self.calls += 1
        call_id = f"mcp_{self.run_id}_{self.calls}"
        tool = self.opening.tools.get(name)
        # A tool that nobody has listed may have pages of its own.
        asked = self.tool_gate.asked(tool, arguments) if tool is not None else None
        call = McpCall(call_id, name, arguments)
        if name == self.rules.reader:
            self._start(self._read(message, call))
        elif asked is not None and asked.page is not None:
            self._start(self._page(message, call, asked))
        else:
            await self._pass(Open(_owned(message, asked), call, asked))

    async def _read(self, message: Message, call: McpCall) -> None:
        self._own.add(message.id)
        try:
            read = await asyncio.to_thread(self.tool_gate.read, call.call_id, call.arguments)
            answered = answer(message.id, _complete(read, message))
        except Exception:
            log.exception("a result could not be read back")
            answered = refusal(message.id, INTERNAL_ERROR, "the result could not be read back")
        self._own.discard(message.id)
        await self._to_client(answered)

    async def _page(self, message: Message, call: McpCall, asked: Asked) -> None:
        try:
            formed = replace(call, form=asked.tool.form)
            page = await asyncio.to_thread(self.tool_gate.page, formed, asked)
        except Exception:
            log.exception("a page of %r could not be shown; it runs again", call.tool)
            page = None
        if page is not None:
            await self._to_client(answer(message.id, _complete(page, message)))
        else:
            await self._pass(Open(_owned(message, asked), call, asked))

    async def _pass(self, opened: Open) -> None:
        self.open[opened.message.id] = opened
        self._quiet.clear()
        await self.server.send(opened.message)

    async def _admit(self, opened: Open, call: McpCall, message: Message) -> None:
        """Let the answer to a call in; should that fail, the answer goes as it came."""
        try:
            message = await asyncio.to_thread(self._admitted, opened, call, message)
        except Exception:
            log.exception("a result of %r went through as it came", call.tool)
        await self._to_client(message)

    def _admitted(self, opened: Open, call: McpCall, message: Message) -> Message:
        tool = self.opening.tools.get(call.tool)
        call = call if tool is None else replace(call, form=tool.form)
        if message.error:
            from headgate.mcp.limited import RpcFailure, limited_result  # only for who failed

            limited = limited_result(call, RpcFailure(message.error), self.rules.upstream)
            if limited is None:
                return message
            return answer(message.id, _complete(limited, opened.message))
        task = loaded_object(fields_of(message.result).get("task", b"")).get("taskId")
        if isinstance(task, str):
            self.tasks[task] = call
            if len(self.tasks) > MOST_TASKS:
                del self.tasks[next(iter(self.tasks))]
        admitted = self.tool_gate.admit(call, message.result, opened.asked)
        return message if admitted is message.result else with_result(message, admitted)

    def _denying(self, message: Message) -> Message:
        params = without_capabilities(message, self.rules.deny)
        return message if params == message.params else with_params(message, params)

    def _cancels_own(self, message: Message) -> bool:
        """Whether a request is cancelled that the server never got."""
        named = fields_of(message.params).get("requestId", b"")
        opened = self.open.pop(named, None)
        if opened is not None:
            self.cancelled[named] = opened
            if not self.open:
                self._quiet.set()
            if len(self.cancelled) > MOST_CANCELLED:
                del self.cancelled[next(iter(self.cancelled))]
        return named in self._own

    async def _to_client(self, message: Message) -> None:
        if self.opening.is_listing:
            self._held.append(message)
        else:
            await self.client.send(message)

    async def _release(self) -> None:
        """Let the client have what waited for the list of tools."""
        self.opening.is_listing = False
        self._opened.set()
        held, self._held = self._held, []
        for message in held:
            await self.client.send(message)

    async def _refuse(self, words: str) -> None:
        waiting = [message.id for message in self._held if message.is_answer]
        for id_ in (*waiting, *self.open):
            await self.client.send(refusal(id_, SERVER_GONE, words))
        await self.client.close()
        await self.server.stop()

    def _gone(self, opened: Open) -> Message:
        words = f"{self.rules.upstream} {self.server.ending} before it answered."
        if opened.call is None:
            return refusal(opened.message.id, SERVER_GONE, words)
        from headgate.history.mending import UNKNOWN_OUTCOME

        result = text_result(f"{words} {UNKNOWN_OUTCOME}", is_error=True)
        return answer(opened.message.id, _complete(result, opened.message))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _settled(self) -> None:
        """Wait for what is being judged or read back."""
        while self._work:
            await asyncio.wait(set(self._work))


def _owned(message: Message, asked: Asked | None) -> Message:
    """A call with the arguments that are the tool's own; the very same where all are."""
    params = fields_of(message.params)
    given = fields_of(params.get("arguments", b""))
    if asked is None or len(asked.own) == len(given):
        return message
    own = object_of({name: value for name, value in given.items() if name in asked.own})
    return with_params(message, object_of({**params, "arguments": own}))


def _complete(result: bytes, asked: Message) -> bytes:
    """A result of our own as the version of the protocol wants it that was asked in."""
    if not is_modern(asked):
        return result
    return object_of({**fields_of(result), "resultType": b'"complete"'})
