"""Whether a text is written as keys and values, told from its first lines: YAML, TOML, INI, XML.

What stands at the margin decides. There every line is a key, a heading in brackets, an item or a
comment; in prose, in a log or in a program hardly three lines in a row are.
"""

from __future__ import annotations

import re
from itertools import islice

FIRST_BYTES = 16 * 1024
FIRST_LINES = 200

ROW = re.compile(rb"[^\n]+")
LINE = re.compile(
    rb"[ \t]*(?:(?:---|\.\.\.)\s*$|(?P<heading>\[\[?[^\[\],]+\]\]?)\s*(?:#.*)?$"
    rb"|(?P<item>(?:- +)*)(?:"
    rb"(?P<key>\"[^\"]*\"|'[^']*'|[\w.$/@+~*<-][^\s:=#\"'(){}]*(?: [^\s:=#\"'(){}]+){0,3})"
    rb"[ \t]*(?::(?=[ \t]|$)|=(?!=))"
    rb"|(?P<word>[a-z_][\w.-]*)(?:(?: +(?:\"[^\"]*\"|[^\s\"(){};=]+))* *\{\s*$| [^;(){}]*;\s*$))"
    rb"|-(?: |$)|[\])}]+[,;]?\s*$)"
)
PROGRAM = re.compile(
    rb"(?:async|bool|case|catch|char|class|const|def|do|double|elif|else|enum|except|export|extern"
    rb"|float|fn|for|from|func|function|if|impl|import|int|interface|let|long|message|mod|module"
    rb"|namespace|package|private|protected|pub|public|return|service|static|struct|switch|trait|try"
    rb"|type|typedef|union|unsigned|use|using|val|var|void|while|with)\b"
)
"""How lines of programs begin; what else has braces is the configuration of one."""
COMMENT = (b"#", b";", b"//", b"!")

LEAST_KEYS = 5
"""Fewer lines with a key are no text of keys and values."""
LEAST_DIFFERENT = 3
"""So many of the keys are different, or they are levels of a log or speakers of a talk."""
LEAST_INNER = 0.15
"""What share of the lines stands deeper, or is a heading: otherwise it is a list of facts."""
LEAST_KEYED = 0.3
"""What share of the lines that stand deeper has a key or is an item."""


ELEMENT = re.compile(rb"\s*<[/?!]?[a-zA-Z-]")
LEAST_ELEMENTS = 8
LEAST_MARKED_UP = 0.6
LEAST_IN_A_ROW = 8
"""How many lines begin with an element, and what share of all: in a document it is fewer; and how
many elements a line has where they share it."""


def is_marked_up(text: bytes) -> bool:
    """Whether a text is elements on lines of their own."""
    if not ELEMENT.match(text):
        return False
    lines = [line for line in text[:FIRST_BYTES].split(b"\n")[:FIRST_LINES] if line.strip()]
    found = sum(ELEMENT.match(line) is not None for line in lines)
    return found >= LEAST_ELEMENTS and found >= LEAST_MARKED_UP * len(lines)


def is_marked_up_in_a_row(text: bytes) -> bool:
    """Whether a text is elements, many on a line."""
    start = text[:FIRST_BYTES]
    elements = start.count(b"><")
    return ELEMENT.match(text) is not None and elements >= LEAST_IN_A_ROW * (start.count(b"\n") + 1)


def is_keyed(text: bytes) -> bool:
    """Whether a text is keys and values in some order of levels."""
    keys: list[bytes] = []
    inner = keyed = headings = said = 0
    # One after the other: most texts are ruled out by their first line.
    for row in islice(ROW.finditer(text, 0, FIRST_BYTES), FIRST_LINES):
        line = row[0]
        if not line.strip() or line.lstrip().startswith(COMMENT):
            continue
        said += 1
        found = LINE.match(line)
        if line[:1] in b" \t":
            inner += 1
            keyed += found is not None
        elif found is None:
            return False
        if found is None:
            continue
        headings += found["heading"] is not None
        key = found["key"] or found["word"]
        if key is not None and not found["item"]:
            keys.append(key)
            if (found["word"] or b" " in key) and PROGRAM.match(line):
                return False
    if len(keys) < LEAST_KEYS or len(set(keys)) < LEAST_DIFFERENT:
        return False
    return headings > 0 or (inner >= LEAST_INNER * said and keyed >= LEAST_KEYED * inner)
