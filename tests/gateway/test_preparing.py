"""Any failure of ours sends the request as it came, and is counted and told."""

import json
import os
import threading
from contextlib import ExitStack

import pytest

from headgate import Gate, Policy, tokens
from headgate.errors import HistoryError
from headgate.gateway.counters import as_json
from headgate.testing import Provider
from tests.gateway.conftest import LOG, body_of, history
from tests.gateway.wire import connected, exchange, request, settled

VERSION = {"anthropic_version": "2023-06-01"}


@pytest.fixture
def asking(gateway_to):
    """Asks through a gateway, and gives what reached the provider."""

    with ExitStack() as stack:

        def start(**serving):
            provider = stack.enter_context(Provider())
            gateway = gateway_to(provider.url, **serving)

            def ask(body):
                assert exchange(gateway.url, request(body, **VERSION)).status == 200
                return provider.requests[-1].body

            return ask, gateway.counters

        yield start


def test_a_fault_of_ours_lets_the_original_through(asking, monkeypatch, caplog):
    def broken(self, body, **options):
        raise ZeroDivisionError("a fault nobody foresaw")

    ask, counters = asking()
    monkeypatch.setattr(Gate, "prepare", broken)

    assert [ask(body_of()), ask(body_of())] == [body_of(), body_of()]
    assert counters.sum("bodies", "failed") == 2
    [told] = [record.getMessage() for record in caplog.records]
    assert told.startswith("ZeroDivisionError while preparing\n  File ")
    assert 'raise ZeroDivisionError("a fault nobody foresaw")' in told


def test_how_long_preparing_took_is_counted(asking):
    ask, counters = asking()

    assert ask(body_of()) != body_of()

    assert as_json(counters)["prepare_seconds"]["count"] == 1


def test_preparing_that_takes_too_long_lets_the_original_through(asking, monkeypatch):
    go = threading.Event()
    real = Gate.prepare

    def slow(self, body, **options):
        assert go.wait(10)
        return real(self, body, **options)

    ask, counters = asking(prepare_timeout_s=1)
    monkeypatch.setattr(Gate, "prepare", slow)

    assert ask(body_of()) == body_of()
    assert counters.sum("bodies", "late") == 1
    assert ask(body_of()) == body_of()
    assert counters.sum("bodies", "busy") == 1
    go.set()
    while ask(body_of()) == body_of():
        pass
    assert counters.sum("bodies", "changed") == 1


def test_a_client_that_leaves_while_its_body_is_prepared_asks_nobody(gateway_to, monkeypatch):
    begun, go = threading.Event(), threading.Event()
    real = Gate.prepare

    def slow(self, body, **options):
        begun.set()
        assert go.wait(10)
        return real(self, body, **options)

    with Provider() as provider:
        gateway = gateway_to(provider.url)
        monkeypatch.setattr(Gate, "prepare", slow)
        with connected(gateway.url) as connection:
            connection.sendall(request(body_of(), **VERSION))
            assert begun.wait(10)
        while not gateway.counters.sum("broken", "client"):
            begun.wait()
        go.set()
        assert exchange(gateway.url, request(body_of(), **VERSION)).status == 200

    assert len(provider.requests) == 1


def test_a_body_that_is_no_history_passes_and_is_no_failure(asking, monkeypatch):
    def none(self, body, **options):
        raise HistoryError("messages: not there")

    ask, counters = asking()
    monkeypatch.setattr(Gate, "prepare", none)

    assert ask(body_of()) == body_of()
    assert counters.sum("bodies", "no_history") == 1
    assert counters.sum("bodies", "failed") == 0


def test_a_store_that_fails_does_not_stop_the_turn(asking, state):
    ask, counters = asking()
    sessions = state / "sessions"
    sessions.mkdir(mode=0o700, exist_ok=True)
    (sessions / "default").write_text("in the way")

    shown = json.loads(ask(body_of()))["messages"][2]["content"][0]["content"]

    assert "not kept" in shown
    assert len(shown) < 3_000
    assert counters.sum("kept_failures", "original") >= 1


def test_a_warm_up_that_fails_leaves_a_gateway_that_passes(gateway_to, monkeypatch, caplog):
    def broken(self, batch, **options):
        raise ZeroDivisionError("no vocabulary")

    monkeypatch.setattr(Gate, "admit", broken)
    with Provider() as provider:
        gateway = gateway_to(provider.url)
        assert exchange(gateway.url, request(body_of(text="short"), **VERSION)).status == 200

    assert "ZeroDivisionError while starting" in caplog.text


def test_a_usage_report_that_cannot_be_learnt_from_disturbs_nobody(asking, monkeypatch, caplog):
    told = threading.Event()

    def broken(self, body, usage, **options):
        told.set()
        raise ZeroDivisionError("no use")

    ask, counters = asking()
    monkeypatch.setattr(Gate, "observe", broken)

    ask(body_of())
    assert told.wait(10)
    ask(body_of())

    assert counters.sum("bodies", "changed") == 2


def test_the_next_request_is_counted_from_what_was_reported(gateway_to, state):
    with Provider("One.", "Two.") as provider:
        gateway = gateway_to(provider.url, policy=Policy(result=tokens(400)))
        exchange(gateway.url, request(body_of(), **VERSION))
        longer = history()
        longer["messages"] += [
            {"role": "assistant", "content": "One."},
            {"role": "user", "content": "And?"},
        ]
        exchange(gateway.url, request(json.dumps(longer).encode(), **VERSION))

    assert settled(gateway).sum("usage_tokens", "input") == sum(
        usage.input_tokens for usage in provider.usages
    )


def test_the_state_folder_that_is_named_is_the_one_that_is_used(asking, state):
    ask, _ = asking()
    ask(body_of())

    [kept] = (state / "sessions" / "default" / "files").iterdir()
    assert kept.read_text() == LOG
    assert kept.stat().st_mode & 0o777 == 0o600


def test_files_can_be_placed_in_a_workspace(asking, tmp_path):
    ask, _ = asking(files=tmp_path / "work" / "results", session="agent 7")

    shown = ask(body_of()).decode()

    [kept] = (tmp_path / "work" / "results").iterdir()
    assert str(kept) in shown
    assert kept.read_text() == LOG
    assert os.listdir(tmp_path / "work") == ["results"]
