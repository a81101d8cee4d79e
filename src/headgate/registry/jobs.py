"""What is to be done for each call of a batch, decided before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headgate.errors import StoreError
from headgate.gate import Gate
from headgate.registry.answers import failed, in_words, unknown
from headgate.registry.arguments import BadArguments, arguments_of, bind
from headgate.registry.context import Context
from headgate.registry.pages import Pages, gates_own, read_page
from headgate.registry.tool import Tool
from headgate.shape.pages import Page
from headgate.tool import NAME as READ_RESULT
from headgate.types import NOTHING, Call, Ref, Text, ToolResult


@dataclass(frozen=True, slots=True)
class Job:
    """One call on its way to its answer."""

    call: Call
    arguments: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    tool: Tool | None = None
    """None: the call is answered from the store, or there is no such tool."""
    act: Callable[[Context], object] | None = None
    """Gives the result, or something to await; None: `answer` says it all."""
    answer: ToolResult | None = None
    page: Page | None = None
    """The page to show of what the tool gives."""
    promised: int | None = None


def jobs_for(
    calls: Sequence[Call],
    tools: Mapping[str, Tool],
    gate: Gate,
    pages: Pages,
    answered: Mapping[str, ToolResult],
) -> list[Job]:
    """Decide for each call whether it runs, reads what is kept, or is answered as it is."""
    jobs = [_read(call, answered.get(call.call_id)) for call in calls]
    shares = gate.shares([_stub(job, tools) for job in jobs])
    ready = [replace(job, promised=share) for job, share in zip(jobs, shares, strict=True)]
    return [_decided(job, tools, gate, pages) if job.answer is None else job for job in ready]


def turned(job: Job, result: ToolResult, gate: Gate) -> tuple[ToolResult, Ref | None]:
    """The page that was asked for, in place of a result, and where its whole is kept."""
    if job.page is None or result.is_error:
        return result, None
    ref = gate.keep(result)
    return (result, None) if ref is None else (_page_of(gate, ref, job), ref)


def _read(call: Call, answer: ToolResult | None) -> Job:
    try:
        arguments = arguments_of(call.arguments)
    except BadArguments as error:
        return Job(call, answer=answer or failed(call, f"{call.tool} was not run: {error}"))
    if answer is not None:
        answer = replace(answer, call_id=call.call_id, tool=call.tool, arguments=arguments)
    return Job(call, arguments, answer=answer)


def _stub(job: Job, tools: Mapping[str, Tool]) -> ToolResult:
    """The result as far as its limit depends on it."""
    tool = tools.get(job.call.tool)
    declared = tool.limit if tool else None
    return ToolResult(
        job.call.call_id, job.call.tool, (), arguments=job.arguments, declared=declared
    )


def _decided(job: Job, tools: Mapping[str, Tool], gate: Gate, pages: Pages) -> Job:
    call = job.call
    if call.tool == READ_RESULT:
        return replace(job, act=lambda context: _kept(job, gate))
    tool = tools.get(call.tool)
    if tool is None:
        names = sorted([*tools, READ_RESULT])
        return replace(job, answer=failed(call, unknown(call, names), job.arguments))
    job = replace(job, tool=tool, page=pages.asked(tool, job.arguments))
    return _paged(job, gate, pages) or _run(job, tool, gate)


def _kept(job: Job, gate: Gate) -> ToolResult:
    return gate.read_result(job.call.call_id, job.arguments, tokens=job.promised)


def _paged(job: Job, gate: Gate, pages: Pages) -> Job | None:
    """A page of what is kept; None where none is asked for, or nothing is kept."""
    if job.page is None or job.tool is None:
        return None
    found = pages.find(job.tool, job.arguments)
    if found is None:
        return None
    ref = gate.keep(found) if isinstance(found, ToolResult) else found
    if ref is None or not _is_there(gate, ref):
        return None
    return replace(job, tool=None, page=None, act=lambda context: _page_of(gate, ref, job))


def _is_there(gate: Gate, ref: Ref) -> bool:
    try:
        gate.read(ref, {"bytes": "0-0"})
    except StoreError:
        return False
    return True


def _page_of(gate: Gate, ref: Ref, job: Job) -> ToolResult:
    assert job.page is not None
    text = Text(read_page(gate, ref, job.page, job.promised))
    call = job.call
    return ToolResult(call.call_id, call.tool, (text,), arguments=job.arguments, origin="store")


def _run(job: Job, tool: Tool, gate: Gate) -> Job:
    try:
        bound = bind(job.arguments, tool.signature, gates_own(gate.policy))
    except BadArguments as error:
        said = f"{tool.name} was not run: {error}"
        return replace(job, answer=failed(job.call, said, job.arguments))
    except Exception as error:  # noqa: BLE001  # a type of the tool's checks its values in its own way
        said = f"{tool.name} was not run: {in_words(error)}"
        return replace(job, answer=failed(job.call, said, job.arguments))

    def act(context: Context) -> object:
        name = tool.signature.context
        named = {**bound.named, name: context} if name else bound.named
        return tool.function(*bound.positional, **named)

    return replace(job, act=act)
