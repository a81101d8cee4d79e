"""The real program: it listens, agrees with its like, and ends in good order."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest

from headgate.cli import main
from headgate.cli.gateway import parser, serving_for
from headgate.presets import preset
from headgate.testing import Provider
from tests.cli.conftest import PROGRAM
from tests.gateway.conftest import LOG, body_of
from tests.gateway.wire import connected, exchange, read_message, request

LONGEST_S = 20
VERSION = {"anthropic_version": "2023-06-01"}


@contextmanager
def gateway(*words):
    """The program, its two addresses, and its end."""
    running = subprocess.Popen(
        [PROGRAM, "gateway", "--port", "0", "--admin-port", "0", "--json", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        told = json.loads(running.stdout.readline() or "{}")
        yield running, told.get("url"), told.get("admin_url")
    finally:
        if running.poll() is None:
            running.terminate()
        running.communicate(timeout=LONGEST_S)


def stats(admin_url, page="stats.json"):
    with urllib.request.urlopen(f"{admin_url}/{page}") as answer:
        return json.load(answer)


def until(holds):
    """Wait for what another process is about to do."""
    end = time.monotonic() + LONGEST_S
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.02)


def test_a_result_is_shortened_and_read_back_with_the_command(headgate):
    with Provider() as provider, gateway("--upstream", f"anthropic={provider.url}") as (_, url, _a):
        assert exchange(url, request(body_of(text=LOG * 2), **VERSION)).status == 200

    shown = provider.requests[0].json["messages"][2]["content"][0]["content"]
    ref = re.search(r"(r_\w+)\.txt", shown)[1]
    assert headgate("read", ref, "--raw").stdout == (LOG * 2).encode()
    assert b"fate     spilled" in headgate("explain", "toolu_1").stdout


def test_the_flags_are_what_is_served(state, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADGATE_SESSION", "s7")
    monkeypatch.chdir(tmp_path)
    words = "--preset claude_code --files f --max-body 7 --allow-host GW --no-admin --port 1"
    more = ["--upstream", "openai=http://h/", "--allow-origin", "https://A.example"]

    serving = serving_for(parser().parse_args([*words.split(), *more]))

    assert serving.policy == preset("claude_code")
    assert (serving.session, serving.files, serving.port) == ("s7", tmp_path / "f", 1)
    assert serving.most_body_bytes == 7 * 1024 * 1024
    assert serving.admin_port is None
    assert serving.entry.hosts == {"localhost", "127.0.0.1", "::1", "gw"}
    assert serving.entry.origins == {"https://a.example"}
    assert [one.url for one in serving.upstreams] == [
        "https://api.anthropic.com",
        "http://h",
        "https://generativelanguage.googleapis.com",
    ]


@pytest.mark.proves("P13")
def test_many_workers_on_one_state_folder_agree(headgate):
    with (
        Provider() as provider,
        gateway("--upstream", f"anthropic={provider.url}", "--workers", "2") as (_, url, admin),
    ):
        until(lambda: stats(admin, "healthz")["workers"] == {"alive": 2, "wanted": 2})
        for _ in range(4):
            with connected(url) as first, connected(url) as second, connected(url) as third:
                for one in (first, second, third):
                    one.sendall(request(body_of(), **VERSION))
                for one in (first, second, third):
                    assert read_message(one).status == 200
        until(lambda: stats(admin)["in_flight"] == 0)
        told = stats(admin)

    assert len({asked.body for asked in provider.requests}) == 1
    assert told["bodies"]["changed"] == 12


def workers_of(running):
    """The processes that a parent has started."""
    with open(f"/proc/{running.pid}/task/{running.pid}/children") as children:
        return set(children.read().split())


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_that_dies_is_replaced_and_all_end_with_their_parent(headgate):
    with Provider() as provider:
        words = ("--passthrough", "--upstream", f"anthropic={provider.url}", "--workers", "2")
        with gateway(*words) as (running, url, admin):
            until(lambda: len(workers_of(running)) == 2)
            before = workers_of(running)
            os.kill(int(min(before)), signal.SIGKILL)
            until(lambda: len(workers_of(running) - before) == 1)
            assert exchange(url, request(body_of(), **VERSION)).status == 200
            assert stats(admin, "healthz")["status"] == "ok"
            left = workers_of(running)
            running.kill()
            until(lambda: not any(map(is_there, left)))


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGINT, "1"), (signal.SIGTERM, "2")])
def test_a_signal_ends_it_in_good_order(headgate, number, workers):
    with gateway("--passthrough", "--workers", workers) as (running, url, _admin):
        assert exchange(url, request(method="GET", path="/")).status == 200
        running.send_signal(number)
        assert running.wait(LONGEST_S) == 0


def test_it_says_where_it_listens(headgate):
    running = subprocess.Popen(
        [PROGRAM, "gateway", "--port", "0", "--no-admin", "--passthrough"],
        stderr=subprocess.PIPE,
        text=True,
    )
    line = running.stderr.readline()
    running.terminate()
    running.communicate(timeout=LONGEST_S)

    url = r"http://127\.0\.0\.1:\d+"
    assert re.fullmatch(
        rf"headgate: listening on {url}; ANTHROPIC_BASE_URL={url} OPENAI_BASE_URL={url}/v1\n", line
    )


def test_passthrough_can_be_switched_on_from_outside(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_PASSTHROUGH", "1")
    with Provider() as provider, gateway("--upstream", f"anthropic={provider.url}") as (_, url, at):
        exchange(url, request(body_of(), **VERSION))
        assert stats(at, "healthz")["passthrough"]

    assert provider.requests[0].body == body_of()


def test_beyond_loopback_a_token_is_asked_for(headgate, tmp_path):
    path = tmp_path / "token"
    words = ("--passthrough", "--host", "0.0.0.0", "--token-file", str(path), "--upstream")
    with Provider() as provider, gateway(*words, f"anthropic={provider.url}") as (_, url, _admin):
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert exchange(url, request(body_of(), **VERSION)).status == 401
        token = path.read_text().strip()
        assert exchange(url, request(body_of(), x_headgate_token=token, **VERSION)).status == 200
        in_path = request(body_of(), f"/token/{token}/v1/messages", **VERSION)
        assert exchange(url, in_path).status == 200

    assert all("x-headgate-token" not in asked.headers for asked in provider.requests)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--host", "0.0.0.0"], "host '0.0.0.0' can be reached by others; give a token"),
        (["--upstream", "openai"], "upstream 'openai'; it takes NAME=URL"),
        (["--upstream", "openai=http://127.0.0.1:8787"], "this gateway"),
        (["--port", "70000"], "--port: '70000'; it takes a port from 0 to 65,535"),
        (["--workers", "0"], "--workers: '0'; it takes a whole number from 1"),
        (["--preset", "none"], "no preset 'none'"),
        (["--token-file", "/no/such/folder/token"], "the token"),
        (["--host", "no.such.host.example", "--token-file", "t"], "cannot listen"),
    ],
)
def test_what_makes_no_sense_is_one_clear_line(state, capfd, monkeypatch, tmp_path, words, says):
    monkeypatch.chdir(tmp_path)

    assert main(["gateway", *words]) == 2
    told = capfd.readouterr()
    assert says in told.err
    assert (told.err.count("\n"), told.out) == (1, "")


def test_a_port_that_is_taken_is_one_clear_line(state, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["gateway", "--port", str(port), "--no-admin"]) == 2

    assert capfd.readouterr().err == (
        f"headgate: cannot listen on port {port} of 127.0.0.1: address already in use\n"
    )


def test_the_help_shows_how_it_is_used(capfd):
    with pytest.raises(SystemExit):
        main(["gateway", "--help"])
    page = capfd.readouterr().out

    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude" in page
    assert page.startswith(
        "usage: headgate gateway [--port 8787] [--upstream NAME=URL] [--preset P] [--passthrough]"
    )
