import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.shape.envelope import is_over_page, preview_of_ends, shape_envelope
from headgate.shape.excerpt import Ends
from headgate.shape.pages import Page
from headgate.shape.shaper import Room, Source

MARKER = Marker("k7q2", ref="r_aaaaaaaaaaaa")
METER = meter_for("chars/4", "tokens")


def shaped(value, limit=200, *, page=None, page_items=50, kind="json", text=None):
    data = (json.dumps(value) if text is None else text).encode()
    source = Source(data, kind, METER.estimate(data), 1)
    room = Room(limit, METER)
    shown = shape_envelope(source, room, MARKER, page=page, page_items=page_items).text
    assert room.fits(shown)
    return json.loads(shown)


@pytest.mark.parametrize("as_json", [True, False])
def test_a_long_string_becomes_a_preview_with_its_sizes(as_json):
    text = "ab\n" * 1_000

    shown = shaped(text) if as_json else shaped(None, text=text, kind="prose")

    assert list(shown) == ["truncated", "totalChars", "estimatedTokens", "preview", "note"]
    assert (shown["truncated"], shown["totalChars"], shown["estimatedTokens"]) == (True, 3_000, 750)
    assert text.startswith(shown["preview"])
    assert len(shown["preview"]) > 300
    assert shown["note"] == (
        "String truncated to ~200 tokens. Full length: 3000 chars (~750 tokens)."
    )


def test_an_array_becomes_a_page():
    assert shaped(list(range(60)), 2_000) == {
        "paginated": True,
        "totalItems": 60,
        "page": 1,
        "pageSize": 50,
        "totalPages": 2,
        "hasMore": True,
        "items": list(range(50)),
        "note": "Page 1/2. 60 total items. Pass page=2 for next page.",
    }


def test_the_last_page_promises_no_other():
    shown = shaped(list(range(60)), 2_000, page=Page(9, 25))

    assert (shown["page"], shown["items"]) == (3, list(range(50, 60)))
    assert (shown["hasMore"], shown["note"]) == (False, "Page 3/3. 60 total items.")


def test_a_page_that_is_too_big_has_fewer_items_and_says_how_to_go_on():
    items = [{"id": i, "text": "x" * 100} for i in range(100)]

    shown = shaped(items)

    assert shown["items"] == items[: shown["pageSize"]]
    assert 1 < shown["pageSize"] < 50
    assert shown["note"].endswith(f"Pass page=2, pageSize={shown['pageSize']} for next page.")
    again = shaped(items, page=Page(2, shown["pageSize"]))
    assert again["items"][0] == items[shown["pageSize"]]


def test_items_too_large_for_any_page_are_shown_in_short():
    shown = shaped([{"id": 1, "text": "x" * 9_000}, ["y" * 9_000], "z" * 9_000])

    assert shown["items"] == ["{Object: id, text}", "[Array(1)]", "z" * 100 + "…"]


def test_an_object_is_shown_by_its_keys():
    value = {"a": "value", "b": [1, 2, 3, 4, 5], "c": {"id": 1, "name": 2, "email": 3}}
    value |= {f"key_{i}": i for i in range(100)}

    shown = shaped(value)

    first = ["_summarized", "_totalKeys", "_estimatedTokens", "a", "b", "c", "key_0"]
    assert list(shown)[:7] == first
    assert (shown["_totalKeys"], shown["a"]) == (103, "value")
    assert (shown["b"], shown["c"]) == ("[Array(5)]", "{Object: id, name, email}")
    assert shown["_truncatedKeys"] == 103 - (len(shown) - 4)


def test_a_key_of_the_data_is_never_overwritten():
    shown = shaped({"_summarized": "mine", "_truncatedKeys": 7, "big": "x" * 5_000})

    assert (shown["_summarized"], shown["_summarized_"]) == ("mine", True)
    assert (shown["_truncatedKeys"], shown["_truncatedKeys_"]) == (7, 0)


def test_an_object_inside_names_five_of_its_keys():
    shown = shaped({"big": "x" * 5_000, "in": {f"k{i}": i for i in range(9)}, "none": {}})

    assert (shown["in"], shown["none"]) == ("{Object: k0, k1, k2, k3, k4, ...}", "{Object}")


def test_what_is_too_deep_to_take_apart_is_taken_for_a_string():
    shown = shaped(None, text="[" * 300_000 + "]" * 300_000)

    assert shown["truncated"] is True


def test_a_text_that_went_by_is_previewed_by_its_start():
    ends = Ends("start of it", "end", 9_000_000, 9_000_000, 1)

    shown = json.loads(preview_of_ends(ends, 2_250_000, Room(200, METER), MARKER).text)

    assert (shown["preview"], shown["totalChars"]) == ("start of it", 9_000_000)


def test_where_not_even_a_key_fits_the_marker_stands():
    assert shaped({"k" * 5_000: 1}, 128) == {
        "_omitted": "[1 of 1 lines omitted; r_aaaaaaaaaaaa #k7q2]"
    }


@pytest.mark.parametrize(
    ("text", "page", "is_over"),
    [
        ("[1, 2, 3]", None, False),
        ("[1, 2, 3, 4]", None, True),
        ("[1, 2, 3]", Page(1, 2), True),
        ("[INFO] 1, 2, 3, 4, 5", None, False),
        ('{"a": [1, 2, 3, 4]}', None, False),
    ],
)
def test_only_an_array_with_more_items_than_a_page_is_paged(text, page, is_over):
    assert is_over_page(text.encode(), page, 3) is is_over


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(), inner, max_size=30),
    max_leaves=60,
)


@given(json_values, st.integers(128, 700), st.none() | st.builds(Page, st.integers(1, 9)))
@settings(max_examples=settings.default.max_examples // 2)
def test_an_envelope_is_json_and_within_its_room(value, limit, page):
    shaped(value, limit, page=page)


@pytest.mark.proves("P24", "S6")
def test_names_with_half_a_pair_of_surrogates_are_named():
    shown = shaped({"a": {"half \ud83d": 1}, "b": "text " * 400})

    assert shown["a"] == "{Object: half \ud83d}"
