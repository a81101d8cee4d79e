"""80,000 characters a batch in even shares, the head kept; few calls in one turn.

Where its document leaves a choice, and where a promise comes first:

- The words `\\n[truncated — 45,231 chars total]` stand inside the share, not behind it, so the head
  is shorter by their length. A share is never below 512 characters.
- The split is even, though one remark says that a small declaration leaves slack to others.
- Its code writes the number as it is, its text with separators; the text's form is used.
- For a window of up to 20,000 tokens a batch has 8,000 characters ("6–10k"), for one of half a
  million and more it has 200,000.
- The original is kept all the same; its address is not shown.
"""

from dataclasses import replace

from headgate.ageing import Ageing
from headgate.guard_rules import NO_GUARDS, GuardRule
from headgate.marker import Excerpt, MarkerStyle
from headgate.policy import Policy, ToolRule
from headgate.rules import BatchByWindow
from headgate.types import chars

ETHOS = Policy(
    # No limit of its own: the share decides, whatever the budget is raised to.
    result=chars(1_000_000_000),
    batch=chars(80_000),
    batch_by_window=BatchByWindow(20_000, chars(8_000), 500_000, chars(200_000)),
    sharing="even",
    declarations="lower",
    errors="verbatim",
    tools={
        "read_file": ToolRule(limit=chars(20_000)),
        "web_search": ToolRule(limit=chars(30_000)),
        "delegate_task": ToolRule(limit=chars(20_000)),
    },
    classes={},
    keep="excerpt",
    excerpt=Excerpt(form="{head}\n[truncated — {total:,} chars total]", head_share=1.0),
    marker=MarkerStyle(
        reader="none",
        long="[truncated — {total} {what} total]",
        short="[truncated — {total} {what} total]",
        signs=("[truncated — ",),
    ),
    guards=replace(NO_GUARDS, calls=GuardRule(halt=20), same_tool=GuardRule(halt=5)),
    ageing=Ageing(high=None, least=chars(2_000), head=chars(1_600), tail=chars(400)),
    repeats=False,
    block_overhead=0,
    asked_tokens=(),
    asked_lines=(),
)
