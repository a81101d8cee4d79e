import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.ageing import NO_EPOCH, Ageing, Epoch, Old, Use, epoch, size_after
from headgate.economy import ANTHROPIC, Prices, binds_thinking, pays, prices_of
from headgate.errors import PolicyError

DEFAULT = Ageing()
BY_TURNS = Ageing(high=None, turns=(2, 4), keep_last=0, weigh=False)


def old(size=2_000, turns=1, tool_class="search", step=0, message=0, is_bound=False) -> Old:
    return Old(message, turns, tool_class, size, step, is_bound)


def use(used=10_000, window=100_000, sizes=(10_000,), requests=10, is_cold=False) -> Use:
    return Use(used, window, sizes, requests, is_cold, ANTHROPIC)


@pytest.mark.proves("H9")
def test_nothing_ages_while_there_is_room():
    assert epoch([old()] * 20, use(used=74_999), DEFAULT) == NO_EPOCH


@pytest.mark.proves("H9", "H10")
def test_pressure_ages_the_oldest_gently_down_to_the_low_mark():
    results = [old(size=5_500, message=i) for i in range(20)]

    aged = epoch(results, use(used=80_000), DEFAULT)

    # 30,000 must go; each of the oldest frees 5,000.
    assert aged == Epoch(tuple((i, 1) for i in range(6)), "the window is filling up")


@pytest.mark.proves("H9")
def test_pressure_clears_to_one_line_where_the_gentle_step_is_not_enough():
    results = [old(size=3_060, message=i) for i in range(14)]

    aged = epoch(results, use(used=80_000), DEFAULT)

    assert aged.moves == tuple((i, 2) for i in range(10))


@pytest.mark.proves("H9")
def test_the_newest_results_do_not_age():
    results = [old(size=50_000, message=i) for i in range(6)]

    assert [i for i, _ in epoch(results, use(used=99_000), DEFAULT).moves] == [0]
    assert epoch(results[:4], use(used=99_000), DEFAULT).moves == ()


@pytest.mark.proves("H9")
@pytest.mark.parametrize("tool_class", ["write", "exec", "pinned"])
def test_writes_executions_and_pinned_results_never_age(tool_class):
    results = [old(size=50_000, tool_class=tool_class)] * 10

    assert epoch(results, use(used=99_000), DEFAULT).moves == ()


@pytest.mark.proves("H9")
def test_small_results_do_not_age():
    assert epoch([old(size=499)] * 10, use(used=99_000), DEFAULT).moves == ()


@pytest.mark.proves("H9")
def test_what_has_aged_does_not_age_by_the_same_step_again():
    results = [old(size=501, step=1, turns=3)] * 3

    assert epoch(results, use(), BY_TURNS) == NO_EPOCH


@pytest.mark.proves("H9")
def test_turns_age_in_two_steps():
    results = [old(turns=n) for n in (6, 4, 3, 2, 1, 0)]

    aged = epoch(results, use(), BY_TURNS)

    assert aged == Epoch(((0, 2), (1, 2), (2, 1), (3, 1)), "results are old")


@pytest.mark.proves("H9")
def test_a_cold_cache_ages_only_where_the_policy_says_so():
    results = [old(size=20_000, message=i) for i in range(10)]
    cold = use(used=70_000, is_cold=True)

    assert epoch(results, cold, DEFAULT) == NO_EPOCH
    assert epoch(results, cold, Ageing(idle=True)).why == "the cache is cold"


@pytest.mark.proves("H10")
def test_an_epoch_that_nothing_forces_must_pay():
    weighed = Ageing(high=None, turns=(2, 4), keep_last=0)
    results = [old(size=2_000, turns=2, message=1)]
    long_suffix = use(sizes=[1_000, 2_000, *[5_000] * 20], requests=10)
    short_suffix = use(sizes=[1_000, 2_000, 100], requests=30)

    assert epoch(results, long_suffix, weighed) == NO_EPOCH
    assert epoch(results, short_suffix, weighed).moves == ((0, 1),)


@pytest.mark.proves("H10")
def test_nothing_ages_before_a_bound_thinking_block_unless_told():
    results = [old(size=50_000, is_bound=True)] * 10

    assert epoch(results, use(used=99_000), DEFAULT).moves == ()
    assert epoch(results, use(used=99_000), Ageing(under_thinking=True)).moves != ()


olds = st.lists(
    st.builds(
        old,
        size=st.integers(0, 30_000),
        turns=st.integers(0, 9),
        step=st.sampled_from([0, 1, 2]),
        tool_class=st.sampled_from(["search", "exec", "read", None]),
    ),
    max_size=30,
)


@pytest.mark.proves("H9")
@given(olds, st.integers(0, 300_000), st.booleans())
def test_a_result_only_moves_down_and_an_epoch_never_grows_a_history(results, used, by_turns):
    ageing = BY_TURNS if by_turns else DEFAULT

    for place, step in epoch(results, use(used=used), ageing).moves:
        assert step > results[place].step
        assert size_after(step, results[place].size, ageing) <= results[place].size


@pytest.mark.proves("H10")
def test_the_sum_behind_an_epoch():
    assert pays(removed=10_000, suffix=8_000, requests=10, prices=ANTHROPIC)
    assert not pays(removed=10_000, suffix=9_000, requests=10, prices=ANTHROPIC)
    assert pays(removed=1, suffix=10_000, requests=1, prices=Prices(write=0.1, read=0.1))


def test_prices_are_data_by_dialect():
    assert prices_of("anthropic") == prices_of("something new") == Prices(1.25, 0.1)
    assert prices_of("openai-chat").write == 1.0


@pytest.mark.parametrize(
    ("model", "binds"),
    [
        ("claude-fable-5-1-20261001", True),
        ("us.anthropic.claude-fable-5-1", True),
        ("anthropic/claude-mythos-5.1", True),
        ("claude-opus-5", False),
        ("", False),
    ],
)
def test_models_that_bind_their_thinking_are_known(model, binds):
    assert binds_thinking(model) is binds


@pytest.mark.proves("H9")
def test_what_has_aged_once_goes_on_though_it_is_small_now():
    assert epoch([old(size=90, turns=4, step=1)], use(), BY_TURNS).moves == ((0, 2),)
    assert epoch([old(size=90, turns=4)], use(), BY_TURNS) == NO_EPOCH


PAYING = Ageing(high=None, pays_from_tokens=1_000, keep_last=0)


@pytest.mark.proves("H10")
def test_an_epoch_opens_as_soon_as_it_pays():
    # 1,940 tokens read 40 times at a tenth, against 3,060 written again.
    often = use(used=5_000, sizes=(2_000, 3_000), requests=40)

    assert epoch([old()], often, PAYING) == Epoch(((0, 2),), "it pays")


@pytest.mark.proves("H10")
def test_no_epoch_opens_before_it_pays_or_in_a_small_history():
    assert epoch([old()], use(used=5_000, sizes=(2_000, 3_000), requests=10), PAYING) == NO_EPOCH
    assert epoch([old()], use(used=999, sizes=(2_000, 3_000), requests=40), PAYING) == NO_EPOCH


@pytest.mark.proves("H10")
def test_what_nobody_has_cached_costs_nothing_to_change():
    cold = use(used=5_000, sizes=(2_000, 3_000), requests=1, is_cold=True)

    assert epoch([old()], cold, PAYING) == Epoch(((0, 2),), "it pays")


@pytest.mark.parametrize(
    ("ageing", "words"),
    [
        ({"high": 1.5}, "ageing.high is 1.5; it is a share, from 0 to 1"),
        ({"low": float("nan")}, "ageing.low is nan; it is a share, from 0 to 1"),
        ({"turns": (2,)}, "ageing.turns is (2,); it takes two, as in [2, 4]"),
        ({"turns": (4, 2)}, "ageing.turns is (4, 2); it takes two, as in [2, 4]"),
        ({"turns": (0, 2)}, "ageing.turns is (0, 2); it takes two, as in [2, 4]"),
        ({"keep_last": -1}, "ageing.keep_last is -1; it cannot be below 0"),
        ({"pays_from_tokens": -1}, "ageing.pays_from_tokens is -1; it cannot be below 0"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_written(ageing, words):
    with pytest.raises(PolicyError) as raised:
        Ageing(**ageing)

    assert str(raised.value) == words
