import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import RequestError
from tests.read.originals import CHARS, LEAST, answers, ask, meters, original, parts

pytestmark = pytest.mark.proves("K6")

ITEMS = [{"id": number, "name": f"item {number}"} for number in range(200)]
DOCUMENT = original(json.dumps({"meta": {"pages": 4}, "items": ITEMS}).encode())


def test_one_value_is_shown_as_json():
    assert ask(DOCUMENT, {"path": "$.items[3]"}) == (
        '{"id":3,"name":"item 3"}\n[the value at $.items[3]; this is the end #k7q2]'
    )


def test_several_values_have_their_locations():
    assert ask(DOCUMENT, {"path": "$.items[3:5].name"}) == (
        '$.items[3].name: "item 3"\n$.items[4].name: "item 4"\n'
        "[values 1-2 of 2; this is the end #k7q2]"
    )


def test_more_values_than_fit_go_on_by_page():
    body, end = parts(ask(DOCUMENT, {"path": "$..name", "page_size": 10}))

    assert body.split("\n")[0] == '$.items[0].name: "item 0"'
    assert len(body.split("\n")) == 10
    assert end == (
        '[values 1-10 of 200; read_result(ref="r_1f3a9c7be20d", path="$..name", page=2, '
        "page_size=10) shows more #k7q2]"
    )


def test_a_value_too_large_is_cut_and_its_marker_points_into_the_whole():
    body, end = parts(ask(DOCUMENT, {"path": "$.items"}, limit=300))

    shown = json.loads(body)
    count = len(shown["items"])
    assert shown["items"] == ITEMS[:count]
    assert f'path="$.items[{count}:{2 * count}]"' in shown["_omitted"]
    assert end == "[a part of the value at $.items; the marker in it says how to go on #k7q2]"


def test_where_the_marker_in_a_cut_value_points_the_rest_is():
    text = "x" * 5_000
    kept = original(json.dumps({"a": [1, {"b": text}]}).encode())

    shown = json.loads(parts(ask(kept, {"path": "$.a"}, limit=300))[0])

    told = shown["_omitted"].partition("bytes=")[2].partition(")")[0]
    first = int(json.loads(told).partition("-")[0])
    begun = kept.between(0, kept.length).index(b"xxx")
    assert kept.between(first, first + 10) == b"x" * 10
    assert first - begun == shown["items"][1]["b"].partition(" ")[0].count("x")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8", "utf-16"])
def test_where_a_cut_value_is_pointed_at_is_it_though_its_bytes_were_made_readable(encoding):
    words = " ".join(f"w{number}" for number in range(3_000))
    text = json.dumps({"a": [1] * 9, "b": words}, indent=1)
    kept = original(text.replace("\n", "\r\n").encode(encoding))

    shown = json.loads(parts(ask(kept, {"path": "$.b"}, limit=300))[0])
    asked = {"lines": json.loads(shown["_omitted"].partition("lines=")[2].partition(")")[0])}
    seen = "".join(body for body, _ in answers(kept, asked, limit=300))

    assert words in seen


def test_a_path_to_nothing_says_how_to_see_what_there_is():
    assert ask(DOCUMENT, {"path": "$.nothing"}) == (
        '[nothing at this path; read_result(ref="r_1f3a9c7be20d", path="$") shows more #k7q2]'
    )


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (b"no json", "$.a", "the result is no JSON; read it by lines, bytes or search"),
        (b"{}", "$[", "path '$[': expected"),
    ],
)
def test_what_cannot_be_followed_is_told_in_words(data, path, message):
    with pytest.raises(RequestError) as raised:
        ask(original(data), {"path": path})

    assert str(raised.value).startswith(message)


def test_more_values_than_are_looked_for_say_so():
    kept = original(json.dumps(list(range(3_000))).encode())

    _, end = parts(ask(kept, {"path": "$[*]", "page": 100, "page_size": 10}))

    assert end == (
        "[values 991-1,000 of the first 1,000; "
        "there may be more, which a narrower path finds #k7q2]"
    )


small = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(small, min_size=2, max_size=60), st.integers(400, 900))
def test_going_on_shows_every_value_once(values, limit):
    kept = original(json.dumps(values, ensure_ascii=True).encode())

    rows = [
        row
        for body, _ in answers(kept, {"path": "$[*]"}, limit=limit, meter=CHARS)
        for row in body.split("\n")
    ]

    assert [row.partition(": ")[0] for row in rows] == [f"$[{n}]" for n in range(len(values))]
    whole = [row.partition(": ")[2] for row in rows if "#k7q2" not in row]
    assert all(json.loads(text) in values for text in whole)


@settings(max_examples=settings.default.max_examples // 4)
@given(small, st.sampled_from(["$", "$[*]", "$..*", "$[0]", "$..a"]), meters)
def test_any_value_fits_the_smallest_limit(value, path, meter):
    kept = original(json.dumps([value, {"a": value}, "long " * 500]).encode())

    for _, end in answers(kept, {"path": path}, meter=meter, limit=LEAST[meter.unit]):
        assert end
