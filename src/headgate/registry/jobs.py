"""What is to be done for each call of a batch, decided before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.errors import StoreError
from headgate.gate import Gate
from headgate.registry.answers import failed, unknown
from headgate.registry.arguments import BadArguments, arguments_of, bind
from headgate.registry.context import Context
from headgate.registry.pages import Pages, read_page
from headgate.registry.tool import Tool
from headgate.registry.wording import in_words
from headgate.shape.pages import Page
from headgate.tool import NAME as READ_RESULT
from headgate.types import NOTHING, Amount, Call, Ref, Text, ToolResult


@dataclass(frozen=True, slots=True)
class Job:
    """One call on its way to its answer."""

    call: Call
    arguments: Mapping[str, object]
    promised: int | None
    """What its result may be and go in whole."""
    answer: ToolResult | None = None
    """What is known without running anything."""
    act: Callable[[Context], object] | None = None
    """Gives the result, or something to await; None: there is an answer."""
    tool: Tool | None = None
    """None: the call is answered, or reads what is kept."""
    page: Page | None = None
    """The page to show of what the tool gives."""
    like: int | None = None
    """The earlier call of the batch that this one shows another page of."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """Decides what calls come to in one session."""

    tools: Mapping[str, Tool]
    gate: Gate
    pages: Pages

    def of(self, calls: Sequence[Call], answered: Mapping[str, ToolResult]) -> list[Job]:
        """For each call: run its tool, read what is kept, or answer it as it is."""
        read = [_arguments(call) for call in calls]
        shares = self._shares(calls, [given for given, _ in read])
        jobs: list[Job] = []
        for call, (given, complaint), share in zip(calls, read, shares, strict=True):
            known = answered.get(call.call_id)
            if known is not None:
                answer = replace(known, call_id=call.call_id, tool=call.tool, arguments=given)
                jobs.append(Job(call, given, share, answer))
            elif complaint:
                jobs.append(_refused(call, given, share, complaint))
            else:
                jobs.append(self._job(call, given, share))
        return jobs

    def _shares(
        self, calls: Sequence[Call], arguments: Sequence[Mapping[str, object]]
    ) -> list[int | None]:
        # Alone, a result has nobody to share with; its share is then only for who asks.
        if len(calls) == 1 and not self._asks(calls[0], arguments[0]):
            return [None]
        stubs = [self._stub(call, given) for call, given in zip(calls, arguments, strict=True)]
        return self.gate.shares(stubs)

    def _asks(self, call: Call, arguments: Mapping[str, object]) -> bool:
        tool = self.tools.get(call.tool)
        if tool is None:
            return False
        return tool.signature.context is not None or self.pages.asked(tool, arguments) is not None

    def _stub(self, call: Call, arguments: Mapping[str, object]) -> ToolResult:
        """The result as far as its limit depends on it."""
        declared = self.declared(call.tool)
        return ToolResult(call.call_id, call.tool, (), arguments=arguments, declared=declared)

    def declared(self, name: str) -> Amount | None:
        """The limit a tool declares; where the policy has one for it, that holds."""
        rule, tool = self.gate.policy.tools.get(name), self.tools.get(name)
        return None if tool is None or (rule is not None and rule.limit) else tool.limit

    def _job(self, call: Call, arguments: Mapping[str, object], share: int | None) -> Job:
        if call.tool == READ_RESULT:
            return self._reading(call, arguments, share)
        tool = self.tools.get(call.tool)
        if tool is None:
            said = unknown(call, sorted([*self.tools, READ_RESULT]))
            return Job(call, arguments, share, failed(call, said, arguments))
        page = self.pages.asked(tool, arguments)
        try:
            act = _act(tool, arguments, self.pages.ours)
        except BadArguments as error:
            return _refused(call, arguments, share, str(error))
        except Exception as error:  # noqa: BLE001  # a type may check its values in its own way
            return _refused(call, arguments, share, in_words(error))
        return Job(call, arguments, share, None, act, tool, page)

    def _reading(self, call: Call, arguments: Mapping[str, object], share: int | None) -> Job:
        def read(context: Context) -> ToolResult:
            return self.gate.read_result(call.call_id, arguments, tokens=share)

        return Job(call, arguments, share, None, read)

    def settled(self, jobs: Sequence[Job]) -> list[Job]:
        """Calls for a page of what is kept, or of what another call brings, run no tool.

        This looks into the store, so it is not for the thread of an event loop.
        """
        settled: list[Job] = []
        first: dict[bytes, int] = {}
        for number, job in enumerate(jobs):
            if job.tool is None:
                settled.append(job)
                continue
            key = self.pages.key(job.tool, job.arguments)
            if job.page and key in first:
                settled.append(replace(job, act=None, like=first[key]))
                continue
            ref = self._kept(job.tool, job.arguments) if job.page else None
            if ref is not None:
                settled.append(self._paging(job, ref))
                continue
            first.setdefault(key, number)
            settled.append(job)
        return settled

    def _paging(self, job: Job, ref: Ref) -> Job:
        def read(context: Context) -> ToolResult:
            return page_of(self.gate, ref, job)

        return Job(job.call, job.arguments, job.promised, None, read)

    def _kept(self, tool: Tool, arguments: Mapping[str, object]) -> Ref | None:
        """The last result of the same call, if it can still be read."""
        found = self.pages.find(tool, arguments)
        if isinstance(found, ToolResult):
            return self.gate.keep(found)
        try:
            return found if found is not None and self.gate.read(found, FIRST_BYTE) else None
        except StoreError:
            return None


FIRST_BYTE: Mapping[str, object] = {"bytes": "0-0"}


def turned(job: Job, result: ToolResult, gate: Gate) -> tuple[ToolResult, Ref | None]:
    """The page that was asked for, in place of a result, and where its whole is kept."""
    if job.page is None or result.is_error:
        return result, None
    ref = gate.keep(result)
    try:
        return (result, None) if ref is None else (page_of(gate, ref, job), ref)
    except StoreError:
        # It was kept and cannot be read: then the result is shown as any other.
        return result, ref


def page_of(gate: Gate, ref: Ref, job: Job) -> ToolResult:
    """The page that a call asks for, of a result that is kept."""
    assert job.page is not None
    text = Text(read_page(gate, ref, job.page, job.promised))
    call = job.call
    return ToolResult(call.call_id, call.tool, (text,), arguments=job.arguments, origin="store")


def _arguments(call: Call) -> tuple[Mapping[str, object], str]:
    try:
        return arguments_of(call.arguments), ""
    except BadArguments as error:
        return NOTHING, str(error)


def _refused(call: Call, arguments: Mapping[str, object], share: int | None, why: str) -> Job:
    return Job(call, arguments, share, failed(call, f"{call.tool} was not run: {why}", arguments))


def _act(
    tool: Tool, arguments: Mapping[str, object], ours: frozenset[str]
) -> Callable[[Context], object]:
    bound = bind(arguments, tool.signature, ours)
    name = tool.signature.context

    def act(context: Context) -> object:
        named = {**bound.named, name: context} if name else bound.named
        return tool.function(*bound.positional, **named)

    return act
