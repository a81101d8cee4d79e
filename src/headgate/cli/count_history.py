"""The half of `headgate count` that knows histories, and what their tokens are spent on."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import dataclass, replace

from headgate.check import recognise_dialect
from headgate.cli.histories import naming, only_dialect
from headgate.cli.output import say, show, show_record, some
from headgate.cli.prepare import components
from headgate.dialects import dialect_named
from headgate.dialects.history import History
from headgate.disk import Folder
from headgate.errors import HistoryError
from headgate.history.calibration_file import FILE_NAME, CalibrationFile
from headgate.history.count import Accounting, Count, Share, accounting_for, count
from headgate.measure.meters import meter_for
from headgate.spill.private import state_folder
from headgate.types import Meter, Unit

SAID = 20
"""So many components are told; `--json` has all."""


def history_in(asked: Namespace, data: bytes) -> History | None:
    """The history that `data` is, with its dialect named or as a body; None: it is a text.

    A body that fits two dialects is no text, and has to be told apart.
    """
    if asked.dialect is not None:
        with naming(asked):
            return dialect_named(asked.dialect).read(data)
    read = [history for name in _fitting(data) if (history := _read(name, data))]
    if not read:
        return None
    with naming(asked):
        only_dialect([history.dialect for history in read])
    return read[0]


def _fitting(data: bytes) -> list[str]:
    try:
        return recognise_dialect(data)
    except HistoryError:
        return []


def _read(dialect: str, data: bytes) -> History | None:
    """The history in this dialect; None where it is another kind of object, or says nothing."""
    try:
        history = dialect_named(dialect).read(data)
    except HistoryError:
        return None
    # One text is a request where it is for a model; else any object may have such a field.
    says = history.messages or (history.model and history.key in history.settings)
    return history if says else None


def show_history(asked: Namespace, history: History) -> int:
    """Count a history and show it."""
    model = asked.model or ("" if asked.vocab else history.model)
    counted = count(history, accounting_of(asked, model))
    if asked.json:
        show_record(record_of(counted, history, model))
        return 0
    show(str(counted.likely))
    for line in how_counted(counted, history, model):
        say(line)
    return 0


def accounting_of(asked: Namespace, model: str) -> Accounting:
    """How it is counted: as the model does and as was learnt of it, or in a vocabulary."""
    if not model:
        meter = meter_for(asked.vocab or "o200k", "tokens")
        accounting = Accounting(meter, meter.name)
    else:
        file = Folder(state_folder(os.environ), "the state folder") / FILE_NAME
        accounting = accounting_for(model, CalibrationFile(file).of(model))
    if asked.estimate:
        return accounting
    return replace(accounting, meter=Whole(accounting.meter))


@dataclass(frozen=True, slots=True)
class Whole:
    """A meter that looks at all of a large text, not at samples of it."""

    meter: Meter

    @property
    def unit(self) -> Unit:
        """What is counted."""
        return self.meter.unit

    @property
    def name(self) -> str:
        """The vocabulary or rule."""
        return self.meter.name

    def count(self, text: str) -> int:
        """The exact size."""
        return self.meter.count(text)

    def estimate(self, data: bytes) -> int:
        """The exact size of UTF-8 `data`."""
        return self.meter.count(data.decode("utf-8", "replace"))


def record_of(counted: Count, history: History, model: str) -> dict[str, object]:
    """The count as one object."""
    return {
        "tokens": counted.likely,
        "exact": False,
        "low": counted.low,
        "high": counted.tokens,
        "vocab": counted.vocab,
        "model": model or None,
        "dialect": history.dialect,
        "messages": len(history.messages),
        "window": counted.window_tokens,
        "observations": counted.observations,
        "components": components(counted),
        "warnings": list(counted.warnings),
    }


def how_counted(counted: Count, history: History, model: str) -> list[str]:
    """What the number rests on and is made of, in words."""
    between = f"{counted.low:,} to {counted.tokens:,}, " if counted.low < counted.tokens else ""
    learnt = f", learnt from {counted.observations:,} reports" if counted.observations else ""
    for_model = f" for {model}" if model else ""
    is_text = history.key in history.settings
    said = "a text" if is_text else some(len(history.messages), "message", "messages")
    return [
        f"{said} in {history.dialect}; {between}estimated in {counted.vocab}{for_model}{learnt}",
        *counted.warnings,
        *(f"{share.tokens:>12,}  {_named(share)}" for share in counted.shares[:SAID]),
        *([f"and {len(counted.shares) - SAID:,} more"] if len(counted.shares) > SAID else []),
    ]


def _named(share: Share) -> str:
    return f"{share.component} of {share.tool}" if share.tool else share.component
