"""Thinking blocks that are tied to where they were made, and what happens when that changed.

The signature of a block says which model made it, in which reply, and after which prefix: system,
tools and messages before it, `cache_control` aside. A block that was edited is refused. A block of
another model is left out, and reported. A block behind a changed prefix is refused or left out by
the models that enforce it, and only reported by those that record it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.testing.mint import Sealer, digest_of
from headgate.testing.prompts import canonical
from headgate.testing.refused import Refused, object_at

ENFORCING = ("claude-fable-5-1",)
RECORDING = ("claude-mythos-5-1",)
CONTROLS_BETA = "thinking-binding-controls-2026-08-01"

BOUND = (
    "{path}: Invalid `signature` in `thinking` block. The block is bound to a different "
    "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
    '"drop_block". That setting requires the `thinking-binding-controls-2026-08-01` value in the '
    "`anthropic-beta` header."
)
MODIFIED = (
    "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
FORGED = "{path}: Invalid `signature` in `thinking` block"


@dataclass(frozen=True, slots=True)
class Bound:
    """One thinking block in a request, with what its signature says."""

    turn: int
    """Which of the merged turns it stands in."""
    path: str
    claims: Mapping[str, object]
    prefix: str


class Bindings:
    """Signs the thinking of the stand-in, and checks what comes back."""

    def __init__(self, sealer: Sealer, enforcing: Sequence[str] = ENFORCING) -> None:
        self._sealer = sealer
        self._enforcing = tuple(enforcing)

    def sign(
        self, body: Mapping[str, object], text: str, *, reply: str, place: int, of: int
    ) -> str:
        """The signature of a block made in answer to `body`, the `place`th of its reply."""
        prefix = list(_prefixes(body))[-1]
        return self._sealer.seal(
            {
                "model": body.get("model"),
                "prefix": prefix,
                "text": digest_of(text),
                "reply": reply,
                "place": place,
                "of": of,
            }
        )

    def check(self, body: Mapping[str, object], betas: str) -> list[dict[str, object]]:
        """The transformations of a request; raises `Refused` for what the provider refuses."""
        behaviour = _behaviour(body, betas)
        blocks = list(self._blocks(body))
        _whole_latest(blocks)
        reports: list[dict[str, object]] = []
        dropped_turn = -1
        for block in blocks:
            reason = self._mismatch(block, body.get("model"))
            if reason is None and block.turn == dropped_turn:
                reason = "prefix_binding_mismatch"
            if reason is None:
                continue
            enforced = reason == "model_binding_mismatch" or body.get("model") in self._enforcing
            if not enforced and body.get("model") not in RECORDING:
                continue
            if reason == "prefix_binding_mismatch" and enforced and behaviour == "error":
                raise Refused(400, BOUND.format(path=block.path))
            if reason == "prefix_binding_mismatch" and enforced:
                dropped_turn = block.turn
            kind = "thinking_dropped" if enforced else "thinking_mismatch_allowed"
            reports.append({"type": kind, "path": block.path, "reason": reason})
        return reports

    def _mismatch(self, block: Bound, model: object) -> str | None:
        if block.claims.get("model") != model:
            return "model_binding_mismatch"
        return "prefix_binding_mismatch" if block.claims.get("prefix") != block.prefix else None

    def _blocks(self, body: Mapping[str, object]) -> Iterator[Bound]:
        turns = list(_merged(body))
        prefixes = list(_prefixes(body))
        latest = max((n for n, (role, _) in enumerate(turns) if role == "assistant"), default=-1)
        for number, (role, blocks) in enumerate(turns):
            if role != "assistant":
                continue
            for path, block in blocks:
                if block.get("type") not in ("thinking", "redacted_thinking"):
                    continue
                claims = self._sealer.open(block.get("signature") or block.get("data"))
                if claims is None:
                    raise Refused(400, FORGED.format(path=path))
                if claims.get("text") != digest_of(str(block.get("thinking", ""))):
                    said = MODIFIED if number == latest else FORGED
                    raise Refused(400, said.format(path=path))
                yield Bound(number, path, claims, prefixes[number])


def _behaviour(body: Mapping[str, object], betas: str) -> str:
    config = object_at(body, "thinking")
    if "block_binding" not in config:
        return "error"
    if CONTROLS_BETA not in betas:
        message = f"thinking.{config.get('type')}.block_binding: Extra inputs are not permitted"
        raise Refused(400, message)
    chosen = object_at(config, "block_binding").get("prefix_mismatch_behavior")
    return "drop_block" if chosen == "drop_block" else "error"


def _whole_latest(blocks: Sequence[Bound]) -> None:
    """Refuse where the latest assistant message brings back only some of a reply's blocks."""
    latest = max((block.turn for block in blocks), default=-1)
    by_reply: dict[object, list[Bound]] = {}
    for block in blocks:
        if block.turn == latest:
            by_reply.setdefault(block.claims.get("reply"), []).append(block)
    for together in by_reply.values():
        places = [block.claims.get("place") for block in together]
        wanted = together[0].claims.get("of")
        if places != list(range(wanted if isinstance(wanted, int) else 0)):
            raise Refused(400, MODIFIED.format(path=together[0].path))


def _merged(
    body: Mapping[str, object],
) -> Iterator[tuple[str, list[tuple[str, Mapping[str, object]]]]]:
    """The turns of a request, each block with its path; consecutive roles are one turn."""
    role = ""
    blocks: list[tuple[str, Mapping[str, object]]] = []
    messages = body.get("messages")
    for place, message in enumerate(messages if isinstance(messages, list) else []):
        said, content = str(message.get("role")), message.get("content")
        if blocks and said != role:
            yield role, blocks
            blocks = []
        role = said
        if isinstance(content, str):
            blocks.append((f"messages.{place}.content", {"type": "text", "text": content}))
        else:
            for spot, block in enumerate(content):
                blocks.append((f"messages.{place}.content.{spot}", block))
    if blocks:
        yield role, blocks


def _prefixes(body: Mapping[str, object]) -> Iterator[str]:
    """A name for everything before each turn, and last one for everything there is."""
    system = body.get("system")
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    running = hashlib.sha256(canonical([blocks or [], body.get("tools") or []]).encode())
    for role, said in _merged(body):
        yield running.hexdigest()
        for _, block in said:
            running.update(f"{role}\n{canonical(block)}\n".encode())
    yield running.hexdigest()
