"""Real MCP servers, driven by the official client, with and without the proxy.

And the conformance suite of the protocol's own makers, against a server behind the proxy.
"""

import asyncio
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

CLIENTS = Path(os.environ.get("HEADGATE_CLIENTS", ""))
NPM = CLIENTS / "node_modules" / ".bin"
PYPI = CLIENTS / "py" / "bin"
PYPI_OLD = CLIENTS / "py1" / "bin"  # the SDK of 2025
HEADGATE = str(Path(sys.executable).with_name("headgate"))

LIMIT_TOKENS = 1_000
LONGEST_S = 120


def words(count):
    return "\n".join(f"{i}: the quick brown fox jumps over the lazy dog" for i in range(count))


def filesystem(folder):
    (folder / "small.txt").write_text("one line\n")
    (folder / "large.txt").write_text(words(9_000))
    for i in range(3_000):
        (folder / f"file_{i:04}.txt").touch()
    return (
        [NPM / "mcp-server-filesystem", folder],
        [("read_text_file", {"path": f"{folder}/small.txt"}), ("list_allowed_directories", {})],
        [
            ("read_text_file", {"path": f"{folder}/large.txt"}),
            ("list_directory", {"path": f"{folder}"}),
            ("directory_tree", {"path": f"{folder}"}),
        ],
    )


def everything(folder):
    return (
        [NPM / "mcp-server-everything"],
        [
            ("echo", {"message": "hello"}),
            ("get-sum", {"a": 2, "b": 3}),
            ("get-tiny-image", {}),
            ("get-structured-content", {"location": "New York"}),
            ("get-resource-links", {"count": 3}),
            ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ],
        [("echo", {"message": words(9_000)})],
    )


def memory(folder):
    entities = [
        {"name": f"n{i}", "entityType": "t", "observations": [words(3)]} for i in range(900)
    ]
    return (
        [NPM / "mcp-server-memory"],
        [("read_graph", {})],
        [("create_entities", {"entities": entities}), ("read_graph", {})],
    )


def git(folder):
    def run(*command):
        subprocess.run(["git", "-C", folder, *command], check=True, capture_output=True)

    run("init", "-q")
    run("config", "user.email", "a@example.com")
    run("config", "user.name", "a")
    (folder / "a.txt").write_text(words(2_000))
    run("add", ".")
    run("commit", "-qm", "first")
    (folder / "a.txt").write_text(words(6_000).replace("fox", "ox"))
    return (
        [PYPI / "mcp-server-git", "--repository", folder],
        [("git_status", {"repo_path": f"{folder}"}), ("git_log", {"repo_path": f"{folder}"})],
        [("git_diff_unstaged", {"repo_path": f"{folder}"})],
    )


def sqlite(folder):
    many = ", ".join(f"({i}, 'name {i}')" for i in range(4_000))
    return (
        [PYPI_OLD / "mcp-server-sqlite", "--db-path", folder / "test.db"],
        [
            ("create_table", {"query": "CREATE TABLE IF NOT EXISTS t (id INTEGER, name TEXT)"}),
            ("list_tables", {}),
        ],
        [("write_query", {"query": f"INSERT INTO t VALUES {many}"}),
         ("read_query", {"query": "SELECT * FROM t"})],
    )  # fmt: skip


def timely(folder):
    return (
        [PYPI / "mcp-server-time", "--local-timezone", "UTC"],
        [("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "UTC"})],
        [],
    )


async def talked(command, calls, mode):
    """The tools and the results of some calls."""
    parameters = StdioServerParameters(
        command=str(command[0]), args=[str(word) for word in command[1:]], env=dict(os.environ)
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return tools, [await client.call_tool(name, arguments) for name, arguments in calls]


def plain(result):
    """A result without what a server says of itself."""
    dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    dumped.get("_meta", {}).pop("io.modelcontextprotocol/serverInfo", None)
    return {name: value for name, value in dumped.items() if value != {}}


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def through(command, session):
    limit = str(LIMIT_TOKENS)
    return [HEADGATE, "mcp", "--tokens", limit, "--session", session, "--", *command]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("server", [filesystem, everything, memory, git, sqlite, timely])
def test_small_answers_are_the_same_and_large_ones_bounded(server, mode, state, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    os.environ["MEMORY_FILE_PATH"] = str(tmp_path / "memory.json")
    command, small, large = server(folder)

    async def both():
        direct = await talked(command, small + large, mode)
        Path(os.environ["MEMORY_FILE_PATH"]).unlink(missing_ok=True)
        (folder / "test.db").unlink(missing_ok=True)
        return direct, await talked(through(command, "real"), small + large, mode)

    (told, results), (shown, bounded) = asyncio.run(asyncio.wait_for(both(), LONGEST_S))
    assert list(shown) == [*told, "read_result"]
    for direct, result in zip(results[: len(small)], bounded, strict=False):
        assert plain(result) == plain(direct)
    cut = 0
    for number, (name, _) in enumerate(large, len(small)):
        if "headgate/verdict" in (bounded[number].meta or {}):
            cut += 1
            check_bounded(name, results[number], bounded[number], shown[name])
        else:
            assert plain(bounded[number]) == plain(results[number])
    assert bool(cut) == bool(large)


def check_bounded(name, direct, result, tool):
    """A large answer is within its limit, satisfies its schema, and can be read back whole."""
    from headgate.measure.meters import meter_for

    count = meter_for("o200k", "tokens").count
    assert count(text_of(result)) <= LIMIT_TOKENS, name
    if tool.output_schema:
        jsonschema.validate(result.structured_content, tool.output_schema)
        assert count(json.dumps(result.structured_content)) <= 1.5 * LIMIT_TOKENS
    refs = set(re.findall(r"r_[a-z2-7]{12}", text_of(result)))
    assert refs, name
    raw = [
        subprocess.run(
            [HEADGATE, "read", ref, "--raw", "--session", "real"], capture_output=True, check=True
        ).stdout.decode()
        for ref in refs
    ]
    assert raw == [text_of(direct)]


class BigPage(http.server.BaseHTTPRequestHandler):
    """A page with a long text, and nothing for robots."""

    def do_GET(self):
        is_page = self.path == "/page"
        body = f"<html><body><pre>{words(9_000)}</pre></body></html>".encode() if is_page else b""
        self.send_response(200 if is_page else 404)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BigPage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/page"
    finally:
        server.shutdown()
        server.server_close()


def test_a_fetched_page_is_bounded(state):
    with web() as url:
        calls = [("fetch", {"url": url, "max_length": 400_000, "raw": True})]
        command = [PYPI / "mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"]

        async def both():
            direct = await talked(command, calls, "auto")
            return direct, await talked(through(command, "real"), calls, "auto")

        (_, [direct]), (shown, [result]) = asyncio.run(asyncio.wait_for(both(), LONGEST_S))
    check_bounded("fetch", direct, result, shown["fetch"])


def test_the_conformance_suite_passes_through_the_proxy(state, tmp_path):
    server = Path(__file__).with_name("conformance_server.py")
    command = [HEADGATE, "mcp", "--http", "0", "--", sys.executable, server]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as proxy:
        try:
            url = re.search(r"http://\S+", proxy.stderr.readline())[0]
            done = subprocess.run(
                [NPM / "conformance", "server", "--url", url.replace("127.0.0.1", "localhost")],
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                cwd=tmp_path,
            )
        finally:
            proxy.terminate()
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    assert re.search(r"Total: [1-9]\d* passed, 0 failed", summary), summary


def test_the_typescript_client_accepts_every_shortened_structure(state):
    from tests.proxy import servers

    done = subprocess.run(
        [
            *("node", Path(__file__).with_name("mcp_client.mjs"), CLIENTS / "node_modules"),
            *(HEADGATE, "mcp", "--tokens", "300", "--", sys.executable, servers.__file__),
        ],
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=True,
    )

    told = json.loads(done.stdout)
    assert told["tools"][-1] == "read_result"
    assert told["rows 3"] == {"rows": [0, 1, 2]}
    assert set(told["rows 50000"]) == {"_omitted", "rows"}
    assert told["lines 3"] == servers.lines(3)["structuredContent"]
    assert "of 50,000 lines omitted" in told["lines 50000"]["result"]
