"""A refusal for the time being, as a result that the model can reason about."""

from __future__ import annotations

from dataclasses import replace

from headgate.mcp.result import McpCall
from headgate.mcp.toolgate import text_result
from headgate.mcp.wire import loaded_object
from headgate.registry.answers import rate_limited
from headgate.registry.rate_limit import rate_limit_of
from headgate.types import Call


class RpcFailure(Exception):
    """The error of a JSON-RPC answer; its `data` is what the upstream said, where it said it."""

    def __init__(self, error: bytes) -> None:
        fields = loaded_object(error)
        super().__init__(str(fields.get("message", "")))
        self.code = fields.get("code")
        self.response = fields.get("data")


def limited_result(call: McpCall, failure: BaseException, upstream: str) -> bytes | None:
    """The result of a call that was refused for the time being; None: it failed otherwise."""
    limit = rate_limit_of(failure)
    if limit is None:
        return None
    named = replace(limit, upstream=limit.upstream or upstream)
    return text_result(rate_limited(Call(call.call_id, call.tool), named).text, is_error=True)
