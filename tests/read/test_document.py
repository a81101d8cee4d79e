import pytest

from headgate.errors import RequestError
from headgate.marker import Ask
from headgate.read.document import (
    DOCUMENT_BYTES,
    document_of,
    marker_of_part,
    shape_part,
    short_location,
)
from headgate.read.original import Original
from headgate.shape.shaper import Room
from headgate.types import About
from tests.read.originals import MARKER, O200K, original

pytestmark = pytest.mark.proves("K6")


def test_a_document_is_the_whole_as_it_is_shown():
    assert document_of(original(b'{"a": "\xe2\x80\xae"}')).data == b'{"a": "\\u202e"}'


@pytest.mark.parametrize(
    ("data", "ask"),
    [
        (b'{"a": 1,\n "b": 2}', Ask("bytes", "10-13")),
        (b'{"a": 1,\r\n "b": 2}', Ask("lines", "2")),
        ('{"a": 1,\n "b": "\u202e"}'.encode(), Ask("lines", "2")),
        ('{"a": 1,\n "b": 2}'.encode("utf-16"), Ask("lines", "1-")),
    ],
)
def test_bytes_that_stand_elsewhere_in_the_original_are_asked_for_by_lines(data, ask):
    assert document_of(original(data)).stretch("10-13") == ask


def test_a_document_that_is_too_large_is_not_read():
    about = About("r_1f3a9c7be20d", "", DOCUMENT_BYTES + 1, 1, "c", "bash", 0, 1 << 18, ())

    def read(start: int, stop: int) -> bytes:
        raise AssertionError("nothing is to be read")

    with pytest.raises(RequestError) as raised:
        document_of(Original(about, read, exact=False))

    assert str(raised.value) == (
        "the result has 268,435,457 bytes; beyond 268,435,456 it is not taken apart as JSON: "
        "read it by lines, bytes or search"
    )


@pytest.mark.parametrize(
    ("ask", "call"),
    [
        (Ask("path", "$.name"), 'path="$.items[3].name"'),
        (Ask("path", "$[4:9]"), 'path="$.items[3][4:9]"'),
        (Ask("bytes", "10-19"), 'bytes="110-119"'),
        (Ask("bytes", "10-"), 'bytes="110-"'),
        (Ask("page", "3", Ask("page_size", "20")), 'path="$.items[3][40:60]"'),
    ],
)
@pytest.mark.proves("R15")
def test_the_marker_of_a_part_points_into_the_whole(ask, call):
    marker = marker_of_part(MARKER, "$.items[3]", 100, pages=False)

    assert marker.long(1, 2, "items", 30, ask) == (
        "[1 of 2 items omitted, about 30 tokens; "
        f'read_result(ref="r_1f3a9c7be20d", {call}) shows more #k7q2]'
    )


def test_a_page_of_a_part_stays_a_page_where_pages_are_read():
    marker = marker_of_part(MARKER, "$.items", 100, pages=True)

    assert "page=3, page_size=20" in marker.long(
        *(1, 2, "items", 30), Ask("page", "3", Ask("page_size", "20"))
    )


def test_what_is_no_json_is_not_shaped_as_json():
    assert shape_part(b"plain", Room(200, O200K), MARKER) is None


def test_a_location_is_written_as_people_write_it():
    assert short_location("$['items'][3]['odd name']['x_1']") == "$.items[3]['odd name'].x_1"


@pytest.mark.proves("P18")
def test_a_location_hides_nothing():
    assert short_location("$['a\u202eb']['\x9b']['\ud800']") == (
        r"$['a\u202eb']['\u009b']['\ud800']"
    )
