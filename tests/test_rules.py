import pytest

from headgate import Policy, PolicyError, chars, tokens
from headgate.rules import BatchByWindow, CountRule, Notice, Told


@pytest.mark.parametrize(
    ("window", "budget"), [(20_000, 8_000), (20_001, 80_000), (499_999, 80_000), (500_000, 200_000)]
)
def test_a_batch_has_another_budget_for_the_smallest_and_the_largest_windows(window, budget):
    by_window = BatchByWindow(20_000, chars(8_000), 500_000, chars(200_000))
    policy = Policy(result=chars(9_000), batch=chars(80_000), batch_by_window=by_window)

    assert policy.replace(window_tokens=window).batch_count == budget
    assert policy.batch_count == 80_000


def test_in_tokens_the_share_of_the_window_holds_beside_it():
    by_window = BatchByWindow(20_000, tokens(900), 500_000, tokens(90_000))
    policy = Policy(batch=tokens(50_000), batch_by_window=by_window, window_tokens=600_000)

    assert policy.batch_count == 60_000


def test_a_budget_for_windows_counts_in_the_policys_unit():
    with pytest.raises(PolicyError, match=r"batch_by_window.small is 900 tokens, but"):
        Policy(
            result=chars(9_000),
            batch_by_window=BatchByWindow(1, tokens(900), 2, chars(9_000)),
        )


def test_dense_files_want_a_rule():
    with pytest.raises(PolicyError, match=r"say counting\.dense_vocab"):
        Policy(counting=CountRule(dense_extensions=("json",)))


def test_a_notice_is_filled_with_what_people_may_be_told():
    notice = Notice("{kilobytes}KB, {lines} lines, {missing_lines} missing, ~{half}, {where}")

    assert notice.fill(notice.form, Told(5_120, 9, 3, 12_500, "/f")) == (
        "5KB, 9 lines, 3 missing, ~12.5k, /f"
    )
    halves = {300: "300", 499.5: "500", 4_000: "4k", 12_500: "12.5k", 16_666.5: "16.7k"}
    assert {half: notice.fill("{half}", Told(half=half)) for half in halves} == halves
    assert notice.fill("{missing}", Told(missing_lines=3, missing_chars=50)) == "3 lines"
    assert notice.fill("{missing}", Told(missing_chars=50)) == "about 50 chars"


@pytest.mark.parametrize("form", ["{size}", "{lines.up}", "{lines:q}", "{", "{0}"])
def test_a_notice_with_a_field_that_is_not_there_is_refused(form):
    with pytest.raises(PolicyError, match="notice: "):
        Notice(form_where=form)
