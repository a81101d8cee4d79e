"""All rules and numbers, fixed when built.

A policy is data: frozen, checked once, the same from Python, TOML or the environment. Every
bounding number carries its unit, and one policy counts in one unit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from headgate.ageing import Ageing
from headgate.budget import SHARING, Sharing
from headgate.errors import PolicyError
from headgate.guard_rules import Guards
from headgate.marker import (
    DEFAULT_EXCERPT,
    DEFAULT_STYLE,
    Excerpt,
    MarkerStyle,
    wrong_field,
    wrong_template,
)
from headgate.retention import Retention
from headgate.rules import DEFAULT_COUNTING, DEFAULT_NOTICE, BatchByWindow, CountRule, Notice
from headgate.toolnames import class_of
from headgate.types import TOOL_CLASSES, Amount, ToolClass, Unit, tokens
from headgate.view import View

MINIMUM: Mapping[Unit, int] = MappingProxyType({"tokens": 128, "chars": 512, "bytes": 512})
"""The smallest limit: the marker's short form, escaped and with block overhead, fits in it."""

MOST_COUNT = 10**15
"""The largest limit: more than anybody has, and the ledger can write it down."""

Errors = Literal["verbatim", "same", "own"]
StoreFails = Literal["shape", "whole"]
Declarations = Literal["lower", "raise", "cap"]
Keep = Literal["salient", "head", "tail", "head_tail", "excerpt", "envelope"]
FORMS: tuple[Keep, ...] = ("excerpt", "envelope")
"""What looks the same whatever the text says."""

WithImage = Literal["shape", "whole"]
Twins = Literal["alike", "all"]
FilesBy = Literal["ref", "call"]

WORDS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "sharing": tuple(SHARING),
        "declarations": get_args(Declarations),
        "errors": get_args(Errors),
        "keep": get_args(Keep),
        "with_image": get_args(WithImage),
        "store_fails": get_args(StoreFails),
        "twins": get_args(Twins),
        "files_by": get_args(FilesBy),
    }
)
"""Entries that are one of a few words."""


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What a policy says of one tool, or of a class of tools."""

    limit: Amount | None = None
    exempt: bool = False
    """Limits itself: goes in whole up to `limit`, or without bound where there is none."""
    tool_class: ToolClass | None = None
    cap: Amount | None = None
    """What is cut off before any limit, in a policy that has an `excerpt` for it."""


NO_RULE = ToolRule()

DEFAULT_BATCH = tokens(20_000)
DEFAULT_PREVIEW = tokens(1_000)
DEFAULT_ERROR = tokens(4_000)
DEFAULT_AGEING = Ageing()
DEFAULT_GUARDS = Guards()
DEFAULT_RETENTION = Retention()
DEFAULT_VIEW = View()
DEFAULT_CLASSES: Mapping[ToolClass, ToolRule] = MappingProxyType(
    {"read": ToolRule(exempt=True, limit=tokens(25_000))}
)

MOST_WAIT_S = 86_400
"""Who waits a day for a store waits for ever, and can say so."""

CHARS_PER_TOKEN = 4
"""A default in tokens, for a policy that counts in characters or bytes."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How limits follow the window: wider while it is empty, tighter when it is nearly full."""

    below: float = 0.5
    widen: float = 1.4
    above: float = 0.8
    tighten: float = 0.6

    def __post_init__(self) -> None:
        for name, most in (("below", 1), ("above", 1), ("widen", 100), ("tighten", 100)):
            if not 0 <= getattr(self, name) <= most:
                raise PolicyError(f"scale.{name} is {getattr(self, name)}; it is from 0 to {most}")

    def factor(self, used: float | None) -> float:
        """What a limit is multiplied with where this share of the window is in use."""
        if used is None:
            return 1.0
        return self.widen if used < self.below else self.tighten if used > self.above else 1.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How much the model sees of tool results. The defaults are the preset `default`."""

    result: Amount = tokens(8_000)
    """The limit of one result."""
    batch: Amount | None = DEFAULT_BATCH
    """The budget of all results that answer one assistant message."""
    batch_window_share: float = 0.1
    """At most this share of the model's window goes to one batch, where the window is known."""
    batch_by_window: BatchByWindow | None = None
    """Another budget for the smallest and the largest windows, where the window is known."""
    window_tokens: int | None = None
    turn: Amount | None = None
    """The budget of all batches since the user spoke; None: each batch stands for itself."""
    scale: Scale | None = None
    """Whether limits follow how full the window is."""
    ageing: Ageing = DEFAULT_AGEING
    repeats: bool = True
    """Whether a result that stands in the history already becomes a reference to it."""
    repair: bool = True
    """Whether histories are repaired before they are sent."""
    twins: Twins = "alike"
    """Which second calls under one id a repair takes out of a message: those that ask for the same,
    or all."""
    counting: CountRule = DEFAULT_COUNTING
    guards: Guards = DEFAULT_GUARDS
    """When a model that calls in circles is warned, refused or stopped."""
    sharing: Sharing = "fair"
    preview: Amount = DEFAULT_PREVIEW
    """What is left in sight of a result that `largest_first` spills."""
    declarations: Declarations = "raise"
    """Whether what a tool declares or a call asks for may only lower the limit or also raise it; or
    whether what a tool declares is its cap, and the limit is another thing."""
    errors: Errors = "own"
    error: Amount = DEFAULT_ERROR
    """The limit of an error where `errors` is `own`."""
    media_tokens: int = 2_000
    """Fixed cost of an image, a document or an opaque block; never its base64."""
    with_image: WithImage = "shape"
    """Whether the text beside an image is shaped as any other, or goes in whole with it."""
    block_overhead: int = 4
    """What the wire adds around one result, in the policy's unit."""
    vocab: str = "o200k"
    normalise: bool = True
    spill: bool = True
    """Whether originals are kept at all."""
    files_by: FilesBy = "ref"
    """What the plain file of an original is named by."""
    retention: Retention = DEFAULT_RETENTION
    """How much is kept, and for how long."""
    notice: Notice = DEFAULT_NOTICE
    """What people are told of a shortened result."""
    view: View = DEFAULT_VIEW
    """What people are shown of a result; the model never meets it."""
    store_fails: StoreFails = "shape"
    store_timeout_s: float | None = None
    """After this the store has failed; None waits, as for a local disk."""
    memory_bytes: int = 64 * 1024 * 1024
    """What is kept in this process when the store cannot."""
    marker: MarkerStyle = DEFAULT_STYLE
    keep: Keep = "salient"
    """What is kept of a result that is too big: what stands out, only one end or both, pieces of
    the ends in a fixed form, or a JSON envelope."""
    excerpt: Excerpt = DEFAULT_EXCERPT
    """The fixed form, where `keep` is `excerpt`."""
    aged: Excerpt | None = None
    """The form of an old result's first step; None: its ends, with our marker."""
    cap: Amount | None = None
    """What is cut off every result before any limit, where `keep` is `excerpt`."""
    page_items: int | None = None
    """An array with more items is shown in pages though it fits, where `keep` is `envelope`."""
    asked_tokens: tuple[str, ...] = ("max_tokens",)
    """Arguments of a call that ask for a limit."""
    asked_lines: tuple[str, ...] = ("max_lines", "chunk_lines")
    """The deprecated ones, counted in lines."""
    tokens_per_line: int = 10
    """What one of those lines is worth."""
    page_arguments: tuple[str, str] = ("page", "pageSize")
    """Arguments of a call that ask for a page of its stored result, and for the page's size."""
    query_arguments: tuple[str, ...] = ("query", "pattern", "q", "search", "regex", "question")
    """Arguments of a call that say what it is after."""
    tools: Mapping[str, ToolRule] = field(default_factory=lambda: MappingProxyType({}))
    classes: Mapping[ToolClass, ToolRule] = field(default_factory=lambda: DEFAULT_CLASSES)

    def __post_init__(self) -> None:
        _check_unit("result", self.result)
        if self.unit != "tokens":
            self._convert_defaults()
        for name in ("tools", "classes"):
            if not isinstance(getattr(self, name), MappingProxyType):
                object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        self._check_amounts()
        self._check_words()
        self._check_numbers()
        self._check_forms()

    @property
    def unit(self) -> Unit:
        """What this policy counts in."""
        return self.result.unit

    @property
    def minimum(self) -> int:
        """The smallest limit in this policy's unit."""
        return MINIMUM[self.unit]

    @property
    def batch_count(self) -> int | None:
        """The batch budget with the share of the window applied; None: no budget."""
        if self.batch is None:
            return None
        if self.window_tokens is None:
            return self.batch.count
        batch = self.batch
        if self.batch_by_window is not None:
            batch = self.batch_by_window.pick(self.window_tokens, batch)
        if self.unit != "tokens":
            return batch.count
        share = int(self.window_tokens * self.batch_window_share)
        return max(min(batch.count, share), self.minimum)

    @property
    def media_count(self) -> int:
        """What an image or another block that passes untouched costs, in this policy's unit."""
        return self.of_tokens(self.media_tokens)

    @property
    def alone_count(self) -> int:
        """What a result that comes alone may be at most, where nobody speaks of its tool."""
        return min(self.result.count, self.batch_count or self.result.count)

    def batch_budget(self, spent: int = 0, used: float | None = None) -> int | None:
        """What the next batch may take, `spent` of the turn and `used` of the window being gone."""
        counts = [] if self.batch_count is None else [self.batch_count]
        if counts and self.scale is not None:
            counts = [int(counts[0] * self.scale.factor(used))]
        if self.turn is not None:
            counts.append(self.turn.count - spent)
        return max(min(counts), self.minimum) if counts else None

    def of_tokens(self, count: int) -> int:
        """So many tokens in this policy's unit."""
        return count if self.unit == "tokens" else count * CHARS_PER_TOKEN

    def class_of(self, tool: str) -> ToolClass | None:
        """The class of a tool: as its rule says, else as its name is known."""
        return self.tools.get(tool, NO_RULE).tool_class or class_of(tool)

    def rule(self, tool: str) -> ToolRule:
        """The rule for a tool: its own, else its class's, else none."""
        own = self.tools.get(tool)
        if own is not None and (own.limit or own.exempt or own.tool_class is None):
            return own
        tool_class = self.class_of(tool)
        return NO_RULE if tool_class is None else self.classes.get(tool_class, NO_RULE)

    def replace(self, **changes: object) -> Policy:
        """A policy that differs in `changes`, checked again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]  # checked at run time by __post_init__

    def _convert_defaults(self) -> None:
        """Say in this policy's unit what was left at its default."""
        defaults = {"batch": DEFAULT_BATCH, "preview": DEFAULT_PREVIEW, "error": DEFAULT_ERROR}
        for name, default in defaults.items():
            if getattr(self, name) is default:
                object.__setattr__(self, name, self._converted(default))
        if self.ageing is DEFAULT_AGEING:
            ageing = dataclasses.replace(
                DEFAULT_AGEING,
                least=self._converted(DEFAULT_AGEING.least),
                head=self._converted(DEFAULT_AGEING.head),
                tail=self._converted(DEFAULT_AGEING.tail),
            )
            object.__setattr__(self, "ageing", ageing)
        if self.classes is DEFAULT_CLASSES:
            classes = {
                name: dataclasses.replace(rule, limit=rule.limit and self._converted(rule.limit))
                for name, rule in DEFAULT_CLASSES.items()
            }
            object.__setattr__(self, "classes", classes)

    def _converted(self, amount: Amount) -> Amount:
        return Amount(self.of_tokens(amount.count), self.unit)

    def _check_amounts(self) -> None:
        for name, amount in self._amounts():
            self._check_amount(name, amount)
        for name, amount in (("ageing.head", self.ageing.head), ("ageing.tail", self.ageing.tail)):
            if amount.unit != self.unit or amount.count < 0:
                raise PolicyError(f"{name} is {amount}, but this policy counts in {self.unit}")

    def _check_words(self) -> None:
        for name, words in WORDS.items():
            given = getattr(self, name)
            if given not in words:
                raise PolicyError(f"{name} is {given!r}; it is one of {', '.join(words)}")
        if len(self.page_arguments) != 2:
            raise PolicyError(
                f"page_arguments is {self.page_arguments!r}; it takes two names: page and page size"
            )
        for tool_class in self.classes:
            if tool_class not in TOOL_CLASSES:
                raise PolicyError(f"class {tool_class!r}; it is one of {', '.join(TOOL_CLASSES)}")

    def _check_numbers(self) -> None:
        if not 0 < self.batch_window_share <= 1:
            raise PolicyError(
                f"batch_window_share is {self.batch_window_share}; it is above 0, at most 1"
            )
        if self.window_tokens is not None and self.window_tokens <= 0:
            raise PolicyError(f"window_tokens is {self.window_tokens}; leave it out if unknown")
        for name, count in (
            ("media_tokens", self.media_tokens),
            ("block_overhead", self.block_overhead),
            ("memory_bytes", self.memory_bytes),
            ("tokens_per_line", self.tokens_per_line),
        ):
            if count < 0:
                raise PolicyError(f"{name} is {count}; it cannot be below 0")
        if self.block_overhead > MINIMUM[self.unit] // 8:
            raise PolicyError(
                f"block_overhead is {self.block_overhead}; "
                f"more than {MINIMUM[self.unit] // 8} leaves the smallest limit no room"
            )
        wait_s = self.store_timeout_s
        if wait_s is not None and not 0 < wait_s <= MOST_WAIT_S:
            raise PolicyError(
                f"store_timeout_s is {wait_s}; it is above 0 and at most {MOST_WAIT_S:,}, or none"
            )

    def _check_forms(self) -> None:
        for name, form in (("excerpt", self.excerpt), ("aged", self.aged)):
            wrong = wrong_field(form) if form is not None else None
            if wrong is not None:
                raise PolicyError(f"{name}: {wrong}")
        if self.marker is not DEFAULT_STYLE and (wrong := wrong_template(self.marker)) is not None:
            raise PolicyError(f"marker: {wrong}")
        if self.counting.dense_extensions and not self.counting.dense_vocab:
            raise PolicyError("counting.dense_extensions want a rule: say counting.dense_vocab")
        if self.page_items is not None and self.page_items < 1:
            raise PolicyError(f"page_items is {self.page_items}; a page has at least one")

    def _amounts(self) -> list[tuple[str, Amount]]:
        named = [("result", self.result), ("preview", self.preview), ("error", self.error)]
        named += [("ageing.least", self.ageing.least)]
        others = (("batch", self.batch), ("turn", self.turn), ("cap", self.cap))
        named += [(name, amount) for name, amount in others if amount is not None]
        if (by := self.batch_by_window) is not None:
            named += [("batch_by_window.small", by.small), ("batch_by_window.large", by.large)]
        rules = {**self.tools, **{f"class {name}": rule for name, rule in self.classes.items()}}
        for name, rule in rules.items():
            if not isinstance(rule, ToolRule):
                raise PolicyError(
                    f"the rule for {name} is {rule!r}; say it as ToolRule(limit=tokens(2_000))"
                )
        named += [
            (f"{what} for {name}", amount)
            for name, rule in rules.items()
            for what, amount in (("limit", rule.limit), ("cap", rule.cap))
            if amount is not None
        ]
        return named

    def _check_amount(self, name: str, amount: Amount) -> None:
        _check_unit(name, amount)
        if amount.unit != self.unit:
            raise PolicyError(f"{name} is {amount}, but this policy counts in {self.unit}")
        if not isinstance(amount.count, int) or isinstance(amount.count, bool):
            raise PolicyError(f"{name} is {amount.count!r}; it takes a whole number of {self.unit}")
        if amount.count > MOST_COUNT:
            raise PolicyError(f"{name} is above {MOST_COUNT:,} {self.unit}; it is no limit then")
        if amount.count < self.minimum:
            raise PolicyError(
                f"{name} is {amount}; the marker alone needs {self.minimum} {self.unit}"
            )


def _check_unit(name: str, amount: object) -> None:
    if not isinstance(amount, Amount):
        raise PolicyError(f"{name} is {amount!r}; say its unit, as in tokens(8_000)")
