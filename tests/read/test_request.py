import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import RequestError
from headgate.read.request import NAMES, Request, Span, request_of

pytestmark = pytest.mark.proves("K6")


@pytest.mark.parametrize(
    ("value", "span"),
    [
        ("401-800", Span(401, 800)),
        ("401-", Span(401, None)),
        ("-50", Span(None, 50)),
        ("401", Span(401, 401)),
        (401, Span(401, 401)),
        (401.0, Span(401, 401)),
        (-50, Span(None, 50)),
        (" 401 - 800 ", Span(401, 800)),
        ("1,401-1,800", Span(1401, 1800)),
        ("1_048_576-", Span(1048576, None)),
    ],
)
def test_a_span_is_read_as_models_write_it(value, span):
    assert request_of({"lines": value}) == Request(lines=span)
    assert request_of({"bytes": value}) == Request(bytes=span)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"lines": "all"},
            'lines is "all"; write lines="401-800", lines="401-", or lines="-50" for the last 50',
        ),
        ({"lines": "5 6"}, 'lines is "5 6"; write lines="401-800"'),
        ({"lines": "1,3"}, 'lines is "1,3"; write lines="401-800"'),
        ({"lines": "10,2000"}, 'lines is "10,2000"; write lines="401-800"'),
        ({"lines": "-"}, 'lines is "-"; write lines="401-800"'),
        ({"lines": "-0"}, 'lines is "-0"; write lines="401-800"'),
        ({"lines": True}, "lines is true; write lines="),
        ({"lines": [1, 5]}, "lines is [1, 5]; write lines="),
        ({"lines": "9" * 30}, f'lines is "{"9" * 30}"; write lines='),
        ({"lines": "0"}, 'lines is "0"; lines count from 1'),
        ({"lines": "800-401"}, 'lines is "800-401", backwards; write lines="401-800"'),
        ({"search": 7}, 'search is 7; it takes text, as in search="error|warning"'),
        ({"path": ["a"]}, 'path is ["a"]; it takes text, as in path="$.items[0].name"'),
        ({"search": "é" * 513}, "search is 1,026 bytes long; at most 1,024 are read"),
        ({"path": "a" * 1_025}, "path is 1,025 bytes long; at most 1,024 are read"),
        ({"max_tokens": 0}, "max_tokens is 0; it takes a whole number, as in max_tokens=2000"),
        ({"max_tokens": "many"}, 'max_tokens is "many"; it takes a whole number'),
        ({"offset": 3}, 'there is no argument "offset"; there are ref, tool, lines, bytes'),
        (
            {"lines": "1-5", "path": "$.a"},
            "lines and path were given; give one of lines, bytes, page, search, path",
        ),
        ({"lines": "1", "bytes": "1", "page": 2}, "lines, bytes and page were given; give one of"),
        ({"search": "x", "page": 2}, "page and search were given; give one of"),
    ],
)
def test_what_cannot_be_meant_is_answered_in_words(arguments, message):
    with pytest.raises(RequestError) as raised:
        request_of(arguments)

    assert str(raised.value).startswith(message)


def test_byte_zero_is_the_first():
    assert request_of({"bytes": "0-99"}) == Request(bytes=Span(0, 99))


def test_a_search_may_say_where_to_look():
    assert request_of({"search": "x", "lines": "5-"}) == Request(search="x", lines=Span(5, None))
    assert request_of({"search": "x", "bytes": "5-"}) == Request(search="x", bytes=Span(5, None))


def test_a_path_may_say_which_page_of_its_values():
    asked = request_of({"path": "$..id", "page": 2, "page_size": 10})

    assert asked == Request(path="$..id", page=2, page_size=10)


def test_nothing_asks_for_the_start():
    assert request_of({"ref": "r_1f3a9c7be20d", "tool": "grep"}) == Request()


def test_null_and_empty_stand_for_left_out():
    assert request_of(dict.fromkeys(NAMES)) == Request()
    assert request_of(dict.fromkeys(NAMES, "")) == Request()


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        ({"page": 3}, Request(page=3)),
        ({"page": "3", "page_size": "20"}, Request(page=3, page_size=20)),
        ({"page": 0}, Request(page=1)),
        ({"page": -4}, Request(page=1)),
        ({"page": "second"}, Request(page=1)),
        ({"page_size": 20}, Request(page=1, page_size=20)),
        ({"page": 2, "page_size": 0}, Request(page=2)),
        ({"page": 2, "page_size": "big"}, Request(page=2)),
        ({"page": "second", "lines": "5"}, Request(lines=Span(5, 5))),
        ({"page_size": 20, "lines": "5"}, Request(lines=Span(5, 5), page_size=20)),
    ],
)
def test_a_page_that_makes_no_sense_is_ignored(arguments, request_):
    assert request_of(arguments) == request_


def test_the_most_tokens_are_read_however_they_are_written():
    assert request_of({"max_tokens": "2000"}).tokens == 2_000
    assert request_of({"max_tokens": 2000.0}).tokens == 2_000


def test_what_is_repeated_to_its_author_is_short_and_on_one_line():
    with pytest.raises(RequestError) as raised:
        request_of({"lines": "\x1b[31m\n" * 100})

    said = str(raised.value)
    assert said.isprintable()
    assert len(said) < 220


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def request_or_words(arguments) -> Request | str:
    try:
        return request_of(arguments)
    except RequestError as error:
        return str(error)


@pytest.mark.proves("P24")
@given(st.dictionaries(st.sampled_from(NAMES) | st.text(), values))
def test_any_arguments_are_a_request_or_a_sentence(arguments):
    found = request_or_words(arguments)

    if isinstance(found, str):
        assert "\n" not in found
        assert len(found) < 400
    else:
        ways = [found.lines, found.bytes, found.page, found.search, found.path]
        assert sum(way is not None for way in ways) <= 2


def test_an_argument_that_is_no_json_is_named_by_its_type():
    with pytest.raises(RequestError, match=r"^lines is object; write"):
        request_of({"lines": object()})
