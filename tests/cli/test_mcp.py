import asyncio
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from headgate import HeadgateError
from headgate.cli.mcp import header, main
from tests.cli.conftest import PROGRAM, command
from tests.proxy import servers

SERVER = ["--", sys.executable, servers.__file__]


def hello(number=0):
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"sampling": {}},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def call(number, name, **arguments):
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def spoken(headgate, *words, messages=(), server=SERVER, **more):
    """What the proxy answers to some messages, by id, and how it ended."""
    stdin = "".join(json.dumps(m) + "\n" for m in [hello(), *messages])
    done = headgate("mcp", *words, *server, stdin=stdin.encode(), timeout=60, **more)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["id"]: answer for answer in answers}, done


def send(proxy, message):
    proxy.stdin.write(json.dumps(message).encode() + b"\n")
    proxy.stdin.flush()


def text(answer):
    return answer["result"]["content"][0]["text"]


def test_results_are_bounded_valid_and_can_be_read_back(headgate, monkeypatch):
    monkeypatch.setenv("SERVER_TOKEN", "s3cret")
    listing = {"jsonrpc": "2.0", "id": "tools", "method": "tools/list"}
    answers, done = spoken(
        headgate,
        *("--tokens", "1000"),
        messages=[
            listing,
            call("large", "lines", n=5_000),
            call("small", "lines", n=2),
            call("rows", "rows", n=90_000),
            call("environment", "environment"),
        ],
        server=[*SERVER, "plain", "--tokens", "7"],
    )
    assert (done.returncode, done.stderr) == (0, b"")

    tools = {tool["name"]: tool for tool in answers["tools"]["result"]["tools"]}
    assert list(tools) == [*(tool["name"] for tool in servers.TOOLS), "read_result"]
    assert "of 5,000 lines omitted" in text(answers["large"])
    shown = answers["large"]["result"]
    assert shown["structuredContent"] == {"result": text(answers["large"])}
    assert answers["small"]["result"] == servers.lines(2)
    structured = answers["rows"]["result"]["structuredContent"]
    assert 0 < len(structured["rows"]) < 90_000
    jsonschema.validate(structured, tools["rows"]["outputSchema"])
    jsonschema.validate(shown["structuredContent"], tools["lines"]["outputSchema"])
    seen = json.loads(text(answers["environment"]))
    assert (seen["argv"], seen["SERVER_TOKEN"]) == (["plain", "--tokens", "7"], "s3cret")

    ref = shown["_meta"]["headgate/verdict"]["ref"]
    server = [*SERVER, "plain", "--tokens", "7"]
    asking = [call(1, "read_result", ref=ref, lines="4000-4001")]
    answers, _ = spoken(headgate, messages=asking, server=server)
    assert text(answers[1]).startswith("line 4000 of the log\nline 4001 of the log\n")
    elsewhere, _ = spoken(headgate, messages=asking)
    assert "no result" in text(elsewhere[1])


@pytest.mark.proves("P24")
def test_a_crash_of_the_server_answers_every_open_request(headgate):
    calls = [call(1, "hang"), call("b", "lines")]
    with subprocess.Popen(
        command("mcp", *SERVER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=headgate.folder
    ) as proxy:
        send(proxy, hello())
        assert json.loads(proxy.stdout.readline())["id"] == 0
        for message in calls:
            send(proxy, message)
        [child] = Path(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read_text().split()
        subprocess.run(["kill", "-9", child], check=True)
        answers = {m["id"]: m for m in map(json.loads, proxy.stdout)}
        assert proxy.wait(20) == 137
    assert set(answers) == {1, "b"}
    assert all(answer["result"]["isError"] for answer in answers.values())
    assert "was ended by SIGKILL before it answered" in text(answers[1])


def test_a_name_clash_refuses_to_start_with_the_way_out(headgate):
    answers, done = spoken(headgate, server=[*SERVER, "clash"])

    assert done.returncode == 2
    assert "--reader NAME" in answers[0]["error"]["message"]
    assert done.stderr.decode().startswith("headgate: python")
    assert "--reader NAME" in done.stderr.decode()
    answers, done = spoken(headgate, "--reader", "rest", server=[*SERVER, "clash"])
    assert (done.returncode, "result" in answers[0]) == (0, True)


def test_what_is_denied_is_refused_to_the_server(headgate):
    answers, _ = spoken(headgate, "--deny", "sampling", messages=[call(1, "ask")])
    assert "denied" in text(answers[1])


def test_a_session_that_is_named_is_read_by_the_command_too(headgate):
    named = ["--session", "s", "--tokens", "300"]
    answers, _ = spoken(headgate, *named, messages=[call(1, "lines", n=5_000)])

    ref = answers[1]["result"]["_meta"]["headgate/verdict"]["ref"]
    assert headgate("read", ref, "--session", "s", "--lines", "7").stdout.startswith(b"line 7 of")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "say which server"),
        (["uvx", "mcp-server-git"], "say which server, as in headgate mcp -- uvx mcp-server-git"),
        (["--nope", "--", "y"], "unrecognized arguments: --nope"),
        (["--url", "http://x", "--", "y"], "say which server"),
        (["--reader", "a b", "--", "x"], "it takes 1 to 64 letters"),
        (["--deny", "tools", "--", "x"], "there is sampling, elicitation, roots"),
        (["--header", "nonsense", "--url", "http://x"], "it takes 'NAME: VALUE'"),
        (
            ["--header", "A: $NOT_THERE", "--url", "http://x"],
            "$NOT_THERE is not in the environment",
        ),
        (["--url", "example.com/mcp"], "it takes http(s)://HOST[:PORT][/PATH]"),
        (["--url", "ftp://example.com"], "it takes http(s)://HOST[:PORT][/PATH]"),
        (["--url", "http://[::1"], "it takes http(s)://HOST[:PORT][/PATH]"),
        (["--url", "http://:80/"], "it takes http(s)://HOST[:PORT][/PATH]"),
        (["--http", "port", "--", "x"], "it takes a port"),
        (["--http", "0.0.0.0:0", "--", "x"], "set HEADGATE_TOKEN"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_starts(state, words, says):
    with pytest.raises(HeadgateError) as refused:
        main(words)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--", "/no/such/server"], "headgate: server: no such file or directory\n"),
        (["--preset", "none", "--", "true"], "headgate: no preset 'none'; there is default"),
    ],
)
def test_what_cannot_run_says_why_in_one_line(headgate, words, says):
    done = headgate("mcp", *words)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(says)
    assert done.stderr.count(b"\n") == 1


CORE_ONLY = """
import sys

for name in ("docstring_parser", "fastmcp", "httpx2", "mcp", "mcp_types", "pydantic", "uvicorn"):
    sys.modules[name] = None
from headgate.cli import main

sys.exit(main(sys.argv[1:]))
"""


def test_on_stdio_it_needs_the_core_alone_and_over_http_names_the_extra(headgate):
    def run(*words, **more):
        command = [sys.executable, "-c", CORE_ONLY, "mcp", *words]
        return subprocess.run(command, capture_output=True, timeout=60, cwd=headgate.folder, **more)

    messages = [hello(), call(1, "lines", n=9_000, page=2)]
    spoken = run(*SERVER, input="".join(json.dumps(m) + "\n" for m in messages).encode())
    assert b"page 2 of 45, lines 201-400 of 9,000 shown" in spoken.stdout
    refused = run("--url", "http://127.0.0.1:9/mcp")
    assert refused.returncode == 2
    assert refused.stderr.endswith(b"of the extra: pip install 'headgate[mcp]'\n")


def test_a_header_takes_its_secret_from_the_environment(monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cret")
    assert header("Authorization: Bearer $TOKEN") == ("Authorization", "Bearer s3cret")


def test_a_client_of_the_sdk_speaks_through_it_with_all_it_has(headgate, state):
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp_types import ElicitResult

    server = [sys.executable, str(Path(servers.__file__).with_name("sdk_server.py"))]
    parameters = StdioServerParameters(
        command=PROGRAM,
        args=["mcp", "--tokens", "400", "--", *server],
        env={"HEADGATE_STATE_DIR": str(state)},
    )

    async def story():
        progress = []

        async def noted(done, total, message):
            progress.append((done, total, message))

        async def asked(context, params):
            return ElicitResult(action="accept", content={"word": f"to {params.message}"})

        async with Client(stdio_client(parameters), elicitation_callback=asked) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["report", "slow", "ask", "read_result"]
            large = await client.call_tool("report", {"rows": 9_000})
            jsonschema.validate(large.structured_content, tools["report"].output_schema)
            small = await client.call_tool("report", {"rows": 1})
            assert small.structured_content == {"rows": [{"id": 0}], "title": "t"}
            await client.call_tool("slow", {}, progress_callback=noted)
            told = await client.call_tool("ask", {})
            prompts = (await client.list_prompts()).prompts
            resource = (await client.read_resource("notes://one")).contents[0].text
            ref = large.meta["headgate/verdict"]["ref"]
            back = await client.call_tool("read_result", {"ref": ref, "path": "$.rows[8999]"})
            return (
                client.protocol_version,
                progress,
                told.content[0].text,
                [prompt.name for prompt in prompts],
                resource,
                back.content[0].text.splitlines()[0],
            )

    assert asyncio.run(asyncio.wait_for(story(), 60)) == (
        "2026-07-28",
        [(1.0, 2.0, "half"), (2.0, 2.0, "done")],
        "to which word?",
        ["greet"],
        "a note",
        '{"id":8999}',
    )
