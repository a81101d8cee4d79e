"""JSON that is shortened is still JSON, within its limit, its keys and values as they were."""

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.shape.jsons import shape_json
from headgate.shape.pages import Page
from headgate.shape.shaper import Room, Source
from headgate.slices import is_json
from headgate.types import Query

MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")
MARKED = re.compile(r"\[[\d,]+ of [\d,]+ (items|keys|chars) omitted[,;] .* #k7q2\]")
INSIDE = re.compile(r"\[([\d,]+ )?(lines?|items?|keys?|chars?)( [\d-]+)? omitted #k7q2\]")

names = st.text(max_size=12) | st.sampled_from(
    ["_omitted", "_omitted_", "items", "error", "id", "half \ud83d"]
)
strings = st.text(max_size=60) | st.sampled_from(
    [
        "word " * 200,
        "line of text\n" * 80,
        "QUJD" * 200,
        "中文" * 300,
        "👩‍👩‍👧" * 99,
        '"\\' * 300,
        "\0" * 99,
    ]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | strings
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.dictionaries(names, inner, max_size=8)
        | st.tuples(inner, st.integers(2, 30)).map(lambda pair: [pair[0]] * pair[1])
        | st.tuples(names, inner, st.integers(2, 20)).map(
            lambda three: {f"{three[0]}{number}": three[1] for number in range(three[2])}
        )
    ),
    max_leaves=25,
)
styles = st.sampled_from(
    [{}, {"separators": (",", ":")}, {"indent": 4}, {"ensure_ascii": False}, {"indent": 1}]
)
documents = st.builds(
    lambda value, style: json.dumps(value, **style).encode("utf-8", "replace"), values, styles
)
FRAGMENTS = [
    *(b"NaN", b"-Infinity", b"1e400", b"0" * 1, b"-0.0e-7", b"9" * 400, b'"\\ud800"', b'"\\u0000"'),
    *(b'{"a":1,"a":2}', b'{"":{}}', b"[[],{},[[]]]", b'"%b"' % (b"\\n\\t\\\\" * 90), b"[1 , 2 ]"),
    *(b"[" * 400 + b"]" * 400, b'{"k":' * 300 + b"null" + b"}" * 300, b'{"%b":0}' % (b"k" * 900)),
    b'{"error" : null , "status":"ok"}',
]
nasty = st.builds(
    lambda parts, times, wrap: wrap % b",".join(parts * times),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6),
    st.integers(1, 100),
    st.sampled_from(
        [b"[%b]", b'{"_omitted":[%b]}', b' { "a":{"b": [%b]},"c":1 }', b"\n[[%b],[]]\n"]
    ),
)
rooms = st.one_of(
    st.builds(
        Room,
        st.integers(128, 4_000),
        st.sampled_from(["o200k", "cl100k"]).map(lambda v: meter_for(v, "tokens")),
    ),
    st.builds(Room, st.integers(512, 8_000), st.just(meter_for("o200k", "chars"))),
    st.builds(Room, st.integers(512, 8_000), st.just(meter_for("o200k", "bytes"))),
)
queries = st.lists(
    names | st.sampled_from(["a.b[3]", "[17]", "$.items[-1].id", "7"]), max_size=4
).map(lambda words: Query(tuple(words)))


def shape(data: bytes, room: Room, query: Query, kind="json", page=None) -> str:
    source = Source(data, kind, room.meter.estimate(data), data.count(b"\n") + 1)
    return shape_json(source, room, query, MARKER, page=page).text


def read(text: str | bytes) -> object:
    return json.loads(text, parse_constant=lambda word: word, parse_float=str, parse_int=str)


def agrees(shown: object, whole: object, at: str = "$") -> None:
    """Assert that everything in `shown` is in `whole`, in its place, or says that it is ours."""
    if shown == whole:
        return
    if isinstance(shown, dict) and isinstance(whole, list) and "_table" in shown:
        rows = [dict(zip(shown["columns"], row, strict=True)) for row in shown["rows"]]
        assert rows == whole, at
        return
    if isinstance(shown, str):
        head, *_ = INSIDE.split(shown, maxsplit=1)
        assert head != shown, at
        if isinstance(whole, str):
            assert whole.startswith(head.removesuffix(" … ").removesuffix("\n")), at
    elif isinstance(shown, dict):
        ours = shown.keys() - whole.keys()
        assert len(ours) <= 2, at
        for key in ours:
            if re.fullmatch("_asked_*", key):
                assert all(path.startswith("$") for path in shown[key]), at
                continue
            assert re.fullmatch("_omitted_*", key), at
            assert MARKED.fullmatch(shown[key]) or INSIDE.fullmatch(shown[key]), at
        for key in shown.keys() - ours:
            agrees(shown[key], whole[key], f"{at}.{key}")
    else:
        agrees_in_order(shown, whole, at)


def agrees_in_order(shown: list, whole: list, at: str) -> None:
    place = 0
    for item in shown:
        if (
            isinstance(item, dict)
            and (gap := missing_in(item))
            and (place >= len(whole) or item != whole[place])
        ):
            assert gap[0] == place, at
            place = gap[1] + 1
            continue
        agrees(item, whole[place], f"{at}[{place}]")
        place += 1
    assert place == len(whole), at


def missing_in(item: dict) -> tuple[int, int] | None:
    found = re.fullmatch(r"\[items? (\d+)(?:-(\d+))? omitted #k7q2\]", str(item.get("_omitted")))
    if len(item) != 1 or found is None:
        return None
    return int(found[1]), int(found[2] or found[1])


def check(shown: object, whole: object) -> None:
    if shown == whole:
        return
    said = shown.get("_omitted") if isinstance(shown, dict) else None
    if isinstance(said, str) and (len(shown) == 1 or "preview" in shown):
        assert MARKED.fullmatch(said)
    elif isinstance(whole, list) and "rows" not in shown:
        check_page(shown, whole)
    else:
        agrees(shown, whole)


def check_page(shown: dict, whole: list) -> None:
    start = (int(shown["page"]) - 1) * int(shown["page_size"])
    stop = min(start + int(shown["page_size"]), len(whole))
    assert int(shown["total_items"]) == len(whole)
    assert shown["has_more"] is (stop < len(whole))
    assert len(shown["items"]) == stop - start
    for number, item in enumerate(shown["items"], start):
        agrees(item, whole[number], f"$[{number}]")
    for match in shown.get("matches", []):
        agrees(match["item"], whole[int(match["index"])], f"$[{match['index']}]")


@pytest.mark.proves("S6", "P2", "R10", "R15", "P24")
@given(documents, rooms, queries)
def test_whatever_a_program_wrote_stays_json(data, room, query):
    text = shape(data, room, query)

    assert room.fits(text)
    assert is_json(text.encode())
    check(read(text), read(data))


@pytest.mark.proves("S6", "P2", "R10", "P24")
@given(nasty, rooms, queries)
def test_nasty_json_stays_json(data, room, query):
    text = shape(data, room, query)

    assert room.fits(text)
    assert is_json(text.encode())
    check(read(text), read(data))


@pytest.mark.proves("S6", "P2")
@given(st.lists(values, max_size=12), rooms, st.integers(-3, 9), st.integers(1, 15))
def test_any_page_is_the_page_it_says(items, room, number, size):
    data = json.dumps(items).encode("utf-8", "replace")

    text = shape(data, room, Query(), page=Page(number, size))

    assert room.fits(text)
    check_page(read(text), read(data))


@pytest.mark.proves("S6", "P2", "R10")
@given(st.lists(values, min_size=1, max_size=12), rooms, queries)
def test_json_lines_stay_json_lines(items, room, query):
    data = "\n".join(json.dumps(item) for item in items).encode("utf-8", "replace")

    text = shape(data, room, query, kind="jsonl")

    assert room.fits(text)
    assert all(is_json(line.encode()) for line in text.split("\n"))


@pytest.mark.proves("S9")
@settings(max_examples=settings.default.max_examples // 4)
@given(documents, rooms, queries)
def test_the_same_json_is_shaped_the_same(data, room, query):
    assert shape(data, room, query) == shape(data, room, query)


@pytest.mark.proves("S8")
@settings(max_examples=settings.default.max_examples // 2)
@given(values, st.integers(1_000, 4_000))
def test_rows_of_anything_fill_their_room(value, limit):
    room = Room(limit, meter_for("o200k", "tokens"))
    row = json.dumps({"row": 100, "value": value})
    assume(20 * room.size(row) <= limit)

    text = shape(f"[{','.join([row] * 1_000)}]".encode(), room, Query())

    assert room.size(text) >= 0.9 * limit or len(json.loads(text)["rows"]) == 1_000
