import json
import random

import pytest

from headgate.shape.items import items_of, lines_of
from headgate.shape.odd import odd_items

JOBS = [
    {
        "id": number,
        "name": f"job {number}",
        "status": "ok",
        "took_ms": 100 + number % 7,
        "error": None,
        "actions": ["no-op"],
    }
    for number in range(300)
]


def odd(values: list, **style) -> list[int]:
    found = odd_items(items_of(json.dumps(values, **style).encode()))
    return sorted(found, key=lambda number: (-found[number], number))


def with_changes(changes: dict[int, dict], values: list[dict] = JOBS) -> list[dict]:
    return [{**value, **changes.get(number, {})} for number, value in enumerate(values)]


def test_nothing_stands_out_among_equals():
    assert odd(JOBS) == []


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    "change",
    [
        {"status": "failed"},
        {"status": "pending"},
        {"actions": ["update"]},
        {"error": "disk full"},
        {"error": {"code": 7}},
        {"took_ms": 90_000},
        {"took_ms": None},
        {"name": None},
        {"retries": 3},
    ],
    ids=str,
)
def test_an_item_unlike_the_others_stands_out(change):
    assert odd(with_changes({123: change})) == [123]


def test_an_item_that_lacks_what_all_others_have_stands_out():
    jobs = with_changes({})
    del jobs[50]["error"]

    assert odd(jobs) == [50]


def test_a_field_inside_a_field_counts_too():
    wrapped = [{"id": job["id"], "result": {"state": "done", "n": 5}} for job in JOBS]
    wrapped[40]["result"]["state"] = "stuck"

    assert odd(wrapped) == [40]


def test_what_differs_in_more_ways_comes_first():
    changes = {10: {"status": "failed"}, 200: {"status": "failed", "error": "boom"}}

    assert odd(with_changes(changes)) == [200, 10]


def test_a_filled_list_among_empty_ones_stands_out():
    values = [{"id": number, "failures": []} for number in range(100)]
    values[60]["failures"] = ["t1"]

    assert odd(values) == [60]


def test_two_halves_do_not_stand_out_from_each_other():
    assert odd([{"id": n, "kind": "a" if n % 2 else "b"} for n in range(100)]) == []


def test_numbers_and_plain_items_are_compared_too():
    assert odd([*range(100), 10**9, *range(100)]) == [100]
    assert odd(["x"] * 50 + [None] + ["x"] * 50) == [50]


def test_numbers_beyond_all_floats_are_far():
    assert odd([*range(100), -(10**400), 0.5, *range(100)]) == [100]


def test_ids_and_times_that_only_grow_do_not_stand_out():
    random.seed(7)
    at = 1_700_000_000
    events = [{"id": n * 17, "at": (at := at + random.randrange(60))} for n in range(200)]

    assert odd(events) == []


@pytest.mark.proves("S4")
@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"indent": 2}])
def test_far_beyond_what_is_read_a_steady_field_that_changes_stands_out(style):
    many = with_changes({18_000: {"status": "halted"}}, JOBS * 67)

    assert odd(many, **style) == [18_000]


def test_far_beyond_what_is_read_loud_words_stand_out():
    many = [{"id": n, "text": f"all is well with {n}"} for n in range(20_000)]
    many[17_000]["text"] = "FATAL: out of memory"

    assert odd(many) == [17_000]


def test_a_field_named_error_that_says_nothing_is_not_loud():
    values = [
        {"id": n, "error": None, "errors": [], "failed": 0, "text": "x" * (n % 9)}
        for n in range(60)
    ]

    assert odd(values) == []


def test_errors_everywhere_make_none_of_them_stand_out():
    assert odd([{"id": n, "text": f"ERROR {n}: failed"} for n in range(300)]) == []


def test_the_loudest_stand_out_where_many_are_a_little_loud():
    lines = [{"n": n, "out": f"ring_test.go:3: filled {n}"} for n in range(60)]
    lines += [{"n": n, "out": f"=== RUN {n}"} for n in range(200)]
    lines[100]["out"] = "panic: divide by zero"

    assert odd(lines) == [100]


def test_few_items_are_not_compared():
    assert odd([1, 1, 1, 1, 10**9, 1, 1]) == []


def test_items_that_no_parser_reads_do_not_hide_others():
    raw = b"[%b]" % b",".join([b"NaN"] * 50 + [b'"\\ud800"'] + [b"NaN"] * 50)

    assert odd_items(items_of(raw)) == {}


def test_lines_stand_out_too():
    lines = [json.dumps(job) for job in with_changes({77: {"status": "failed"}})]

    assert list(odd_items(lines_of("\n".join(lines).encode()))) == [77]
