import pytest

from headgate import Gate
from headgate.events import LedgerFailed, LedgerRepaired
from headgate.notebook import Notebook


@pytest.fixture
def opened(state):
    def open_notebook(hooks=()):
        return Notebook(Gate(state=state, session="s", hooks=hooks), "notes")

    return open_notebook


def test_what_one_process_writes_another_reads(opened):
    opened().write(lambda others: [b"one", b"two"])

    assert opened().read() == [b"one", b"two"]


def test_who_writes_sees_first_what_others_wrote(opened):
    first, second = opened(), opened()
    first.write(lambda others: [b"one"])

    seen = []
    second.write(lambda others: seen.extend(others) or [b"two"])

    assert seen == [b"one"]
    assert opened().read() == [b"one", b"two"]


def test_what_cannot_be_written_is_decided_once_and_written_later_in_order(opened, state):
    events, decided = [], []
    notebook = opened([events.append])
    state.write_text("a file where a folder should be")
    for record in (b"one", b"two"):
        notebook.write(lambda others, record=record: decided.append(record) or [record])

    assert (decided, notebook.unwritten) == ([b"one", b"two"], [b"one", b"two"])
    assert [type(event) for event in events] == [LedgerFailed]

    state.unlink()
    notebook.write(lambda others: [b"three"])
    assert notebook.unwritten == []
    assert opened().read() == [b"one", b"two", b"three"]


def test_what_cannot_be_read_is_nothing_and_that_is_told(opened, state):
    events = []
    state.write_text("a file where a folder should be")

    assert opened([events.append]).read() == []
    assert [type(event) for event in events] == [LedgerFailed]


def test_a_repair_is_told(opened, state):
    opened().write(lambda others: [b"one"])
    [journal] = state.rglob("notes")
    journal.write_bytes(journal.read_bytes() + b"torn")
    events = []

    assert opened([events.append]).read() == [b"one"]
    assert [type(event) for event in events] == [LedgerRepaired]
