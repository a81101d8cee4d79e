"""From an event to the answer, for a result that needs a proper look."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.errors import RequestError
from headgate.gate import Gate
from headgate.hooks import CLIENTS
from headgate.hooks.heard import Answer, Client, Event, Heard, Place, Shown
from headgate.limits import within
from headgate.policy import CHARS_PER_TOKEN, Policy
from headgate.refs import REF_PATTERN
from headgate.types import Amount, Text, ToolResult

if TYPE_CHECKING:
    from headgate.events import Hook

CHUNK_BYTES = 1 << 20

SESSION_CHARS = 128
"""A session is named in markers; a CLI's own name for it that is longer is not used."""


def client_of(name: str) -> Client:
    """What is known of a CLI."""
    if name not in CLIENTS:
        raise RequestError(f"there is no client {name!r}; there is {', '.join(CLIENTS)}")
    found: Client = import_module(f"headgate.hooks.{CLIENTS[name]}")
    return found


def answered(
    name: str,
    raw: bytes,
    policy: Policy,
    *,
    state: str | os.PathLike[str] | None = None,
    hooks: tuple[Hook, ...] = (),
) -> Answer | None:
    """The answer to an event; None where the result stays as it is."""
    client = client_of(name)
    event = event_of(raw)
    heard = client.hear(event)
    if heard is None or not heard.texts:
        return None
    heard = replace(heard, call_id=heard.call_id or call_id_of(raw))
    gate = Gate(
        policy_for(policy, heard),
        session=session_of(name, heard),
        state=state,
        files=heard.files,
        hooks=hooks,
    )
    shown = Shown(dict(decided(gate, heard)), heard)
    note_reads(gate, shown)
    return client.answer(event, shown) if shown.texts else None


def note_reads(gate: Gate, shown: Shown) -> None:
    """Note that the agent read an original of ours with a tool of its own."""
    asked = json.dumps(dict(shown.heard.arguments), default=str)
    for ref in sorted(set(REF_PATTERN.findall(asked))):
        if gate.ledger.by_ref(ref):
            gate.note_read(ref, shown.text)
            return


def event_of(raw: bytes) -> Event:
    """Read an event; a CLI that writes something else has changed, and is told so."""
    event = json.loads(raw)
    if not isinstance(event, dict):
        raise RequestError(f"the event is no object but {type(event).__name__}")
    return event


def session_of(client: str, heard: Heard) -> str:
    """The session of an agent run: the CLI's own, so that two runs never share one."""
    name = f"{client}-{heard.session}"
    fits = heard.session and len(name) <= SESSION_CHARS and name.isprintable()
    return name if fits else client


def call_id_of(raw: bytes) -> str:
    """An id for a call that has none: the same event gets the same one."""
    return f"call_{hashlib.sha256(raw).hexdigest()[:20]}"


def policy_for(policy: Policy, heard: Heard) -> Policy:
    """The policy of one hook: several texts of one result share its limit, and files are named."""
    marker = policy.marker
    if marker.reader == "tool":
        # No CLI has our tool by itself. A file it can open; where there is none, our command.
        marker = replace(marker, reader="file", tool=marker.cli)
    # This process ends with its answer: what it holds in memory nobody could read.
    policy = policy.replace(marker=marker, memory_bytes=0)
    alone = policy.alone_count
    if heard.most is not None and alone * CHARS_PER_TOKEN > heard.most.count:
        # A character has at least one byte: so many bytes are never more than the policy allows.
        bytes_allowed = alone * CHARS_PER_TOKEN if policy.unit == "tokens" else alone
        policy = within(policy, replace(heard.most, count=min(heard.most.count, bytes_allowed)))
    shared = Amount(policy.alone_count, policy.unit)
    return policy.replace(batch=shared) if len(heard.texts) > 1 else policy


def decided(gate: Gate, heard: Heard) -> Iterator[tuple[Place, str]]:
    """The texts that are not shown as they were, with their places."""
    texts = dict(heard.texts)
    if heard.whole is not None:
        first = next(iter(texts))
        texts.pop(first)
        yield first, _whole(gate, heard, heard.whole).text
    batch = [
        ToolResult(
            call_id=f"{heard.call_id}.{number}" if number else heard.call_id,
            tool=heard.tool,
            blocks=(Text(text),),
            is_error=heard.is_error,
            arguments=heard.arguments,
        )
        for number, text in enumerate(texts.values())
    ]
    for place, shown in zip(texts, gate.admit(batch) if batch else [], strict=True):
        if shown.verdict.text is not None:
            yield place, shown.text


def _whole(gate: Gate, heard: Heard, whole: Path) -> ToolResult:
    """Let in what the CLI put into a file of its own."""
    stream = gate.stream(heard.call_id, heard.tool, arguments=heard.arguments)
    with whole.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            stream.write(chunk)
    return stream.close(is_error=heard.is_error)
