"""The elements of HTML by what they mean to a reader, and the names that pages give them."""

from __future__ import annotations

import re

RAW = frozenset({b"script", b"style", b"template", b"textarea", b"svg", b"math", b"iframe"})
RAW_ENDS = {name: re.compile(rb"(?i)</" + name) for name in RAW}
"""Elements whose inside is no text for a reader; it ends only at their own end."""

HIDDEN = frozenset({b"noscript", b"select", b"object", b"canvas", b"audio", b"video", b"dialog"})
AROUND = frozenset({b"nav", b"footer", b"aside", b"form", b"button", b"menu"})
"""Elements that stand around the main text."""

VOID = frozenset(
    {
        *(b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta"),
        *(b"param", b"source", b"track", b"wbr"),
    }
)

INLINE = frozenset(
    {
        *(b"a", b"abbr", b"acronym", b"b", b"bdi", b"bdo", b"big", b"br", b"cite", b"code"),
        *(b"data", b"del", b"dfn", b"em", b"font", b"i", b"img", b"ins", b"kbd", b"label", b"mark"),
        *(b"q", b"rp", b"rt", b"ruby", b"s", b"samp", b"small", b"span", b"strike", b"strong"),
        *(b"sub", b"sup", b"time", b"tt", b"u", b"var", b"wbr", b"input", b"picture", b"source"),
    }
)
CELLS = frozenset({b"td", b"th"})
HEADINGS = {b"h1": "# ", b"h2": "## ", b"h3": "### ", b"h4": "#### ", b"h5": "##### ", b"h6": "# "}
PREFIXES = {**HEADINGS, b"li": "- ", b"blockquote": "> ", b"dt": "- "}

AROUND_NAME = re.compile(
    rb"\b(?:nav|navbar|menu|footer|sidebar|breadcrumbs?|comments?|share|sharing|social|related"
    rb"|recommend\w*|promo\w*|advert\w*|ads?|sponsor\w*|banner|cookie\w*|newsletter|subscribe|popup"
    rb"|modal|widget|toolbar|pagination|pager|login|signup|copyright|hidden|skip|masthead"
    rb"|disqus|outbrain|taboola|trending|popular|more-?stories|tags?|byline|meta)\b"
)
"""Names of classes and ids that page authors give to what surrounds the text."""

MAIN_NAME = re.compile(rb"\b(?:article|content|main|post|entry|story|body|text)")

ENDED_BY = {
    b"li": (b"li", b"p"),
    b"dt": (b"dt", b"dd", b"p"),
    b"dd": (b"dt", b"dd", b"p"),
    b"tr": (b"tr", b"td", b"th", b"p"),
    b"td": (b"td", b"th", b"p"),
    b"th": (b"td", b"th", b"p"),
    **dict.fromkeys((b"p", b"div", b"ul", b"ol", b"dl", b"table", b"pre", *HEADINGS), (b"p",)),
}
"""Elements that end where the next begins: many a page leaves out their end tags."""
