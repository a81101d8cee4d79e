from pathlib import Path

import headgate.hooks
from headgate.hooks import opencode
from headgate.hooks.heard import Heard, Shown
from tests.hooks import events

PLUGIN = Path(headgate.hooks.__file__).with_name("opencode.js")


def test_what_the_plugin_tells_is_heard(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")

    assert opencode.hear(events.opencode("out", is_error=True, whole="/data/whole")) == Heard(
        session="ses_e224c5d62ffeDIy6CkIzwbUUOl",
        call_id="call_01",
        tool="bash",
        arguments={"command": "make", "description": "build"},
        texts={(): "out"},
        is_error=True,
        whole=Path("/data/whole"),
        files=Path("/data/opencode/tool-output/headgate/ses_e224c5d62ffeDIy6CkIzwbUUOl"),
    )


def test_a_session_of_any_name_has_its_files_in_the_same_place(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")

    for session in ("../../../etc", "a/b", "", "x" * 300):
        heard = opencode.hear(events.opencode("out", session_id=session))
        assert heard is not None
        assert heard.files is not None
        assert heard.files.parent == Path("/data/opencode/tool-output/headgate")
        assert len(heard.files.name) < 200


def test_a_write_and_an_empty_result_are_none_of_ours():
    assert opencode.hear(events.opencode("done", tool="edit")) is None
    assert opencode.hear(events.opencode("")) is None


def test_the_answer_is_the_text():
    event = events.opencode("long")
    heard = opencode.hear(event)
    assert heard is not None
    assert opencode.answer(event, Shown({(): "short"}, heard)) == {"output": "short"}
