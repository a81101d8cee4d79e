"""Stores that ask a clock which is set by hand."""

import pytest

from headgate.retention import Retention
from headgate.spill.local import LocalStore
from tests.spill.housing import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_store(tmp_path, clock):
    def opened(session="s", **limits) -> LocalStore:
        retention = Retention(**{"age_s": None, "free_bytes": None, **limits})
        return LocalStore(tmp_path / "state", session, retention=retention, clock=clock)

    return opened
