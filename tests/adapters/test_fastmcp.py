import asyncio
import json

import httpx2
import jsonschema
import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware.middleware import MiddlewareContext
from pydantic import BaseModel

from headgate import Policy, PolicyError, tokens
from headgate.adapters.fastmcp import Headgate, _caller
from headgate.testing import lines

LONG = "Lorem ipsum dolor sit amet. " * 5_000
RECORDS = [{"id": i, "name": f"record {i}"} for i in range(1_000)]


class Report(BaseModel):
    title: str
    rows: list[int]


def server_with(middleware):
    server = FastMCP("test")
    server.add_middleware(middleware)

    @server.tool
    def text(long: bool) -> str:
        return LONG if long else "short"

    @server.tool
    def list_records() -> list[dict]:
        return RECORDS

    @server.tool
    def keys() -> dict:
        nested = {"tags": [1, 2, 3, 4, 5], "owner": {"id": 1, "name": "a", "email": "b"}}
        return nested | {f"key_{i}": "value " * 20 for i in range(400)}

    @server.tool
    def report(rows: int) -> Report:
        return Report(title="t", rows=list(range(rows)))

    @server.tool
    def own_pages(page: int) -> str:
        return f"page {page} of its own"

    @server.tool
    def limited() -> str:
        asked = httpx2.Request("GET", "https://api.example.com/records?key=s3cret")
        headers = {"Retry-After": "30"}
        httpx2.Response(429, headers=headers, request=asked).raise_for_status()
        return ""

    @server.tool
    def fails(long: bool) -> str:
        raise ValueError(lines(3_000) if long else "no such table")

    return server


def asked(middleware, *calls):
    """The results of some calls through a client, and the tools it was told of."""

    async def main():
        async with Client(server_with(middleware)) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            results = [
                await client.call_tool(name, arguments, raise_on_error=False)
                for name, arguments in calls
            ]
            return results, tools

    return asyncio.run(asyncio.wait_for(main(), 60))


def json_of(result):
    return json.loads(result.content[0].text)


@pytest.fixture
def ours(state):
    return Headgate(Policy(result=tokens(400)), state=state)


@pytest.fixture
def seed(state):
    return Headgate(max_tokens=2000, paginate_after=50, state=state)


def test_a_result_within_its_limit_is_left_alone(ours):
    [text, report], _ = asked(ours, ("text", {"long": False}), ("report", {"rows": 3}))

    assert (text.content[0].text, text.data) == ("short", "short")
    assert report.structured_content == {"title": "t", "rows": [0, 1, 2]}
    assert "headgate/verdict" not in text.meta


def test_a_large_result_is_bounded_valid_and_read_back(ours):
    [shown], tools = asked(ours, ("report", {"rows": 90_000}))

    ref = shown.meta["headgate/verdict"]["ref"]
    jsonschema.validate(shown.structured_content, tools["report"].output_schema)
    assert shown.data.title == "t"
    [back], _ = asked(ours, ("read_result", {"ref": ref, "path": "$.rows[89999]"}))
    assert back.content[0].text.startswith("89999\n")


def test_one_tool_is_added(ours):
    _, tools = asked(ours)
    assert list(tools)[-1] == "read_result"
    assert len(tools) == 8


def test_a_name_clash_is_refused_with_the_way_out(state):
    def read_result() -> str:
        return "mine"

    async def listed(middleware):
        server = server_with(middleware)
        server.tool(read_result)
        async with Client(server) as client:
            return [tool.name for tool in await client.list_tools()]

    with pytest.raises(Exception, match="Headgate\\(reader="):
        asyncio.run(listed(Headgate(state=state)))
    assert asyncio.run(listed(Headgate(state=state, reader="read_rest")))[-1] == "read_rest"


def test_an_error_stays_an_error_and_within_its_limit(ours):
    [short, long], _ = asked(ours, ("fails", {"long": False}), ("fails", {"long": True}))

    assert (short.is_error, long.is_error) == (True, True)
    assert "no such table" in short.content[0].text
    assert "of 3,000 lines omitted" in long.content[0].text


def test_a_string_over_its_budget_becomes_a_preview(seed):
    """ "String over budget"."""
    [result], _ = asked(seed, ("text", {"long": True}))

    shown = json_of(result)
    assert list(shown) == ["truncated", "totalChars", "estimatedTokens", "preview", "note"]
    assert (shown["truncated"], shown["totalChars"], shown["estimatedTokens"]) == (
        True,
        140000,
        35000,
    )
    assert LONG.startswith(shown["preview"])
    assert shown["note"] == (
        "String truncated to ~2000 tokens. Full length: 140000 chars (~35000 tokens)."
    )


def test_an_array_over_its_page_becomes_a_page(seed):
    """ "paginate arrays longer than 50 items"."""
    [result], _ = asked(seed, ("list_records", {}))

    shown = json_of(result)
    assert shown["items"] == RECORDS[:50]
    assert shown["note"] == "Page 1/20. 1000 total items. Pass page=2 for next page."


@pytest.mark.proves("S7")
def test_page_and_page_size_flow_from_the_arguments_of_the_call(seed):
    """ "no server-side pagination code needed"."""
    first, second = ({}, {"page": 2, "pageSize": 20})
    [_, result], _ = asked(seed, ("list_records", first), ("list_records", second))

    shown = json_of(result)
    assert shown == {
        "paginated": True,
        "totalItems": 1000,
        "page": 2,
        "pageSize": 20,
        "totalPages": 50,
        "hasMore": True,
        "items": RECORDS[20:40],
        "note": "Page 2/50. 1000 total items. Pass page=3 for next page.",
    }
    assert result.structured_content["result"] == RECORDS[20:40]


def test_a_tool_with_pages_of_its_own_keeps_them(seed):
    [result], _ = asked(seed, ("own_pages", {"page": 7}))
    assert result.content[0].text == "page 7 of its own"


def test_an_object_over_its_budget_becomes_a_summary(seed):
    """ "Objects exceeding the token budget get a key-level preview"."""
    [result], _ = asked(seed, ("keys", {}))

    shown = json_of(result)
    assert (shown["_summarized"], shown["_totalKeys"]) == (True, 402)
    assert shown["tags"] == "[Array(5)]"
    assert shown["owner"] == "{Object: id, name, email}"
    assert len(shown) - 4 + shown["_truncatedKeys"] == 402


@pytest.mark.proves("R12")
def test_an_upstreams_429_becomes_a_result_to_reason_about(seed):
    """ "not an exception that terminates the agent loop"."""
    [result], _ = asked(seed, ("limited", {}))

    shown = json_of(result)
    assert shown["type"] == "rate_limited"
    assert shown["retryAfterSeconds"] == 30
    assert shown["upstream"] == "api.example.com"


def test_a_policy_and_the_two_numbers_exclude_each_other():
    with pytest.raises(PolicyError):
        Headgate(Policy(), max_tokens=2000)


def test_over_http_callers_are_told_apart_by_their_session(monkeypatch):
    class OverHttp:
        transport = "streamable-http"

    def caller(**headers):
        monkeypatch.setattr(
            "headgate.adapters.fastmcp.get_http_request",
            lambda: httpx2.Request("POST", "http://x", headers=headers),
        )
        return _caller(MiddlewareContext(message=None, fastmcp_context=OverHttp()))

    one, other = caller(**{"mcp-session-id": "a"}), caller(**{"mcp-session-id": "b"})
    assert one != other
    assert len(one) == 12
    assert caller() is None
