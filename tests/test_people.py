import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Gate, Policy, ToolResult, tokens
from headgate.errors import PolicyError
from headgate.people import for_people, view_of
from headgate.policy_file import policy_from_toml
from headgate.testing import BadStore
from headgate.types import KINDS
from headgate.view import View
from headgate.visible import show_hidden

LOG = "".join(f"{i} INFO step {i}\n" for i in range(1, 101))
WHERE = "the whole is in /x"


@pytest.mark.proves("R16")
def test_thirty_lines_are_shown_from_both_ends_and_where_the_whole_is():
    lines = for_people(LOG, View(), kind="log", where=WHERE).split("\n")

    assert lines[0] == "1 INFO step 1"
    assert lines[19:22] == ["20 INFO step 20", "… 70 lines …", "91 INFO step 91"]
    assert lines[-2:] == ["100 INFO step 100", "(the whole is in /x)"]
    assert len(lines) == 32


@pytest.mark.proves("R16")
@pytest.mark.parametrize("kind", ["code", "diff"])
def test_five_hundred_lines_of_code_and_of_differences_are_shown_from_the_start(kind):
    text = "".join(f"line {i}\n" for i in range(1, 701))

    lines = for_people(text, View(), kind=kind, where=WHERE).split("\n")

    assert lines[499:] == ["line 500", "… 200 lines …", "(the whole is in /x)"]


@pytest.mark.proves("R16")
def test_a_line_is_cut_at_a_hundred_and_fifty_characters():
    cut, end = for_people("x" * 1_000, View(), kind="prose", where=WHERE).split("\n")

    assert cut == "x" * 144 + "… +850"
    assert len(cut) == 150
    assert end == "(the whole is in /x)"


@pytest.mark.proves("R16")
def test_what_is_short_is_shown_as_it_is():
    assert for_people("one\ntwo\n", View(), where=WHERE) == "one\ntwo"
    assert for_people("", View(), where=WHERE) == ""


@pytest.mark.proves("R16")
def test_the_numbers_are_a_policy_s():
    policy = policy_from_toml("[view]\nlines = 4\nline_chars = 20\n")

    assert policy.view == View(lines=4, line_chars=20)
    assert for_people(LOG, policy.view, kind="log").split("\n") == [
        "1 INFO step 1",
        "2 INFO step 2",
        "3 INFO step 3",
        "… 96 lines …",
        "100 INFO step 100",
        "(there is more)",
    ]
    with pytest.raises(PolicyError, match=r"view\.lines is 0; it is at least 1"):
        View(lines=0)


@pytest.mark.proves("R16")
def test_people_and_the_model_do_not_share_limits(state):
    text = "".join(f"{i} INFO step {i} of the build\n" for i in range(3_000))
    seen = []
    for view in (View(), View(lines=1, line_chars=10, code_lines=1, diff_lines=1)):
        gate = Gate(Policy(result=tokens(500), view=view), state=state, session="s")
        [shown] = gate.admit([ToolResult.of("bash", text, call_id="call_1")])
        gate.view(shown)
        seen.append(shown.text)

    assert seen[0] == seen[1]


@pytest.mark.proves("R16")
def test_a_person_is_told_where_the_whole_of_a_result_is(state):
    gate = Gate(Policy(result=tokens(500)), state=state, session="my agent")
    text = "".join(f"{i} INFO step {i} of the build\n" for i in range(3_000))
    big, small = gate.admit(
        [
            ToolResult.of("bash", text, call_id="call_1"),
            ToolResult.of("bash", "fine", call_id="call_2"),
        ]
    )
    file = gate.store.about(big.verdict.ref).file

    assert gate.view(big).endswith(f"\n(3,000 lines; the whole is in {file})")
    assert gate.view(small) == "fine"
    assert view_of(big, View(), session="my agent").endswith(
        f"(3,000 lines; headgate read {big.verdict.ref} --session 'my agent' shows the whole)"
    )
    assert view_of(big, View(), session="default").endswith(
        f"(3,000 lines; headgate read {big.verdict.ref} shows the whole)"
    )


@pytest.mark.parametrize("store", [BadStore(most_bytes=1 << 20), BadStore()], ids=["own", "full"])
def test_nobody_is_sent_to_a_command_that_does_not_find_it(state, store):
    gate = Gate(Policy(result=tokens(500)), state=state, store=store)

    [big] = gate.admit([ToolResult.of("bash", LOG * 30, call_id="call_1")])

    assert gate.view(big).endswith(f"\n(3,000 lines; the whole is kept as {big.verdict.ref})")


@pytest.mark.proves("R16")
def test_what_no_gate_has_seen_can_be_shown_too():
    raw = ToolResult.of("bash", LOG, call_id="call_1")

    assert view_of(raw, View()).endswith("\n100 INFO step 100\n(the model has the whole)")


@pytest.mark.proves("R16", "P18")
@given(
    text=st.text(st.characters(codec=None), max_size=400) | st.text("ab\n\x1b[31m\t\r\u202e"),
    kind=st.sampled_from([None, *KINDS]),
    lines=st.integers(1, 9),
    chars=st.integers(10, 40),
)
def test_no_view_is_larger_than_its_limits_and_nothing_in_it_is_live(text, kind, lines, chars):
    view = View(line_chars=chars, lines=lines, code_lines=lines, diff_lines=lines)

    shown = for_people(text, view, kind=kind, where="there").split("\n")

    assert len(shown) <= lines + 2
    assert all(len(line) <= max(chars, 30) for line in shown)
    assert all(show_hidden(line) == line for line in shown)
    "\n".join(shown).encode()
