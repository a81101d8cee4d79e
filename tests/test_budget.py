import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.budget import even_shares, fair_shares, largest_first

wants = st.lists(st.integers(min_value=0, max_value=100_000), max_size=12)
budgets = st.integers(min_value=0, max_value=200_000)


@pytest.mark.proves("R7")
def test_a_small_result_leaves_its_slack_to_a_large_one():
    assert fair_shares([5_000, 60_000, 5_000], budget=30_000) == [5_000, 20_000, 5_000]


@pytest.mark.proves("R7")
def test_equal_wants_get_equal_shares():
    assert fair_shares([60_000, 60_000, 60_000], budget=30_000) == [10_000, 10_000, 10_000]


@pytest.mark.proves("R7", "P3")
@given(wants, budgets)
def test_fair_shares_never_exceed_the_budget_nor_a_want(wants, budget):
    shares = fair_shares(wants, budget)

    assert sum(shares) <= budget or sum(shares) <= sum(wants) <= budget
    assert all(share <= want for share, want in zip(shares, wants, strict=True))


@pytest.mark.proves("R7")
@given(wants, budgets)
def test_fair_shares_are_max_min_fair(wants, budget):
    shares = fair_shares(wants, budget)
    cut = [share for share, want in zip(shares, wants, strict=True) if share < want]

    # Nobody who was cut got less than anybody else, but for the rounding of one.
    assert all(max(shares) - share <= 1 for share in cut)


@pytest.mark.proves("R7")
def test_even_shares_ignore_what_others_leave():
    assert even_shares([5_000, 60_000, 60_000], budget=80_000) == [5_000, 26_666, 26_666]


@pytest.mark.proves("R7")
def test_even_shares_count_results_that_take_no_part():
    assert even_shares([60_000], budget=80_000, others=3) == [20_000]


@pytest.mark.proves("R7")
def test_the_largest_go_first_until_the_rest_fits():
    shares = largest_first([40_000, 90_000, 80_000, 30_000], budget=120_000, preview=2_000)

    assert shares == [40_000, 2_000, 2_000, 30_000]


@pytest.mark.proves("R7")
def test_nothing_is_spilled_where_all_fits():
    assert largest_first([40_000, 60_000], budget=100_000, preview=2_000) == [40_000, 60_000]


@pytest.mark.proves("R7")
def test_of_two_equals_the_earlier_goes_first():
    assert largest_first([50, 50], budget=60, preview=5) == [5, 50]


@pytest.mark.proves("R7")
def test_a_result_not_larger_than_a_preview_is_left_alone():
    shares = largest_first([900, 5_000, 900], budget=2_800, preview=1_000)

    assert shares == [900, 1_000, 900]


@pytest.mark.proves("R7", "P3")
def test_where_not_even_previews_fit_they_share_the_budget():
    shares = largest_first([9_000, 900, 100, 9_000], budget=1_000, preview=1_000)

    assert shares == [300, 300, 100, 300]
