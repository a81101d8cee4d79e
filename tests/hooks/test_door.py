import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Policy
from headgate.hooks import door
from headgate.hooks.answering import answered
from headgate.toolnames import class_of
from tests.hooks.events import bash, claude_code, codex, gemini, opencode, raw

MAKERS = {
    "claude-code": lambda text: claude_code(bash(text, text[:100])),
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}


@pytest.fixture(scope="module")
def one_state(tmp_path_factory):
    return tmp_path_factory.mktemp("door")


texts = st.one_of(
    st.text(max_size=200),
    st.text("ab c\n\t\r\x1b[#2]é\u202e\U000e0041\x7f", max_size=60),
    st.builds(lambda text, times: text * times, st.text(max_size=8), st.integers(0, 8_000)),
)


@given(texts, st.sampled_from(sorted(MAKERS)))
@settings(max_examples=settings.default.max_examples // 2)
def test_what_the_door_lets_through_no_rule_would_change(one_state, text, name):
    event = raw(MAKERS[name](text))
    if not door.surely_whole(event, {}):
        return
    assert answered(name, event, Policy(), state=one_state) is None


@pytest.mark.parametrize(
    "event",
    [
        claude_code(bash("3 passed in 0.04s")),
        claude_code(bash('one\ntwo\tthree é 漢字 \\ " /')),
        claude_code(bash("x = 1\n" * 1_200)),
        claude_code({"type": "text", "file": {"content": "x = 1\n" * 3_500}}, tool="Read"),
        codex("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nhi\n"),
        gemini("<untrusted_context>\nOutput: hi\n</untrusted_context>"),
        opencode("hi\n"),
    ],
)
def test_a_short_clean_result_passes_without_a_look(event):
    assert door.surely_whole(raw(event), {})


@pytest.mark.parametrize(
    "event",
    [
        claude_code(bash("\x1b[31mred\x1b[0m")),
        claude_code(bash("10%\r20%\r30%")),
        claude_code(bash("user\u202efdp.exe")),
        claude_code(bash("[2 of 3 lines omitted #k7q2]")),
        claude_code(bash("x = 1\n" * 1_400)),
        claude_code(bash("x = 1\n", persistedOutputPath="/home/u/whole.txt")),
        claude_code({"type": "text", "file": {"content": "x = 1\n" * 5_000}}, tool="Read"),
        opencode("x = 1\n" * 700, is_error=True),
        opencode("cut here", whole="/home/u/whole.txt"),
        codex("line 7", tool_input={"command": "sed -n 7p /s/files/r_aaaaaaaaaaaa.txt"}),
        codex("x = 1\n" * 300, tool="mcp__x__y", tool_input={"max_tokens": 200}),
        codex("x = 1\n" * 300, tool="mcp__x__y", tool_input={"chunk_lines": 9}),
    ],
)
def test_what_may_be_changed_gets_a_proper_look(event):
    assert not door.surely_whole(raw(event), {})


def test_bytes_that_are_no_event_get_a_proper_look():
    assert not door.surely_whole(b"\xff", {})
    assert not door.surely_whole(b"x" * 5_000, {})
    assert not door.surely_whole(b"[" * 40_000, {})


@pytest.mark.parametrize("name", ["HEADGATE_PRESET", "HEADGATE_POLICY", "HEADGATE_RESULT"])
def test_another_policy_gets_a_proper_look(name):
    small = raw(claude_code(bash("hi")))

    assert door.surely_whole(small, {"HEADGATE_STATE_DIR": "/s", "HEADGATE_DEBUG": "1"})
    assert not door.surely_whole(small, {name: "4000"})


def test_the_numbers_of_the_door_are_those_of_the_default_policy():
    policy = Policy()

    assert policy.result.count == door.RESULT_BYTES
    assert policy.error.count == door.ERROR_BYTES
    assert policy.block_overhead == door.OVERHEAD
    limit = policy.classes["read"].limit
    assert limit is not None
    assert limit.count == door.READ_BYTES
    assert {class_of(tool) for tool in door.READERS} == {"read"}
    asked = (*policy.asked_tokens, *policy.asked_lines)
    assert tuple(f'"{name}"'.encode() for name in asked) == door.ASKED
