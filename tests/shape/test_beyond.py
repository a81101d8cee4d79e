from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.beyond import blocks_beyond
from headgate.shape.webpage import Block
from headgate.types import Query

FILLER = b"<p>nothing to see here</p>" * 60


def found(page: bytes, *words: str, stop: int = 0) -> list[Block]:
    return [block for block in blocks_beyond(page, stop, Query(words)) if block.text]


def test_without_a_query_all_that_is_left_is_unread():
    assert blocks_beyond(FILLER, 26, Query(())) == [Block("", 26, len(FILLER) - 1, 0.0, False)]
    assert blocks_beyond(FILLER, len(FILLER), Query(("nothing",))) == []


def test_what_stands_around_a_word_is_read_and_knows_its_place():
    page = FILLER + b"<p>The Heron is blue</p>" + FILLER
    [heron] = [block for block in found(page, "heron") if "Heron" in block.text]

    assert heron.text == "The Heron is blue"
    assert page[heron.first : heron.last + 1] == b"The Heron is blue"
    assert len(found(page, "heron")) < 90


def test_a_phrase_is_looked_for_as_it_is_written():
    page = FILLER + b"<p>a grey heron at noon</p>" + FILLER
    blocks = blocks_beyond(page, 0, Query((), ("grey heron",)))

    assert "a grey heron at noon" in [block.text for block in blocks]


def test_what_no_reader_sees_is_not_found():
    for hidden in (b"<script>heron</script>", b"<style>heron</style>", b'<a title="heron">x</a>'):
        assert found(FILLER + hidden + FILLER, "heron") == []


def test_a_word_that_stands_everywhere_points_at_nothing():
    assert found(FILLER, "nothing") == []


def test_words_near_each_other_are_read_once():
    page = FILLER + b"<p>heron one</p><p>heron two</p>" + FILLER
    texts = [block.text for block in found(page, "heron", "two")]

    assert [text for text in texts if "heron" in text] == ["heron one", "heron two"]


@given(st.lists(st.sampled_from([b"<p>", b"heron ", FILLER, b"<", b">", b"x" * 700]), max_size=9))
def test_blocks_stand_in_order_and_within_the_page(parts):
    page = b"".join(parts)
    blocks = blocks_beyond(page, min(len(page), 30), Query(("heron",)))

    assert [block.first for block in blocks] == sorted(block.first for block in blocks)
    if blocks:
        assert max(block.last for block in blocks) <= len(page)
    if page[30:] and b"heron" not in page[30:]:
        assert [(block.first, block.last) for block in blocks] == [(30, len(page) - 1)]
