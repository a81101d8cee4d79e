"""The arithmetic of pages, the same for what is shown first and for what is read back."""

from __future__ import annotations

from dataclasses import dataclass

PAGE_ITEMS = 50
"""The size of a page for who asks for a page and not for a size."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was asked for; without a size it has the usual one."""

    number: int = 1
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A page that exists: the items from `start` up to `stop` of `total`."""

    number: int
    size: int
    start: int
    stop: int
    total: int

    @property
    def pages(self) -> int:
        """How many pages of this size there are; an empty list has one."""
        return max(-(-self.total // self.size), 1)

    @property
    def has_more(self) -> bool:
        """Whether a page follows."""
        return self.stop < self.total


def asked_page(number: object, size: object) -> Page | None:
    """The page a call asks for, from arguments nobody checked; what makes no sense is ignored."""
    number, size = _whole(number), _whole(size)
    if size is not None and size < 1:
        size = None
    if number is None and size is None:
        return None
    return Page(1 if number is None else max(number, 1), size)


def span_of(total: int, page: Page) -> Span:
    """The page of a list that `page` asks for; one beyond the last is the last."""
    size = min(page.size or PAGE_ITEMS, max(total, 1))
    last = max(-(-total // size), 1)
    number = min(max(page.number, 1), last)
    start = (number - 1) * size
    return Span(number, size, start, min(start + size, total), total)


def shrunk(span: Span, fitting: int) -> Span:
    """The largest page of at most `fitting` items, at least one, that begins where `span` does."""
    size = max(min(fitting, span.size), 1)
    while span.start % size:
        size -= 1
    return Span(
        span.start // size + 1, size, span.start, min(span.start + size, span.total), span.total
    )


def _whole(value: object) -> int | None:
    """A whole number, also as models write it: `2`, `2.0`, `"2"`."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:18])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
