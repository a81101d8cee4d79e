from headgate.shape.webpage import Link, read_page

SENTENCE = "A sentence with enough words in it to be told from a label or from the name of a menu."


def texts(html: str, *, main_only: bool = False) -> list[str]:
    return [b.text for b in read_page(html.encode()).blocks if b.main or not main_only]


def test_blocks_end_where_a_reader_sees_an_end():
    page = "<h2>A  title</h2><p>One <b>two</b>\n three<br>four</p><ul><li>five<li>six</ul>seven"

    assert texts(page) == ["## A title", "One two three\nfour", "- five", "- six", "seven"]


def test_a_row_of_a_table_is_one_block():
    page = "<table><tr><th>name<th>size</tr><tr><td>a.txt</td><td>12</td></tr></table>"

    assert texts(page) == ["name | size", "a.txt | 12"]


def test_entities_are_the_characters_they_stand_for():
    assert texts("<p>a &lt; b &amp;&nbsp;c &#228;</p>") == ["a < b & c ä"]


def test_what_no_reader_sees_is_left_out():
    page = """<script>if (a < b) { x("</p>") }</script><style>p {}</style><!-- <p>no</p> -->
    <p hidden>no</p><div style="display: none">no <p>no</div><template><p>no</p></template><p>yes"""

    assert texts(page) == ["yes"]


def test_text_that_is_set_as_written_keeps_its_lines():
    assert texts("<pre>def f():\n    return 1\n\nx = f()</pre>") == [
        "def f():\n    return 1",
        "x = f()",
    ]


def test_a_quoted_value_may_hold_the_end_of_a_tag():
    assert texts('<p title="a > b">text</p>') == ["text"]


def test_the_title_stands_apart():
    page = read_page(b"<html><head><title>A &amp; B</title></head><body><p>text</body></html>")

    assert page.title == "A & B"
    assert [block.text for block in page.blocks] == ["text"]


def test_the_main_text_is_told_from_menus_and_footers():
    menu = "".join(f"<li><a href='/{i}'>Section {i}</a></li>" for i in range(30))
    page = f"""<body><nav><ul>{menu}</ul></nav><div class="sidebar"><p>{SENTENCE}</p></div>
    <div id="content"><h1>Heading</h1><p>{SENTENCE} One.</p><p>{SENTENCE} Two.</p>
    <p>{SENTENCE} Three.</p><p>{SENTENCE} Four.</p></div><footer><p>{SENTENCE}</p></footer>"""

    assert texts(page, main_only=True) == [
        "# Heading",
        *(f"{SENTENCE} {number}." for number in ("One", "Two", "Three", "Four")),
    ]


def test_a_form_around_the_whole_page_is_not_taken_for_a_surrounding():
    assert texts(f"<form class='menu'><p>{SENTENCE}</p></form>", main_only=True) == [SENTENCE]


def test_links_keep_their_text_and_address():
    page = "<p>See <a href='/a?b=1&amp;c=2'>the <i>guide</i></a>, <a href='#top'>top</a>.</p>"
    [block] = read_page(page.encode()).blocks

    assert block.text == "See the guide, top."
    assert block.links == [Link("the guide", "/a?b=1&c=2")]


def test_a_block_knows_where_its_source_stands():
    page = b"<p>one</p>\n<div>two <b>three</b></div>"
    places = [page[b.first : b.last + 1] for b in read_page(page).blocks]

    assert places == [b"one", b"two <b>three</b>"]


def test_a_page_of_very_many_tags_is_read_until_there_is_enough():
    row = "<tr><td>a<td>b</tr>"
    long = f"<table>{row * 4_000}</table>".encode()

    assert len(read_page(long).blocks) == 4_000
    some, more = read_page(long, 100), read_page(long, 1_000_000)
    assert 1_000 < len(some.blocks) < 1_200 < 2_000 < len(more.blocks) < 2_400
    assert some.blocks == read_page(long[: some.stop]).blocks
    assert read_page(long[: some.stop], 100).stop == some.stop


def test_what_is_never_closed_goes_up_to_the_end():
    assert texts("<p>text<!-- no <p>no") == ["text"]
    assert texts("<p>text<script>no <p>no") == ["text"]
    assert texts("<p>text<SCRIPT>no</scripT ><p>more") == ["text", "more"]


def test_no_part_of_an_article_is_left_behind_from_element_to_element():
    parts = "".join(f"<p>{SENTENCE} Part {i}.</p>" for i in range(4))
    inner = f"<div><div>{parts}</div><p>{SENTENCE} Five.</p></div><p>{SENTENCE} Six.</p>"
    page = f"<body><div><div>{inner}</div><p>{SENTENCE} Seven.</p></div></body>"

    assert f"{SENTENCE} Five." in texts(page, main_only=True)


def test_elements_end_where_the_next_begins_if_their_end_tags_are_left_out():
    menu = b"<nav><ul>" + b"<li><p>way to somewhere" * 60 + b"</ul></nav>"
    text = b"<p>A sentence that a reader came for, long enough to be told from any label." * 9
    blocks = read_page(menu + text).blocks

    assert [block.main for block in blocks] == [False] * 60 + [True] * 9
