"""A client that answers from a script, in this process: the stand-in without its sockets.

It is as strict as the stand-in, and takes the place of an `anthropic` or `openai` client:

    AnthropicModel(ScriptedClient(Call("ls"), "Two files."), "claude-opus-5-5")
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType, SimpleNamespace

from headgate.testing.answers import Answer, dumps
from headgate.testing.provider import Provider
from headgate.testing.replies import Answering, Failure, Request, Reset, Scripted, Stall

HEADERS: Mapping[str, str] = MappingProxyType(
    {"x-api-key": "key", "authorization": "Bearer key", "anthropic-version": "2023-06-01"}
)


class ScriptedRefusal(Exception):
    """A request was refused; has what the clients' own errors have."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.error)
        self.status_code = answer.status
        self.body = answer.body


class ScriptedClient:
    """A sync client of three APIs; `provider` keeps every request that was made."""

    def __init__(
        self,
        *script: Scripted,
        answer: Answering | None = None,
        window_tokens: int | None = None,
        seed: str = "",
    ) -> None:
        """When the script is at its end, `answer` decides, by default a short text.

        Clients of one conversation need a `seed` each: ids are made from it.
        """
        self.provider = Provider(*script, answer=answer, window_tokens=window_tokens, seed=seed)
        self.messages = _Endpoint(self.provider, "/v1/messages")
        self.responses = _Endpoint(self.provider, "/v1/responses")
        self.chat = SimpleNamespace(completions=_Endpoint(self.provider, "/v1/chat/completions"))

    @property
    def requests(self) -> list[Request]:
        """Everything that was asked, refused or not."""
        return self.provider.requests


class _Endpoint:
    def __init__(self, provider: Provider, path: str) -> None:
        self._provider = provider
        self._path = path

    def create(self, **body: object) -> _Events:
        sent = dumps(body).encode("utf-8", "surrogatepass")
        answer = self._provider.respond(Request("POST", self._path, {}, HEADERS, sent))
        if answer.status != 200:
            raise ScriptedRefusal(answer)
        return _Events(answer)


class _Events:
    """The events of one answer, as far as its fault lets them come."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[dict[str, object]]:
        events, fault = self._answer.events or (), self._answer.fault
        most = len(events) if fault is None else min(fault.after_events, len(events) - 1)
        for event in events[:most]:
            data = event.partition(b"data: ")[2].strip()
            if data != b"[DONE]":
                yield json.loads(data)
        if isinstance(fault, Reset):
            raise ConnectionResetError("the connection was reset")
        if isinstance(fault, Stall):
            raise TimeoutError("nothing came for too long")
        if isinstance(fault, Failure):
            raise ConnectionError(fault.message or "the provider broke off")

    def close(self) -> None:
        pass
