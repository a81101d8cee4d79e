import asyncio
import functools
import math

import pytest

from headgate import DeclarationError, Tool, ToolRule, tokens


def grep(pattern: str) -> str:
    """Finds lines."""


async def fetch(url: str) -> str: ...


class Search:
    """Finds anything."""

    async def __call__(self, pattern: str) -> str: ...


def pieces():
    yield "a"


async def async_pieces():
    yield "a"


def test_a_function_is_declared_with_its_name_and_docstring():
    tool = Tool.of(grep)

    assert (tool.name, tool.description) == ("grep", "Finds lines.")
    assert tool.schema["required"] == ["pattern"]
    assert (tool.limit, tool.exempt, tool.tool_class, tool.timeout_s) == (None, False, None, None)


def test_name_and_description_can_be_others():
    tool = Tool.of(grep, name="search-code", description="Finds code.")

    assert (tool.name, tool.description) == ("search-code", "Finds code.")


@pytest.mark.parametrize(
    ("function", "name", "is_async"),
    [
        (grep, "grep", False),
        (fetch, "fetch", True),
        (functools.partial(fetch, url="x"), "fetch", True),
        (Search(), "Search", True),
        (Search().__call__, "__call__", True),
    ],
)
def test_what_is_to_be_awaited_is_known_beforehand(function, name, is_async):
    tool = Tool.of(function)

    assert (tool.name, tool.is_async) == (name, is_async)


@pytest.mark.proves("G1")
def test_what_a_policy_has_to_know_is_exemption_and_class():
    assert Tool.of(grep, limit=tokens(500)).rule is None
    assert Tool.of(grep, exempt=True).rule == ToolRule(exempt=True)
    assert Tool.of(grep, limit=tokens(500), tool_class="search").rule == ToolRule(
        limit=tokens(500), tool_class="search"
    )


def test_what_writes_runs_alone_unless_it_says_otherwise():
    alone = {
        "edit_file": Tool.of(grep, name="edit_file").alone,
        "by its class": Tool.of(grep, tool_class="write").alone,
        "as it says": Tool.of(grep, name="edit_file", alone=False).alone,
        "grep": Tool.of(grep).alone,
    }

    assert alone == {"edit_file": True, "by its class": True, "as it says": False, "grep": False}


@pytest.mark.parametrize(
    ("function", "options", "why"),
    [
        (grep, {"name": "find it"}, "a tool cannot be called 'find it'"),
        (grep, {"name": "x" * 65}, "providers take"),
        (lambda: 1, {}, "a tool cannot be called '<lambda>'"),
        (grep, {"timeout_s": 0}, "timeout_s of 'grep' is 0; it is above 0"),
        (grep, {"timeout_s": math.nan}, "timeout_s of 'grep' is nan"),
        (pieces, {}, "'pieces' yields; a tool returns its result"),
        (async_pieces, {}, "'async_pieces' yields"),
    ],
)
def test_what_cannot_be_a_tool_is_refused(function, options, why):
    with pytest.raises(DeclarationError, match=why):
        Tool.of(function, **options)


def test_a_tool_without_end_may_say_so():
    assert Tool.of(grep, timeout_s=math.inf).timeout_s == math.inf


def test_an_async_tool_is_still_the_function_it_was():
    assert asyncio.run(Tool.of(fetch).function("x")) is None
