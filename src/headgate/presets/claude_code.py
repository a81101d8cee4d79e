"""50,000 characters a result, 200,000 a message; what is larger goes to a file, with a preview.

Where its document leaves a choice, and where a promise comes first:

- The budget of a message counts the previews too, so that the message keeps to it; the document
  counts only what was left whole, and may then be over by the previews.
- A preview is cut at 2,000 bytes, but never inside a character.
- A size is written in units of 1,024 bytes; "2.0 KB" are the 2,000 bytes of a preview.
- An override below 512 characters counts as 512.
- The estimate counts later fragments of the answered response again, as the document's code does.
"""

from headgate.ageing import Ageing
from headgate.guard_rules import NO_GUARDS
from headgate.marker import Excerpt, MarkerStyle
from headgate.policy import Policy, ToolRule
from headgate.rules import CountRule
from headgate.types import chars, utf8_bytes

CLAUDE_CODE = Policy(
    result=chars(50_000),
    batch=chars(200_000),
    sharing="largest_first",
    # The preview and, around it, the words and a path.
    preview=chars(2_500),
    declarations="lower",
    errors="same",
    tools={"Read": ToolRule(exempt=True)},
    classes={},
    with_image="whole",
    store_fails="whole",
    files_by="call",
    keep="excerpt",
    excerpt=Excerpt(
        form=(
            "<persisted-output>\n"
            "Output too large ({size}). Full output saved to:\n"
            "{where}\n"
            "Preview (first {head_size}):\n"
            "{head}\n"
            "...\n"
            "</persisted-output>"
        ),
        # Where the operator has switched the store off.
        form_unkept=(
            "<persisted-output>\n"
            "Output too large ({size}): {note}\n"
            "Preview (first {head_size}):\n"
            "{head}\n"
            "...\n"
            "</persisted-output>"
        ),
        head=utf8_bytes(2_000),
        tail=utf8_bytes(0),
        head_ends="half",
    ),
    marker=MarkerStyle(
        reader="file",
        empty="({tool} completed with no output)",
        signs=("<persisted-output>", "</persisted-output>"),
    ),
    counting=CountRule(
        vocab="chars/4 rounded",
        dense_extensions=("json", "jsonl", "jsonc"),
        dense_vocab="chars/2 rounded",
        recounts_fragments=True,
        message_tokens=0,
    ),
    media_tokens=2_000,
    guards=NO_GUARDS,
    ageing=Ageing(high=None, least=chars(2_000), head=chars(1_600), tail=chars(400)),
    repeats=False,
    block_overhead=0,
    asked_tokens=(),
    asked_lines=(),
)
