"""A gateway that starts, that cannot, and that ends."""

import socket

import pytest

from headgate.errors import HeadgateError, StoreError
from headgate.gateway import Running, Serving
from headgate.gateway.app import Gateway
from headgate.gateway.server import CannotListen


@pytest.fixture
def serving(state):
    return Serving(port=0, admin_port=0, state=state, passthrough=True)


def test_it_listens_as_soon_as_it_is_entered_and_no_longer_when_it_is_left(serving):
    with Running(serving) as gateway:
        host, port = gateway.url.removeprefix("http://").split(":")
        socket.create_connection((host, int(port)), 5).close()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 5)


def test_a_port_that_is_taken_is_told(state):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port} of 127.0.0.1"):
            Running(Serving(port=port, state=state)).__enter__()


def test_an_application_that_does_not_start_is_told(serving, monkeypatch):
    def broken(self, *_):
        raise ZeroDivisionError("no client")

    monkeypatch.setattr("headgate.gateway.app.UpstreamClient", broken)

    with pytest.raises(HeadgateError, match="could not start"):
        Running(serving).__enter__()


def test_a_state_folder_that_makes_no_sense_is_told_before_it_listens(monkeypatch, state):
    monkeypatch.setenv("HEADGATE_STATE_DIR", "not/from/the/root")

    with pytest.raises(StoreError, match="give the whole path"):
        Gateway(Serving(port=0))


def test_stopping_twice_is_stopping(serving):
    with Running(serving) as gateway:
        gateway.stop()
        gateway.stop()
    gateway.stop()
