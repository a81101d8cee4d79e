"""A strict stand-in for the providers: an HTTP server on loopback that refuses what they refuse.

It speaks Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini, with and without
streams. It enforces the rules of histories with the wording of the real errors, counts tokens,
bills a simulated prompt cache, binds thinking to its prefix, remembers stored responses, and keeps
every request for assertions. What it answers comes from a script, or from a function; nothing in
it is random, so a run repeats to the byte.

    >>> import json, urllib.request
    >>> from headgate.testing import Call, Provider
    >>> with Provider(Call("grep", {"pattern": "TODO"}), "Two left.") as provider:
    ...     body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Any TODO?"}]}
    ...     asked = urllib.request.Request(
    ...         provider.openai_url + "/chat/completions",
    ...         json.dumps(body).encode(),
    ...         {"authorization": "Bearer key"},
    ...     )
    ...     with urllib.request.urlopen(asked) as response:
    ...         answer = json.load(response)
    >>> answer["choices"][0]["message"]["tool_calls"][0]["function"]
    {'name': 'grep', 'arguments': '{"pattern":"TODO"}'}
    >>> provider.requests[0].json["model"], provider.requests[0].usage.input_tokens
    ('gpt-5', 6)

A client of the official packages is pointed at it by its base URL:

    anthropic.Anthropic(base_url=provider.url, api_key="key")
    openai.OpenAI(base_url=provider.openai_url, api_key="key")
    genai.Client(http_options={"base_url": provider.url}, api_key="key")

Several pieces in a list are one reply, `[Think("hm"), Call("ls"), Call("pwd")]`; a `Failure`, a
`Stall`, a `Reset` or a `Cut` goes wrong as a provider does. A request that is refused takes nothing
from the script. When the script is at its end, `answer` decides, by default a short text.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from headgate.testing.answering import Desk
from headgate.testing.answers import Answer, State
from headgate.testing.bindings import ENFORCING, Bindings
from headgate.testing.mint import Mint, Sealer
from headgate.testing.prompt_cache import BreakpointCache, PrefixCache
from headgate.testing.replies import Answering, Reply, Request, Scripted, Usage, as_reply
from headgate.testing.server import Listener
from headgate.testing.tokens import count_for

MOST_BODY_BYTES = 32 * 1024 * 1024

POLL_S = 0.01
"""How soon the listener notices that it is to stop."""


class Provider:
    """A provider on loopback, for the length of a `with`."""

    def __init__(
        self,
        *script: Scripted,
        answer: Answering | None = None,
        models: Collection[str] = (),
        keys: Collection[str] = (),
        window_tokens: int | None = None,
        most_body_bytes: int = MOST_BODY_BYTES,
        delta_chars: int = 16,
        write_bytes: int = 0,
        clock: Callable[[], float] = time.time,
        binds_thinking: Sequence[str] = ENFORCING,
        seed: str = "",
    ) -> None:
        """Empty `models` or `keys` let every one in; no `window_tokens`: each model has its own.

        `delta_chars` is how much text one event of a stream brings, `write_bytes` how much of the
        stream one chunk of the transfer: 1 splits every character that can be split.
        """
        sealer = Sealer(seed)
        state = State(
            mint=Mint(seed),
            sealer=sealer,
            bindings=Bindings(sealer, binds_thinking),
            clock=clock,
            breakpoints=BreakpointCache(clock),
            prefixes=PrefixCache(clock),
            count_for=count_for,
            delta_chars=delta_chars,
        )
        self._desk = Desk(state, models=models, keys=keys, window_tokens=window_tokens)
        self._script: deque[Scripted] = deque(script)
        self._answer = answer
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._most_body_bytes = most_body_bytes
        self._write_bytes = write_bytes
        self._listener: Listener
        self._thread: threading.Thread

    def __enter__(self) -> Self:
        self._listener = Listener(
            self.respond, most_body_bytes=self._most_body_bytes, write_bytes=self._write_bytes
        )
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": POLL_S}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.leave()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens; the base URL of Anthropic's and Google's clients."""
        return f"http://127.0.0.1:{self._listener.server_port}"

    @property
    def openai_url(self) -> str:
        """The base URL of OpenAI's clients."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Request]:
        """Everything that was asked, refused or not, in the order it was answered."""
        with self._lock:
            return list(self._requests)

    @property
    def usages(self) -> list[Usage]:
        """What was billed, request by request; a refused one costs nothing and is not here."""
        return [request.usage for request in self.requests if request.usage is not None]

    def script(self, *items: Scripted) -> None:
        """Add to what is still to be answered."""
        with self._lock:
            self._script.extend(items)

    def respond(self, request: Request) -> Answer:
        """Answer one request, however it came."""
        # One at a time: ids, caches and stored responses follow the order of the requests.
        with self._lock:
            answer, seen = self._desk.answer(request, self._next)
            done = replace(seen, status=answer.status, usage=answer.usage, error=answer.error)
            self._requests.append(done)
            return answer

    def _next(self, request: Request) -> Reply:
        if self._script:
            return as_reply(self._script.popleft())
        if self._answer is not None:
            return as_reply(self._answer(request))
        return as_reply("Done.")
