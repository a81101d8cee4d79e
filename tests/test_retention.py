import pytest

from headgate.errors import PolicyError
from headgate.policy_file import policy_from_toml, policy_to_toml
from headgate.retention import EVERYTHING, GIB, Held, Need, Retention, Taken, victims

S = 10**9


def held(ref: str, size: int = 10, used_s: float = 0, *, live: bool = False, session: str = "a"):
    return Held(session, ref, size, int(used_s * S), live)


def going(originals, retention, **more) -> dict[str, str]:
    """What goes, by ref, in the order it goes."""
    found = victims(originals, retention, now_ns=1_000 * S, **{"fixed": {}, **more})
    return {one.ref: why for one, why in found.items()}


@pytest.mark.proves("K4")
def test_what_was_not_used_for_too_long_goes_unless_a_live_history_refers_to_it():
    originals = [
        held("old", used_s=1),
        held("young", used_s=900),
        held("live", used_s=1, live=True),
    ]

    assert going(originals, Retention(age_s=500, free_bytes=None)) == {"old": "age"}


@pytest.mark.proves("K4")
def test_the_oldest_goes_first_and_what_is_live_goes_last():
    retention = Retention(age_s=None, session_bytes=20, free_bytes=None)
    originals = [
        held("live-1", used_s=1, live=True),
        held("live-2", used_s=2, live=True),
        held("new", used_s=900),
        held("old", used_s=5),
    ]

    need = Need("a", 10, 1)
    assert list(going(originals, retention, need=need)) == ["old", "new", "live-1"]
    assert list(going(originals, retention)) == ["old", "new"]
    assert list(going(originals[:3], retention)) == ["new"]


@pytest.mark.proves("K4")
def test_what_is_new_goes_after_what_histories_dropped_and_before_what_is_live():
    retention = Retention(age_s=None, session_count=1, free_bytes=None)
    originals = [
        held("live", used_s=1, live=True),
        Held("a", "new", 10, 2 * S, live=False, new=True),
        held("dropped", used_s=900),
    ]

    assert list(going(originals, retention)) == ["dropped", "new"]
    assert going(originals, Retention(age_s=10), short_bytes=99) == {"dropped": "age"}


@pytest.mark.proves("K4")
def test_a_session_is_held_to_its_bytes_and_its_count_and_no_other_pays_for_it():
    originals = [held(f"a{i}", used_s=i) for i in range(4)]
    originals += [held(f"b{i}", used_s=0, session="b") for i in range(2)]

    by_bytes = Retention(age_s=None, session_bytes=25, free_bytes=None)
    by_count = Retention(age_s=None, session_count=3, free_bytes=None)
    assert going(originals, by_bytes) == {"a0": "session", "a1": "session"}
    assert going(originals, by_count) == {"a0": "session"}


@pytest.mark.proves("K4")
def test_all_sessions_together_are_held_to_the_total():
    originals = [held(f"a{i}", used_s=i) for i in range(3)]
    originals += [held(f"b{i}", used_s=i + 0.5, session="b") for i in range(3)]

    total = Retention(age_s=None, total_bytes=35, free_bytes=None)
    assert list(going(originals, total)) == ["a0", "b0", "a1"]
    count = Retention(age_s=None, total_count=5, free_bytes=None)
    assert going(originals, count, need=Need("a", 1, 1)) == {"a0": "total", "b0": "total"}


@pytest.mark.proves("K4")
def test_for_free_space_alone_nothing_live_goes():
    originals = [held("live", used_s=1, live=True), held("one", used_s=2), held("two", used_s=3)]

    assert going(originals, Retention(age_s=None), short_bytes=15) == {
        "one": "space",
        "two": "space",
    }
    assert going(originals, Retention(age_s=None), short_bytes=5) == {"one": "space"}


def test_what_is_beside_originals_counts_too():
    retention = Retention(age_s=None, session_bytes=30, free_bytes=None)

    assert going([held("a"), held("b", used_s=1)], retention) == {}
    assert going([held("a"), held("b", used_s=1)], retention, fixed={"a": Taken(15)}) == {
        "a": "session"
    }


@pytest.mark.proves("K4")
@pytest.mark.parametrize(("limit", "why"), [("session_count", "session"), ("total_count", "total")])
def test_what_others_are_just_writing_counts_too(limit, why):
    retention = Retention(age_s=None, free_bytes=None, **{limit: 4})
    originals = [held("a", used_s=1), held("b", used_s=2), held("c", used_s=3)]

    assert going(originals, retention, need=Need("a", 10, 1)) == {}
    assert going(originals, retention, need=Need("a", 10, 1), fixed={"a": Taken(10, 1)}) == {
        "a": why
    }


def test_whoever_makes_room_makes_some_more():
    retention = Retention(age_s=None, session_bytes=1_600, free_bytes=None)
    originals = [held(f"{i:03}", used_s=i) for i in range(160)]

    assert len(going(originals, retention, need=Need("a", 10, 1))) == 11
    live = [held(f"{i:03}", used_s=i, live=True) for i in range(160)]
    assert len(going(live, retention, need=Need("a", 10, 1))) == 4


def test_everything_is_kept_where_nothing_is_limited():
    assert going([held("a", size=1 << 60)], EVERYTHING, need=Need("a", 1 << 60, 1)) == {}
    assert EVERYTHING.most_bytes is None


@pytest.mark.proves("K4")
def test_of_one_result_no_more_is_kept_than_the_smallest_limit():
    assert Retention(result_bytes=9, session_bytes=5, total_bytes=7).most_bytes == 5
    assert Retention(result_bytes=3, session_bytes=None).most_bytes == 3


def test_the_floor_is_a_small_part_of_a_small_disk():
    assert Retention().floor_bytes(100 * GIB) == GIB
    assert Retention().floor_bytes(1_000) == 50
    assert Retention(free_bytes=None).floor_bytes(100 * GIB) == 0


def test_a_number_that_keeps_nothing_is_a_policy_error():
    with pytest.raises(PolicyError) as caught:
        Retention(session_bytes=0)
    assert str(caught.value) == "retention.session_bytes is 0; it is at least 1, or none"
    with pytest.raises(PolicyError):
        Retention(age_s=-1)


def test_it_is_a_table_of_a_policy():
    policy = policy_from_toml('[retention]\nage_s = 3600\ntotal_bytes = "none"\n')

    assert policy.retention == Retention(age_s=3_600.0, total_bytes=None)
    assert policy_from_toml(policy_to_toml(policy)) == policy
