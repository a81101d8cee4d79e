import json
import re

import pytest

from headgate.marker import Marker, MarkerStyle
from headgate.measure.meters import meter_for
from headgate.read.path import find
from headgate.shape.jsonpath import path_of
from headgate.shape.jsons import shape_json
from headgate.shape.pages import Page
from headgate.shape.shaper import Room, Shaped, Source
from headgate.types import Query

O200K = meter_for("o200k", "tokens")
CHARS = meter_for("o200k", "chars")
MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")
USERS = [{"id": number, "name": f"user {number}", "status": "active"} for number in range(200)]


def written(value: object, **style) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, **style).encode()


def shape(
    value, limit, *words, kind="json", meter=O200K, marker=MARKER, page=None
) -> Shaped | None:
    data = written(value)
    source = Source(data, kind, meter.estimate(data), data.count(b"\n") + 1)
    return shape_json(source, Room(limit, meter), Query(words), marker, page=page)


def shown(value, limit, *words, **how) -> object:
    return json.loads(shape(value, limit, *words, **how).text)


def asked(text: str, name: str) -> str:
    return re.search(rf'{name}=\\?"([^"\\]*)', text)[1]


@pytest.mark.proves("S6", "R6")
def test_an_array_becomes_a_page():
    assert shown(USERS, 200) == {
        "_omitted": "[192 of 200 items omitted, about 3.8k tokens; "
        'read_result(ref="r_abcdefghijkl", page=2, page_size=8) shows more #k7q2]',
        "page": 1,
        "page_size": 8,
        "total_items": 200,
        "total_pages": 25,
        "has_more": True,
        "applied_max_tokens": 200,
        "items": USERS[:8],
    }


@pytest.mark.proves("S4")
def test_items_beyond_the_page_that_stand_out_or_are_pointed_at_are_shown_with_their_number():
    users = [dict(user) for user in USERS]
    users[120]["status"] = "locked"

    assert shown(users, 300, "77")["matches"] == [
        {"index": 77, "item": users[77]},
        {"index": 120, "item": users[120]},
    ]


@pytest.mark.proves("S6")
def test_a_string_becomes_a_preview_with_its_size():
    assert shown("hello world " * 400, 200) == {
        "_omitted": "[4,128 of 4,800 chars omitted, about 689 tokens; "
        'read_result(ref="r_abcdefghijkl", bytes="673-4801") shows more #k7q2]',
        "total_chars": 4_800,
        "estimated_tokens": 802,
        "applied_max_tokens": 200,
        "preview": "hello world " * 56 + " … [4,128 chars omitted #k7q2]",
    }


@pytest.mark.proves("S6")
def test_an_object_keeps_its_form_and_says_where_the_largest_gap_is():
    assert shown({"data": USERS, "total": 200, "next": None}, 160) == {
        "_omitted": "[10,098 of 10,418 chars omitted; r_abcdefghijkl #k7q2]",
        "data": [*USERS[:7], {"_omitted": "[items 7-199 omitted #k7q2]"}],
        "total": 200,
        "next": None,
    }
    assert shown({"data": USERS, "total": 200, "next": None}, 300)["_omitted"] == (
        "[9,752 of 10,418 chars omitted, about 3.8k tokens; "
        'read_result(ref="r_abcdefghijkl", path="$.data[15:200]") shows more #k7q2]'
    )


@pytest.mark.proves("S6")
def test_an_object_with_too_many_keys_says_how_many_are_left_out():
    found = shown({f"key_{number}": f"value {number}" for number in range(300)}, 200)

    assert found.pop("_omitted") == (
        f"[{300 - len(found)} of 300 keys omitted, about 2.9k tokens; "
        f'read_result(ref="r_abcdefghijkl", path="$.key_{len(found)}") shows more #k7q2]'
    )
    assert found == {f"key_{number}": f"value {number}" for number in range(len(found))}


@pytest.mark.proves("S6")
def test_without_its_whitespace_the_whole_may_fit():
    value = {"a": [1, 2, {"b": "x  y"}], "c": 1.50}

    assert shape(written(value, indent=200), 128) == Shaped(
        '{"a":[1,2,{"b":"x  y"}],"c":1.5}', "the whole, without the whitespace between its tokens"
    )


def test_what_is_no_json_is_left_to_others():
    assert shape(b"hello world", 128) is None
    assert shape(b'{"a": 1', 128) is None
    assert shape(b"plain\nlines\n" * 50, 128, kind="jsonl") is None


@pytest.mark.proves("S6", "S4")
def test_json_lines_stay_json_lines():
    lines = [json.dumps(user) for user in USERS]
    lines[120] = lines[120].replace("active", "locked")

    text = shape("\n".join(lines).encode(), 250, kind="jsonl").text

    assert [json.loads(line) for line in text.split("\n")] == [
        {
            "_omitted": "[189 of 200 lines omitted, about 3.8k tokens; "
            'read_result(ref="r_abcdefghijkl", lines="8-119") shows more #k7q2]'
        },
        *USERS[:7],
        {"_omitted": "[lines 8-119 omitted #k7q2]"},
        USERS[119],
        {"id": 120, "name": "user 120", "status": "locked"},
        USERS[121],
        {"_omitted": "[lines 123-199 omitted #k7q2]"},
        USERS[199],
    ]


def test_json_lines_may_fit_without_their_whitespace():
    lines = "\n".join(json.dumps(user, separators=("  ,  ", "  :  ")) for user in USERS[:8])

    assert shape(lines.encode(), 140, kind="jsonl") == Shaped(
        "\n".join(json.dumps(user, separators=(",", ":")) for user in USERS[:8]),
        "the whole, without the whitespace between its tokens",
    )


def test_a_long_line_that_is_no_json_is_shown_as_a_string():
    broken = b"[" * 3_000 + b"oops"
    data = b'{"a":1}\n{"b":2}\n%b\n{"c":3}\n' % broken

    _, *lines = map(json.loads, shape(data, 300, kind="jsonl").text.split("\n"))

    assert lines[:2] == [{"a": 1}, {"b": 2}]
    assert re.fullmatch(r"\[+ … \[[\d,]+ chars omitted #k7q2\]", lines[2])
    assert lines[3] == {"c": 3}


def test_one_long_line_of_json_lines_is_cut_inside():
    data = b'{"a":1}\n' + written({"text": "word " * 900}) + b'\n{"b":2}\n'

    first, *rest = shape(data, 200, kind="jsonl").text.split("\n")

    assert re.match(
        r"\[3,[89]\d\d of 4,529 chars omitted, about 7[89]\d tokens; ",
        json.loads(first)["_omitted"],
    )
    assert json.loads(rest[0]) == {"a": 1}
    assert json.loads(rest[1])["text"].endswith(" chars omitted #k7q2]")
    assert json.loads(rest[2]) == {"b": 2}


@pytest.mark.proves("S4", "S6")
def test_a_member_that_is_asked_for_is_shown_whole_among_many():
    packages = {
        f"node_modules/lib-{number}": {
            "version": f"1.0.{number}",
            "dependencies": {f"dep-{i}": f"^{i}.{number}.0" for i in range(8)},
        }
        for number in range(180)
    }
    document = {"name": "app", "lockfileVersion": 3, "packages": packages}
    seen = shown(document, 500, "version", "lib-77")

    assert seen["packages"]["node_modules/lib-77"] == packages["node_modules/lib-77"]
    assert seen["name"] == "app"
    assert len(seen["packages"]) > 4


@pytest.mark.proves("S6")
def test_the_page_that_was_asked_for_is_shown():
    found = shown(USERS, 300, page=Page(3, 8))

    assert (found["page"], found["page_size"], found["total_pages"]) == (3, 8, 25)
    assert found["items"] == USERS[16:24]
    assert "page=4, page_size=8" in found["_omitted"]


@pytest.mark.proves("S6")
def test_the_last_page_promises_no_other():
    found = shown(USERS, 500, page=Page(99, 30))

    assert found["items"] == USERS[180:]
    assert (found["page"], found["has_more"], "_omitted" in found) == (7, False, False)


@pytest.mark.proves("S6")
def test_a_page_too_large_for_its_limit_shrinks_and_its_numbers_stay_true():
    for number in (1, 3):
        found = shown(USERS, 300, page=Page(number, 50))
        start = (found["page"] - 1) * found["page_size"]

        assert start == (number - 1) * 50
        assert found["items"] == USERS[start : start + found["page_size"]]
        assert found["total_pages"] == -(-200 // found["page_size"])


@pytest.mark.proves("S6")
def test_a_page_of_an_empty_array_is_empty():
    found = shown([], 128, page=Page(2, 5))

    assert (found["items"], found["total_items"], found["has_more"]) == ([], 0, False)


@pytest.mark.proves("P16", "S6")
def test_following_the_markers_shows_every_item_once():
    items, page = [], None
    while True:
        text = shape(USERS, 250, page=page).text
        found = json.loads(text)
        items += found["items"]
        if not found["has_more"]:
            break
        number, size = re.search(r"page=(\d+), page_size=(\d+)", found["_omitted"]).groups()
        page = Page(int(number), int(size))

    assert items == USERS


@pytest.mark.proves("R15", "K6")
@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_the_path_in_a_marker_finds_what_is_missing(kind):
    data = written({"a": {"odd name": [{"n": number} for number in range(500)]}, "b": 1})

    text = shape(data, 300, kind=kind).text
    missing = find(data, asked(text, "path"), most=1_000, budget=10_000).matches

    shown_items = [item for item in json.loads(text)["a"]["odd name"] if "_omitted" not in item]
    assert asked(text, "path").startswith("$.a['odd name'][")
    assert [json.loads(raw) for _, raw in missing] == [
        {"n": number} for number in range(len(shown_items), 500)
    ]


@pytest.mark.proves("R15")
def test_the_bytes_in_a_marker_are_where_a_cut_string_goes_on():
    whole = " ".join(f"wörd-{number}" for number in range(2_000))
    data = written({"id": 1, "text": whole}, indent=2, ensure_ascii=False)

    text = shape(data, 300).text
    first, last = map(int, asked(text, "bytes").split("-"))

    head = json.loads(text)["text"].split(" … [")[0]
    assert head + data[first:last].decode() == whole
    assert data[last : last + 1] == b'"'


@pytest.mark.proves("R15")
def test_the_next_action_is_the_one_this_model_has():
    marker = Marker(tag="k7q2", ref="r_abcdefghijkl", style=MarkerStyle(reader="cli"))

    assert (
        "`headgate read r_abcdefghijkl --page 2 --page-size 5` shows more"
        in (shown(USERS, 200, marker=marker)["_omitted"])
    )


@pytest.mark.proves("R15", "K5")
def test_what_is_not_kept_is_not_promised():
    marker = Marker(tag="k7q2", kept="nowhere")

    assert shown(USERS, 200, marker=marker)["_omitted"] == (
        "[191 of 200 items omitted, about 3.8k tokens; not kept, run the tool again for less #k7q2]"
    )


@pytest.mark.proves("R15", "S6")
def test_user_keys_are_never_overwritten():
    value = {"_omitted": "mine", "_omitted_": [1], "rows": [{"_omitted": 5, "x": "y" * 40}] * 300}

    found = shown(value, 300)

    assert (found["_omitted"], found["_omitted_"]) == ("mine", [1])
    assert found["_omitted__"].endswith("#k7q2]")
    assert found["rows"][0] == {"_omitted": 5, "x": "y" * 40}


def test_a_user_key_counts_however_it_is_written():
    data = b'{"\\u005fomitted":"mine","text":"%b"}' % (b"word " * 900)

    found = shown(data, 200)

    assert found["_omitted"] == "mine"
    assert found["_omitted_"].endswith("#k7q2]")


@pytest.mark.proves("R6")
def test_the_applied_limit_is_named_by_its_unit():
    assert shown(USERS, 700, meter=CHARS)["applied_max_chars"] == 700


@pytest.mark.proves("0.6", "R10")
@pytest.mark.parametrize("kept", ["stored", "memory", "nowhere", "partly"])
@pytest.mark.parametrize(("meter", "limit"), [(O200K, 128), (CHARS, 512)])
def test_the_smallest_limit_holds_whatever_the_marker_says(kept, meter, limit):
    marker = Marker(tag="k7q2", ref="r_abcdefghijkl", kept=kept, kept_bytes=10**12)

    for value in (USERS, {"a": USERS}, "word " * 9_000, {"k" * 9_000: 1}):
        shaped = shape(value, limit, marker=marker, meter=meter)
        json.loads(shaped.text)
        assert meter.count(shaped.text) <= limit


def test_where_nothing_else_fits_the_marker_stands_alone():
    wordy = Marker(
        tag="k7q2", ref="r_abcdefghijkl", style=MarkerStyle(inside="{missing} " + "x" * 600)
    )

    assert shape({"k" * 9_000: 1}, 512, meter=CHARS, marker=wordy) == Shaped(
        '{"_omitted":"[9,007 of 9,007 chars omitted; r_abcdefghijkl #k7q2]"}', "the marker alone"
    )


NASTY = {
    "deep array": b"[" * 100_000 + b"]" * 100_000,
    "deep object": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep beside rows": b"[%b,%b]" % (b"[" * 2_000 + b"]" * 2_000, written(USERS)[1:-1]),
    "zigzag": b"[[]," * 30_000 + b"1" + b"]" * 30_000,
    "long string": b'"%b"' % (b"word " * 200_000),
    "long number": b"1" * 1_000_000,
    "long key": b'{"%b":1}' % (b"k" * 1_000_000),
    "empty objects": b"[%b]" % b",".join([b"{}"] * 300_000),
    "equal keys": b"{%b}" % b",".join(b'"k":%d' % number for number in range(9_000)),
    "constants": b"[%b]" % b",".join([b"NaN", b"-Infinity", b"1e400"] * 3_000),
    "lone surrogates": b'["%b",{"\\udc00":"\\ud800"}]' % (b"\\ud800" * 9_000),
    "backslashes": b'["%b"]' % (b"\\\\" * 30_000),
    "long numbers": b"[%b]" % b",".join([b"1234567890123456789012345678901234567890.5e-7"] * 900),
    "cjk": written(
        {"text": "漢字かな交じり文" * 3_000, "list": ["日本語"] * 2_000}, ensure_ascii=False
    ),
    "spaces in a string": b'[1,"%b"]' % (b" " * 90_000),
    "matrix": written([[row * col for col in range(80)] for row in range(80)]),
    "rows of text": written([{"id": n, "body": "lorem ipsum " * 900} for n in range(30)]),
}


@pytest.mark.proves("P2", "P24", "S6")
@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize(("meter", "limit"), [(O200K, 128), (O200K, 1_500), (CHARS, 2_000)])
def test_whatever_it_is_it_stays_json_and_fits(name, meter, limit):
    shaped = shape(NASTY[name], limit, meter=meter)

    json.loads(shaped.text)
    assert meter.count(shaped.text) <= limit


@pytest.mark.proves("S8")
@pytest.mark.parametrize("name", sorted(NASTY.keys() - {"spaces in a string"}))
@pytest.mark.parametrize(("meter", "limit"), [(O200K, 1_500), (CHARS, 4_000)])
def test_the_room_is_used(name, meter, limit):
    assert meter.count(shape(NASTY[name], limit, meter=meter).text) >= 0.9 * limit


@pytest.mark.parametrize("value", [{}, [], "", 0, None, True, [[]], {"a": {}}])
def test_small_things_with_much_space_are_shown_whole(value):
    assert shown(b" " * 3_000 + written(value) + b"\n" * 3_000, 128) == value


def test_a_command_with_its_output_keeps_the_error_in_the_middle_and_the_exit_code():
    lines = [f"{number} files copied" for number in range(3_000)]
    lines[1_500] = "cp: cannot create regular file 'x': No space left on device"
    result = {"command": "make", "stdout": "\n".join(lines), "exit_code": 1}

    found = shown(result, 500)

    assert found["exit_code"] == 1
    assert lines[1_500] in found["stdout"]
    assert found["stdout"].startswith("0 files copied\n1 files copied\n")
    assert found["stdout"].endswith("\n2998 files copied\n2999 files copied")


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ((), "$"),
        (("a", "b_1", 3), "$.a.b_1[3]"),
        (
            ("odd name", "it's", 'say "x"', "é", "1st", "\n"),
            "$['odd name']['it\\'s']['say \"x\"']['é']['1st']['\\n']",
        ),
        (("rows", slice(4, 9)), "$.rows[4:9]"),
        (("a" * 150, "b" * 150), "$." + "a" * 150),
    ],
)
def test_a_path_is_written_as_people_write_it(steps, path):
    assert path_of(steps) == path


def test_a_written_path_finds_its_value():
    names = ["odd name", "it's", 'say "x"', "é", "\n", "a\\b", "\u007f"]
    data = written(7)
    for name in reversed(names):
        data = b"{%b:%b}" % (json.dumps(name).encode(), data)

    assert [raw for _, raw in find(data, path_of(names), most=5, budget=1_000).matches] == [b"7"]


@pytest.mark.proves("S6")
def test_of_a_list_that_is_too_long_the_others_are_named():
    users = [
        {"id": i, "name": f"user number {i}", "about": f"likes the letter {i % 26} " * 20}
        for i in range(60)
    ]
    page = shown(users, 900)
    named = {row[0]: row[2] for row in page["others"]["rows"]}

    assert page["others"]["columns"] == ["index", "id", "name"]
    assert page["items"][0] == users[0]
    assert set(named).isdisjoint(range(len(page["items"])))
    assert len(named) > 20
    assert all(name == f"user number {i}" for i, name in named.items())
