import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.read.originals import ask, original, parts

pytestmark = pytest.mark.proves("K6", "S6")

ITEMS = [{"id": number, "name": f"item {number}"} for number in range(100)]
ARRAY = original(json.dumps(ITEMS).encode())
LINES = original(b"".join(b"line %d\n" % number for number in range(1, 1_001)))


def test_an_array_is_paged_by_items():
    page = json.loads(ask(ARRAY, {"page": 3, "page_size": 10}))

    assert page["items"] == ITEMS[20:30]
    assert (page["page"], page["page_size"], page["total_items"], page["total_pages"]) == (
        *(3, 10, 100),
        10,
    )
    assert page["has_more"] is True
    assert "page=4, page_size=10" in page["_omitted"]


def test_the_last_page_promises_no_other():
    page = json.loads(ask(ARRAY, {"page": 10, "page_size": 10}))

    assert page["items"] == ITEMS[90:]
    assert page["has_more"] is False
    assert "_omitted" not in page


def test_a_page_beyond_the_last_is_the_last():
    assert ask(ARRAY, {"page": 99, "page_size": 10}) == ask(ARRAY, {"page": 10, "page_size": 10})


def test_a_page_that_does_not_fit_is_smaller_and_the_next_follows_it():
    page = json.loads(ask(ARRAY, {"page": 1, "page_size": 80}, limit=400))

    count = len(page["items"])
    assert page["items"] == ITEMS[:count]
    assert 5 < count < 80
    assert f"page=2, page_size={count}" in page["_omitted"]


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.integers(0, 10**6), max_size=300), st.integers(1, 60), st.integers(300, 900))
def test_page_after_page_gives_every_item(items, size, limit):
    kept = original(json.dumps(items).encode())
    seen: list[int] = []
    number, more = 1, True
    while more:
        page = json.loads(ask(kept, {"page": number, "page_size": size}, limit=limit))
        assert seen == items[: (page["page"] - 1) * page["page_size"]]
        seen += page["items"]
        more, number, size = page["has_more"], page["page"] + 1, page["page_size"]

    assert seen == items


def test_an_object_that_is_mostly_a_list_is_paged_by_its_items():
    kept = original(json.dumps({"total": 100, "data": ITEMS}).encode())

    page = json.loads(ask(kept, {"page": 2, "page_size": 5}))

    assert page["items"] == ITEMS[5:10]
    assert "page=3, page_size=5" in page["_omitted"]


def test_a_cut_item_of_such_a_list_is_pointed_at_in_the_whole():
    kept = original(json.dumps({"total": 1, "data": [{"text": "x" * 9_000}]}).encode())

    page = json.loads(ask(kept, {"page": 1}, limit=300))

    told = json.loads(page["_omitted"].partition("bytes=")[2].partition(")")[0])
    first, _, last = told.partition("-")
    assert set(kept.between(int(first), int(last)).decode()) <= {"x", '"'}


def test_an_object_without_such_a_list_is_paged_by_lines():
    kept = original(json.dumps({"a": "x" * 50, "b": 2}, indent=1).encode())

    assert ask(kept, {"page": 1, "page_size": 2}) == (
        f'{{\n "a": "{"x" * 50}",\n[page 1 of 2, lines 1-2 of 4 shown; '
        'read_result(ref="r_1f3a9c7be20d", page=2, page_size=2) shows more #k7q2]'
    )


def test_a_text_is_paged_by_lines():
    body, end = parts(ask(LINES, {"page": 2, "page_size": 3}))

    assert body == "line 4\nline 5\nline 6"
    assert end == (
        "[page 2 of 334, lines 4-6 of 1,000 shown; "
        'read_result(ref="r_1f3a9c7be20d", page=3, page_size=3) shows more #k7q2]'
    )


def test_a_page_of_text_has_two_hundred_lines_unless_asked():
    body, _ = parts(ask(LINES, {"page": 5}, limit=5_000))

    assert body.split("\n")[0] == "line 801"
    assert len(body.split("\n")) == 200


def test_what_did_not_fit_of_a_page_of_text_is_asked_for_by_lines():
    body, end = parts(ask(LINES, {"page": 1}, limit=200))

    last = len(body.split("\n"))
    assert last < 60
    assert f'lines="{last + 1}-200"' in end


def test_the_last_page_of_a_text_is_the_end():
    body, end = parts(ask(LINES, {"page": 999, "page_size": 300}, limit=2_000))

    assert body.split("\n")[0] == "line 901"
    assert end == "[page 4 of 4, lines 901-1,000 of 1,000 shown; this is the end #k7q2]"


def test_what_only_looks_like_json_is_a_text():
    body, end = parts(ask(original(b"[INFO] started\n[INFO] done\n"), {"page": 1}))

    assert body == "[INFO] started\n[INFO] done"
    assert end == "[page 1 of 1, lines 1-2 of 2 shown; this is the end #k7q2]"
