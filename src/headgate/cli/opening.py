"""The policy, the session and the gate that a command works with."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from headgate.cli import parser
from headgate.cli.output import CommandError, reason, say, visible
from headgate.errors import PolicyError
from headgate.events import (
    Event,
    LedgerFailed,
    LedgerRepaired,
    SpillCut,
    SpillFailed,
    SweepFailed,
)
from headgate.limits import within
from headgate.measure.meters import meter_for
from headgate.measure.size import STANDARD_VOCAB
from headgate.measure.vocab import TokenMeter
from headgate.policy import Policy
from headgate.presets import preset
from headgate.types import Amount, Meter, Unit

if TYPE_CHECKING:
    from headgate.gate import Gate
    from headgate.ledger import Ledger


NO_LIMITS: Mapping[str, int] = MappingProxyType({})


def policy_for(asked: Namespace, environ: Mapping[str, str] = os.environ) -> Policy:
    """The policy of the flags, else of the environment, as it holds for what goes to stdout."""
    policy = chosen(getattr(asked, "preset", None), environ)
    if getattr(asked, "vocab", None):
        policy = policy.replace(vocab=asked.vocab)
    if getattr(asked, "no_spill", False):
        policy = policy.replace(spill=False)
    meter = meter_for(policy.vocab, "tokens")  # in any unit, tokens are told too
    policy = for_stdout(policy)
    for unit in ("tokens", "chars"):
        count = getattr(asked, unit, None)
        if count is not None:
            if not getattr(asked, "vocab", None) and not isinstance(meter, TokenMeter):
                # A limit of the flag is in tokens, also under a policy that counts by a rule.
                policy = policy.replace(vocab=STANDARD_VOCAB)
            policy = within(policy, Amount(count, "tokens" if unit == "tokens" else "chars"))
    return policy


def chosen(name: str | None, environ: Mapping[str, str] = os.environ) -> Policy:
    """The policy of a preset that was asked for, else of the environment, as it was written."""
    # A preset that was asked for is that preset, whatever the environment says of policies.
    if name is not None:
        return preset(name)
    from headgate.policy_file import policy_from_environment, policy_from_toml

    start = preset(environ.get("HEADGATE_PRESET") or "default")
    path = environ.get("HEADGATE_POLICY")
    if path:
        try:
            start = policy_from_toml(_text_of(path), start=start)
        except PolicyError as error:
            raise CommandError(f"the policy {path!r}: {error}") from error
    return policy_from_environment(environ, start=start)


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:  # some editors put a mark at the start
            return file.read()
    except OSError as error:
        raise CommandError(f"the policy {path!r} cannot be read: {reason(error)}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"the policy {path!r} is not UTF-8 at byte {error.start}") from error


def for_stdout(policy: Policy) -> Policy:
    """The policy where no wire adds to a result, and what the disk cannot keep is not kept."""
    marker = policy.marker
    if marker.reader == "tool":
        marker = replace(marker, reader="cli")
    return policy.replace(marker=marker, block_overhead=0, memory_bytes=0)


def session_for(asked: Namespace, environ: Mapping[str, str] = os.environ) -> str:
    """The session of the flag, else of the environment."""
    if asked.session is not None:
        name: str = asked.session
        return name
    try:
        return parser.session(environ.get("HEADGATE_SESSION") or "default")
    except ArgumentTypeError as error:
        raise CommandError(f"HEADGATE_SESSION: {error}") from error


def open_gate(
    policy: Policy,
    session: str,
    *,
    overrides: Mapping[str, int] = NO_LIMITS,
    meter: Meter | None = None,
) -> Gate:
    """A gate that measures what is seen on stdout, and says on stderr what it could not keep."""
    from headgate.gate import Gate

    return Gate(
        policy,
        session=session,
        hooks=(Reporter(),),
        meter=meter or Seen(meter_for(policy.vocab, policy.unit)),
        overrides=lambda: {"tools": overrides},
    )


def ledger_of(gate: Gate) -> Ledger:
    """All verdicts of the session, for who asks about them: what cannot be read is not nothing."""
    ledger = gate.ledger
    len(ledger)
    if (failure := ledger.take_failure()) is not None:
        raise CommandError(failure)
    return ledger


def overrides_for(asked: Namespace, tool: str) -> dict[str, int]:
    """The limit of the flag, as the operator's word on the tool; so `explain` knows who set it."""
    count = asked.tokens if asked.tokens is not None else getattr(asked, "chars", None)
    return {} if count is None else {tool: count}


def new_call(command: str) -> str:
    """A call id: each run of a command is a call of its own, decided anew."""
    return f"{command}_{os.urandom(4).hex()}"


class Seen:
    """A meter of what is seen on stdout: escapes where the text has controls.

    A whole text ends there with its own line end, which is not counted; so it is left out of
    estimates, which are made of whole texts only.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    @property
    def unit(self) -> Unit:
        """What is counted."""
        return self._meter.unit

    @property
    def name(self) -> str:
        """The vocabulary or rule."""
        return self._meter.name

    def count(self, text: str) -> int:
        """The exact size of what is seen of the text."""
        return self._meter.count(visible(text))

    def estimate(self, data: bytes) -> int:
        """The size of what is seen of UTF-8 `data`, without the final line end."""
        from headgate.visible import DIRTY

        data = data.removesuffix(b"\n")
        if DIRTY.first(data) is not None:
            data = visible(data.decode("utf-8", "backslashreplace")).encode()
        return self._meter.estimate(data)


class Reporter:
    """A hook that says once what could not be kept, and why."""

    def __init__(self) -> None:
        self._said = False

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, LedgerRepaired):
            say(
                f"{event.path} was damaged: {event.kept_records:,} records are whole, "
                f"{event.lost_bytes:,} bytes after them were set aside"
            )
        if isinstance(event, SpillCut):
            say(
                f"only the first {event.kept_bytes:,} of {event.length_bytes:,} bytes were kept, "
                f"as retention says"
            )
        if isinstance(event, SweepFailed):
            say(f"what is kept could not be put in order: {event.error}")
        if isinstance(event, SpillFailed | LedgerFailed) and not self._said:
            self._said = True
            say(f"nothing was kept: {event.error}")
