"""25,000 tokens a result, half from each end in whole lines; less when the window fills up.

Where its document leaves a choice, and where a promise comes first:

- Tokens are counted exactly, in o200k unless the policy names another vocabulary; the document
  takes 3.5 characters for a token while it picks lines. A line longer than a half is cut inside,
  and the words then count characters; the document takes such a line whole.
- Blank lines at the end of the head, and the last line end, stay; the document trims them.
- `max_lines` and `chunk_lines` are worth 15 tokens a line, the number that its estimate uses.
- 15,000 above 80 % of the window and 35,000 below 50 % are plans in the document; here they hold
  where the use of the window is known, and 25,000 where it is not.
- The original is kept whatever its size; people are told where it is above 200 KB.
"""

from headgate.ageing import Ageing
from headgate.guard_rules import NO_GUARDS
from headgate.marker import Excerpt, MarkerStyle
from headgate.policy import Policy, Scale
from headgate.rules import CountRule, Notice
from headgate.types import tokens

SHOWN = """\
[... content truncated by token budget ...]
First ~{half} tokens shown
[... {missing} truncated ...]
Last ~{half} tokens shown"""

VTCODE = Policy(
    result=tokens(25_000),
    batch=None,
    scale=Scale(below=0.5, widen=1.4, above=0.8, tighten=0.6),
    window_tokens=128_000,
    declarations="raise",
    errors="same",
    classes={},
    keep="excerpt",
    excerpt=Excerpt(
        form="{head}\n[... {missing_lines} lines truncated ...]\n{tail}",
        form_inside="{head}\n[... {missing} chars truncated ...]\n{tail}",
        head_share=0.5,
        head_ends="line",
        tail_begins="line",
    ),
    asked_tokens=("max_tokens",),
    asked_lines=("max_lines", "chunk_lines"),
    tokens_per_line=15,
    marker=MarkerStyle(
        reader="none",
        long="[... {missing} {what} truncated ...]",
        short="[... {missing} {what} truncated ...]",
        signs=(" lines truncated ...]", " chars truncated ...]"),
    ),
    notice=Notice(
        form=SHOWN,
        form_where=f"[OUTPUT] Output too large ({{kilobytes}}KB, {{lines}} lines), "
        f"spooled to: {{where}}\n{SHOWN}",
        where_from_bytes=200 * 1_024,
    ),
    counting=CountRule(unknown="median of three", warn_at=(0.75, 0.85)),
    guards=NO_GUARDS,
    ageing=Ageing(high=None),
    repeats=False,
    block_overhead=0,
)
