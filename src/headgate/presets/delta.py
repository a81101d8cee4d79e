"""2,000 tokens of four characters each; arrays in pages of 50, objects by their keys, as JSON.

Where its document leaves a choice, and where a promise comes first:

- The whole envelope fits the 2,000 tokens, its note and escapes too; so the preview is shorter.
- A page that would be larger than that has fewer items, and its note then names the page size.
- An array that is over the 2,000 tokens is shown in pages, however few items it has.
- A key of the data that is called as one of ours stays; ours gets another name.
- A text is taken for JSON if it is JSON, whether the tool returned a value or its text.
- What comes in pieces and grows over 8 MiB is shown as a string, whatever it holds.
- A string as the value of a key is shown up to 100 bytes, of an object inside five keys.
- The original is kept all the same; its address is not shown.
"""

from headgate.ageing import Ageing
from headgate.guard_rules import NO_GUARDS
from headgate.marker import MarkerStyle
from headgate.policy import Policy
from headgate.types import tokens

DELTA = Policy(
    result=tokens(2_000),
    batch=None,
    vocab="chars/4",
    errors="same",
    classes={},
    keep="envelope",
    page_items=50,
    page_arguments=("page", "pageSize"),
    marker=MarkerStyle(
        reader="none",
        plain_pages=True,
        long="[{missing} of {total} {what} omitted, about {tokens} tokens #{tag}]",
        short="[{missing} of {total} {what} omitted #{tag}]",
    ),
    guards=NO_GUARDS,
    ageing=Ageing(high=None),
    repeats=False,
    block_overhead=0,
    asked_tokens=(),
    asked_lines=(),
)
