import stat
from pathlib import Path

import pytest

from headgate.hooks import gemini
from headgate.hooks.heard import Heard, Shown
from tests.hooks import events
from tests.hooks.events import SESSION

WRAPPED = "<untrusted_context>\nOutput: x\n{}Process Group PGID: 7\n</untrusted_context>"


def heard(event) -> Heard:
    found = gemini.hear(event)
    assert found is not None
    return found


def test_what_goes_to_the_model_is_heard_and_not_what_is_displayed():
    assert heard(events.gemini(WRAPPED.format(""))) == Heard(
        session=SESSION,
        call_id="",
        tool="run_shell_command",
        arguments={"command": "make", "description": "build"},
        texts={(): WRAPPED.format("")},
        files=Path("/home/u/.gemini/tmp/work/headgate"),
    )


@pytest.mark.parametrize(
    ("code", "failed"), [("Exit Code: 3\n", True), ("Exit Code: 0\n", False), ("", False)]
)
def test_a_failing_command_is_told_by_its_exit_code(code, failed):
    assert heard(events.gemini(WRAPPED.format(code))).is_error is failed


def test_an_answer_that_was_asked_for_and_media_are_let_through():
    assert gemini.hear(events.gemini("x", original_request_name="run_shell_command")) is None
    assert gemini.hear(events.gemini([{"inlineData": {"data": "AAAA"}}])) is None
    assert gemini.hear(events.gemini("x", tool="write_file")) is None


def test_read_file_is_asked_for_the_text_so_that_it_is_no_error(tmp_path):
    event = events.gemini("x", home=tmp_path)

    answer = gemini.answer(event, Shown({(): "short\nand clear"}, heard(event)))

    request = answer["hookSpecificOutput"]["tailToolCallRequest"]
    assert request["name"] == "read_file"
    file = Path(request["args"]["file_path"])
    assert file.parent == tmp_path / ".gemini/tmp/work/headgate"
    assert file.read_text() == "short\nand clear"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["x\n" * 2_000, "y" * 2_000])
def test_a_text_that_read_file_would_cut_is_the_reason_of_a_denial(tmp_path, text):
    event = events.gemini("x", home=tmp_path)

    answer = gemini.answer(event, Shown({(): text}, heard(event)))

    assert answer == {"decision": "deny", "reason": text}
