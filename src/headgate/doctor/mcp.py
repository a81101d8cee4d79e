"""MCP servers behind the proxy: each is started as it is configured, and a large result is sent
through the same proxy from a stand-in for the server, since no real one can be asked for one.

The result is read back with the tool that the proxy adds, to the last byte.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from headgate.doctor.check import Check, arrived, big_text
from headgate.doctor.hooks import MOST_TOKENS
from headgate.doctor.stand_in import TOOL
from headgate.doctor.talk import Talk, talk
from headgate.errors import RequestError
from headgate.install import jsonc, toml
from headgate.install.plan import Site
from headgate.install.servers import Behind, behind
from headgate.install.written import Record
from headgate.refs import REF_PATTERN
from headgate.tool import NAME

READ_LINES = 256
"""Asked for at once; half as many, and half again, where they do not fit."""


def checks(client: str, record: Record, site: Site) -> list[Check]:
    """Look at the files in which servers were put behind the proxy, and use what stands there."""
    found: list[Check] = []
    servers: list[Behind] = []
    for kept in record.changes:
        path = Path(kept.path)
        try:
            there = list(_servers(path, site))
        except RequestError as error:
            found.append(Check(client, "mcp", "configured", False, f"{path}: {error}"))
            continue
        names = ", ".join(server.name for server in there)
        says = f"{path} {f'starts {names} through' if there else 'has no server behind'} headgate"
        found.append(Check(client, "mcp", "configured", bool(there), says))
        servers += there
    return found + asyncio.run(_used(client, servers, site))


def _servers(path: Path, site: Site) -> Iterator[Behind]:
    text = site.read(path) or ""
    return behind(toml.load(text) if path.suffix == ".toml" else jsonc.load(text))


async def _used(client: str, servers: Sequence[Behind], site: Site) -> list[Check]:
    found = [await _started(client, server, site) for server in servers]
    # Servers are wrapped alike: one round trip for each way in which they are.
    for words in dict.fromkeys(server.proxy for server in servers):
        found += await _round_trip(client, words, site)
    return found


async def _started(client: str, server: Behind, site: Site) -> Check:
    """Start a server as the CLI does, and see which tools it offers."""
    try:
        async with talk(server.words, {**site.environ, **server.environ}) as opened:
            tools = await opened.tools()
    except (RequestError, ValueError) as error:
        return Check(client, "mcp", "starts", False, f"{server.name}: {error}")
    reader = _told(server.proxy, "--reader") or NAME
    has = "with" if reader in tools else "without"
    says = f"{server.name} offers {len(tools)} tools, {has} {reader}"
    return Check(client, "mcp", "starts", reader in tools, says)


async def _round_trip(client: str, words: Sequence[str], site: Site) -> list[Check]:
    session, sent = f"doctor-{secrets.token_hex(6)}", big_text()
    stand_in = [sys.executable, "-m", "headgate.doctor.stand_in"]
    try:
        async with talk([*words, "--session", session, "--", *stand_in], site.environ) as opened:
            text = await opened.call(TOOL)
            most_tokens = int(_told(words, "--tokens") or MOST_TOKENS)
            found = arrived(client, "mcp", text, sent, most_tokens)
            if len(found) > 1:
                found.append(Check(client, "mcp", "read back", *await _read_back(opened, text)))
            return found
    except (RequestError, ValueError) as error:
        return [Check(client, "mcp", "answers", False, f"{' '.join(words)}: {error}")]
    finally:
        shutil.rmtree(site.sessions / session, ignore_errors=True)


async def _read_back(opened: Talk, text: str) -> tuple[bool, str]:
    """Read all of what was sent with the tool that was added."""
    added = [tool for tool in await opened.tools() if tool != TOOL]
    ref = REF_PATTERN.search(text)
    if ref is None or len(added) != 1:
        return False, f"tools that were added: {added}; what arrived begins {text[:200]!r}"
    lines, at, step = big_text().splitlines(), 0, READ_LINES
    while at < len(lines):
        wanted = lines[at : at + step]
        answer = await opened.call(added[0], ref=ref[0], lines=f"{at + 1}-{at + len(wanted)}")
        if "\n".join(wanted) in answer:
            at += len(wanted)
        elif step == 1:
            return False, f"line {at + 1} of {ref[0]} reads {answer[:200]!r}"
        else:
            step //= 2
    return True, f"{added[0]} gives back every line of {len(lines):,}"


def _told(words: Sequence[str], option: str) -> str:
    return dict(pairwise(words)).get(option, "")
