import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.marker import Ask, Marker
from headgate.shape import shape
from headgate.shape.kinds import recognise
from headgate.shape.preface import preface_of
from headgate.shape.shaper import Room, Source
from headgate.types import NO_QUERY
from tests.shape.shown import MARKER, O200K, missing

PREFACE = "Chunk ID: ded73a\nWall time: 0.7 seconds\nProcess exited with code 0\nOutput:\n"


def shown(text: str, limit: int = 400, marker: Marker = MARKER) -> str:
    data = text.encode()
    kind = recognise(data)
    source = Source(data, kind, O200K.count(text), text.count("\n") + 1)
    room = Room(limit, O200K)
    done = shape(source, room, NO_QUERY, marker, keep="best", is_error=False).text
    assert O200K.count(done) <= limit
    return done


@pytest.mark.parametrize(
    "preface",
    [
        PREFACE,
        "Output:\n",
        "OBSERVATION:\r\n",
        "Exit code 1\n",
        "Process exited with code -9\n",
        "<returncode>0</returncode>\n<output>\n",
        "HTTP/1.1 200 OK\r\nDate: Sun\r\nContent-Type: application/json\r\n\r\n",
        "HTTP/2 404\nserver: x\n\n",
        "Content-type: text/html; charset=UTF-8\n\n",
    ],
)
def test_what_a_harness_says_before_the_output_is_a_preface(preface):
    text = f"{preface}the output\nof a command\n".encode()

    assert preface_of(text) == len(preface)


@pytest.mark.parametrize(
    "text",
    [
        "the output\n",
        "Output: 3 files\n",
        "Exit code 1\n",
        "Exit code 1 was expected\nhere\n",
        "a line\n" * 9 + "Output:\nmore\n",
        "a" * 200 + "\nOutput:\nmore\n",
        '{"output":\n1}\n',
    ],
)
def test_an_output_that_only_begins_alike_has_none(text):
    assert preface_of(text.encode()) == 0


def test_the_kind_is_that_of_the_output():
    rows = json.dumps([{"n": i, "word": "alpha"} for i in range(40)])

    assert recognise(f"{PREFACE}{rows}\n".encode()) == "json"


def test_a_preface_is_shown_as_it_is_and_json_below_it_stays_json():
    rows = json.dumps([{"n": i, "word": f"alpha {i} beta {i * 7}"} for i in range(400)])
    result = shown(f"{PREFACE}{rows}\n")

    assert result.startswith(PREFACE)
    assert json.loads(result.removeprefix(PREFACE))["items"][0] == {
        "n": 0,
        "word": "alpha 0 beta 0",
    }
    assert 'lines=\\"5-\\"' in result


@given(st.integers(60, 300), st.sampled_from(["Exit code 1\n", PREFACE]))
def test_lines_keep_the_numbers_they_have_in_the_whole(count, preface):
    lines = [f"step {i} wrote {i * 37} rows" for i in range(count)]
    lines[count // 2] = "ERROR: the disk is full"
    whole = (preface + "\n".join(lines)).split("\n")
    result = shown("\n".join(whole))
    gaps = missing(result)
    main = re.search(r'lines="(\d+)-(\d+)"', result)

    assert "ERROR: the disk is full" in result
    for number, line in enumerate(whole, 1):
        assert (line in result.split("\n")) != (number in gaps) or main is not None
    for number in gaps:
        assert whole[number - 1] not in result.split("\n")
    if main:
        assert whole[int(main[1]) - 1] not in result.split("\n")
        assert whole[int(main[1]) - 2] in result.split("\n")


def test_repeated_lines_are_counted_by_their_numbers_in_the_whole():
    text = PREFACE + "first\n" + "the same line again\n" * 900 + "last\n"

    assert "[line 6 comes 900 times, up to 905 #k7q2]" in shown(text)


def test_where_a_preface_would_take_too_much_it_is_shaped_with_the_rest():
    text = PREFACE + "\n".join(f"step {i} wrote {i * 37} rows" for i in range(300))

    assert not shown(text, 60).startswith(PREFACE)


def test_an_ask_is_made_of_the_whole():
    marker = Marker("k7q2", "r_abcdefghijkl", lines_before=4, bytes_before=90)

    def asked(ask: Ask) -> str:
        return marker.shown("x", ask)

    assert 'lines="15-24"' in asked(Ask("lines", "11-20"))
    assert 'lines="15-"' in asked(Ask("lines", "11-"))
    assert 'bytes="100-109"' in asked(Ask("bytes", "10-19"))
    assert 'lines="5-"' in asked(Ask("path", "$.items"))
    assert "page" not in asked(Ask("page", "2", Ask("page_size", "10")))
