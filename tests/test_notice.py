import pytest

from headgate import Policy, tokens
from headgate.notice import notice_of
from headgate.rules import Notice
from headgate.testing import lines, result

TOLD = Notice("{missing_lines} of {lines}", "{missing_lines} of {lines} in {where}", 50_000)
POLICY = Policy(result=tokens(400), notice=TOLD, keep="head_tail")


def verdict_of(gate, text):
    return gate.admit([result("bash", text)])[0].verdict


@pytest.mark.parametrize(
    ("count", "path", "says_where"), [(900, "/f", False), (2_000, "/f", True), (2_000, None, False)]
)
def test_people_are_told_where_a_large_result_is(gate_with, count, path, says_where):
    verdict = verdict_of(gate_with(POLICY), lines(count))

    told = notice_of(verdict, POLICY, path)

    assert told.startswith(f"{count - verdict.after.lines + 1} of {count}")
    assert told.endswith(" in /f") is says_where


def test_a_gate_that_keeps_nothing_names_no_file(gate_with):
    kept, lost = gate_with(POLICY), gate_with(POLICY.replace(spill=False), session="other")
    [shown] = kept.admit([result("bash", lines(2_000))])
    assert kept.notice(shown).endswith(f" in {kept.store.path_for(shown.verdict.ref, 'call_1')}")

    [shown] = lost.admit([result("bash", lines(2_000))])
    assert lost.notice(shown).endswith(" of 2000")


def test_nothing_is_told_of_what_is_whole_or_where_there_are_no_words(gate_with):
    assert notice_of(verdict_of(gate_with(POLICY), "short"), POLICY, "/f") == ""
    assert notice_of(verdict_of(gate_with(POLICY), lines(900)), Policy(), "/f") == ""
