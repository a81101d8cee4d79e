import pytest

from tests.shape.shown import O200K, shaped

PARAGRAPH = (
    "Paragraph {} of the text that a reader came for, long enough to be a sentence of its own."
)
MENU = "".join(
    f'<li class="item"><a href="/section/{i}">Section {i}</a></li>\n' for i in range(400)
)


def page(count: int, *, odd: str = "") -> str:
    paragraphs = [f"<p>{PARAGRAPH.format(i)}</p>" for i in range(count)]
    paragraphs[count // 2] += odd
    text = "\n".join(paragraphs)
    return f"""<html><head><title>A page</title><script>{"var x;" * 900}</script></head><body>
<nav><ul>{MENU}</ul></nav><article>
{text}
<p>The end, <a href="https://example.org/more">read more</a> about it if you want to know all.</p>
</article><footer>Imprint</footer></body></html>"""


def test_the_main_text_is_shown_and_not_the_markup_nor_the_menu():
    shown = shaped("html", page(6), 600)

    assert shown.split("\n")[1:] == [
        "title: A page",
        *(PARAGRAPH.format(i) for i in range(6)),
        "The end, read more about it if you want to know all.",
        "Imprint",
        "Links:",
        "- read more: https://example.org/more",
    ]


def test_the_marker_says_how_much_of_the_source_is_not_shown():
    assert shaped("html", page(6), 600).startswith("[402 of 410 lines omitted, about ")


@pytest.mark.proves("S4", "S8")
def test_a_long_text_is_shown_from_its_start_and_where_the_query_points():
    odd = (
        "<p>The rollback of replica eu-3 took nine minutes, far more than anybody had planned.</p>"
    )
    shown = shaped("html", page(400, odd=odd), 600, "replica", "eu-3")

    assert PARAGRAPH.format(0) in shown
    assert "The rollback of replica eu-3 took nine minutes" in shown
    assert 540 <= O200K.count(shown) <= 600


def test_a_page_of_one_line_names_the_bytes_of_its_gaps():
    text = page(60).replace("\n", "")
    shown = shaped("html", text, 500, "45")

    assert "bytes omitted" in shown
    assert 'bytes="' in shown


def test_a_page_without_text_is_left_to_others():
    assert shaped("html", "<html><body><script>x</script></body></html>", 500) is None


def long_page(*, odd: str) -> str:
    script = "<script>var replica = 'eu-3 of a script';</script>"
    rows = [f"<li>Row <b>{i}</b> of a list that has no end</li>" for i in range(8_000)]
    rows[7_000] = script + odd
    return "<html><body><ul>\n" + "\n".join(rows) + "\n</ul></body></html>"


@pytest.mark.proves("S4", "S8")
def test_of_a_page_of_very_many_tags_the_rest_is_named_as_missing():
    shown = shaped("html", long_page(odd="<li>last</li>"), 400)

    assert shown.startswith("[7,9")
    assert "- Row 0 of a list that has no end" in shown
    assert shown.split("\n")[-1] == "[lines 29-8002 omitted #k7q2]"


@pytest.mark.proves("S4")
def test_of_a_page_of_very_many_tags_the_query_finds_what_stands_far_behind():
    odd = "<li>The rollback of replica <i>eu-3</i> took nine minutes.</li>"
    shown = shaped("html", long_page(odd=odd), 400, "replica", "eu-3")

    assert "- The rollback of replica eu-3 took nine minutes." in shown
    assert "of a script" not in shown


@pytest.mark.proves("S4")
def test_what_is_said_below_a_term_that_was_asked_for_is_shown():
    said = "The output goes to stdout, to a buffer that is named, or to a new one. " * 4
    odd = f"<dl><dt>capture-pane</dt><dd>{said}</dd></dl>"
    shown = shaped("html", page(400, odd=odd), 300, "capture-pane")

    assert f"capture-pane\n{said.strip()}" in shown


@pytest.mark.proves("S4")
def test_the_list_below_what_was_asked_for_and_its_heading_are_shown():
    items = "".join(
        f"<li>condition {i} of the read-only medium that has to be met" for i in range(5)
    )
    odd = f"<h2>Limits</h2><p>A WAL database on read-only media can be read if:</p><ul>{items}</ul>"
    shown = shaped("html", page(400, odd=odd), 400, "read-only", "media", "WAL")

    assert "## Limits\nA WAL database on read-only media can be read if:\n- condition 0" in shown
    assert "- condition 4 of the read-only medium" in shown


@pytest.mark.proves("S4")
def test_a_word_in_the_menu_takes_nothing_from_the_text():
    menu = "".join(f"<li><a href='/{i}'>fuzzy {i}</a></li>" for i in range(12))
    text = page(400, odd="<p>With fuzzy on, the receiver looks for a file that is alike.</p>")
    text = text.replace("<nav><ul>", f"<nav><ul>{menu}")
    shown = shaped("html", text, 300, "fuzzy")

    assert "With fuzzy on, the receiver looks for a file that is alike." in shown


def test_blocks_that_share_a_line_are_told_by_their_bytes():
    lines = page(60).replace("</p>\n<p>", "</p><p>")

    assert "bytes omitted" in shaped("html", lines, 300)
    assert "lines omitted" in shaped("html", page(60), 300)
