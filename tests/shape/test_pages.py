import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.pages import Page, Span, asked_page, shrunk, span_of


@pytest.mark.proves("S6")
@pytest.mark.parametrize(
    ("number", "size", "page"),
    [
        (2, 20, Page(2, 20)),
        ("2", "20", Page(2, 20)),
        (2.0, None, Page(2, None)),
        (None, 20, Page(1, 20)),
        (None, None, None),
        ("two", None, None),
        (True, None, None),
        (float("nan"), [], None),
        (float("inf"), 5, Page(1, 5)),
        (3, 0, Page(3, None)),
        (3, -1, Page(3, None)),
        (0, 10, Page(1, 10)),
        (-4, 10, Page(1, 10)),
        ("9" * 40, 10, Page(10**18 - 1, 10)),
        (2.5, None, None),
        ({"page": 1}, "x", None),
        ("٣", None, None),
    ],
)
def test_a_page_is_read_from_arguments_and_nonsense_is_ignored(number, size, page):
    assert asked_page(number, size) == page


@pytest.mark.proves("S6")
@pytest.mark.parametrize(
    ("total", "page", "span", "pages", "has_more"),
    [
        (95, Page(1, 20), Span(1, 20, 0, 20, 95), 5, True),
        (95, Page(5, 20), Span(5, 20, 80, 95, 95), 5, False),
        (95, Page(6, 20), Span(5, 20, 80, 95, 95), 5, False),
        (95, Page(0, 20), Span(1, 20, 0, 20, 95), 5, True),
        (100, Page(5, 20), Span(5, 20, 80, 100, 100), 5, False),
        (100, Page(2), Span(2, 50, 50, 100, 100), 2, False),
        (7, Page(1, 10**18), Span(1, 7, 0, 7, 7), 1, False),
        (0, Page(3, 20), Span(1, 1, 0, 0, 0), 1, False),
    ],
)
def test_a_page_out_of_range_is_clamped_and_the_last_promises_no_other(
    total, page, span, pages, has_more
):
    found = span_of(total, page)

    assert (found, found.pages, found.has_more) == (span, pages, has_more)


@pytest.mark.proves("S6")
@given(st.integers(0, 500), st.integers(1, 60))
def test_the_pages_of_a_list_follow_each_other_and_cover_it(total, size):
    spans = [
        span_of(total, Page(number, size))
        for number in range(1, span_of(total, Page(1, size)).pages + 1)
    ]

    assert [number for span in spans for number in range(span.start, span.stop)] == list(
        range(total)
    )
    assert [span.has_more for span in spans] == [True] * (len(spans) - 1) + [False]


@given(st.integers(1, 500), st.integers(1, 30), st.integers(1, 60), st.integers(0, 70))
def test_a_shrunk_page_begins_where_it_did_and_keeps_its_arithmetic(total, number, size, fitting):
    span = span_of(total, Page(number, size))

    small = shrunk(span, fitting)

    assert small == span_of(total, Page(small.number, small.size))
    assert small.start == span.start
    assert small.size <= max(fitting, 1)


def test_the_first_page_shrinks_to_what_fits():
    assert shrunk(span_of(100, Page(1, 50)), 17) == Span(1, 17, 0, 17, 100)


def test_a_later_page_shrinks_to_a_size_that_divides_what_lies_before():
    assert shrunk(span_of(300, Page(3, 50)), 17) == Span(11, 10, 100, 110, 300)
