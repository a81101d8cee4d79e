import pytest

from headgate.history.repeats import Base, Bases, Repeated, repeated, target_of
from headgate.measure.meters import meter_for
from headgate.testing import lines, result

METER = meter_for("o200k", "tokens")
TEXT = lines(80).encode()
BASE = Base("c1", "Read", "a.py", TEXT)


@pytest.mark.proves("H13")
def test_the_same_text_is_referred_to_by_its_newest_base():
    other = Base("c2", "grep", "", TEXT)

    assert repeated(TEXT, "", Bases([BASE, other]), METER) == Repeated(
        "[the same as the result of c2 above (grep), unchanged]", "c2"
    )


@pytest.mark.proves("H13")
def test_a_small_text_is_not_worth_a_reference():
    assert repeated(b"short", "", Bases([Base("c1", "grep", "", b"short")]), METER) is None


@pytest.mark.proves("H13")
def test_a_difference_is_shown_only_where_it_is_smaller():
    changed = lines(80, n1="x").encode()
    all_new = TEXT.replace(b"fine", b"bad")

    assert repeated(changed, "a.py", Bases([BASE]), METER).text.endswith(
        "+x\n 10:00:02 INFO worker 2 is fine\n 10:00:03 INFO worker 3 is fine"
    )
    assert repeated(all_new, "a.py", Bases([BASE]), METER) is None


@pytest.mark.proves("H13")
def test_another_file_is_no_base_for_a_difference():
    changed = lines(80, n1="x").encode()

    assert repeated(changed, "b.py", Bases([BASE]), METER) is None
    assert repeated(changed, "", Bases([BASE]), METER) is None


def test_what_a_call_reads_is_its_file_and_the_part_of_it():
    whole = result("Read", "x", arguments={"file_path": "a.py"})
    part = result("Read", "x", arguments={"path": "a.py", "offset": 10})

    assert (target_of(whole), target_of(part)) == ("a.py", "a.py offset=10")
    assert target_of(result("bash", "x", arguments={"command": "ls"})) == ""
