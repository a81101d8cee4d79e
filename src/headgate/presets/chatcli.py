"""20,000 characters a result, 200,000 a turn, both ends kept; old results shrink by turns.

Where its document leaves a choice, and where a promise comes first:

- Before the 20,000 a tool's own cap is applied: 30,000, and 80,000 for read, 60,000 for search,
  50,000 for tree. The words about it stand inside the cap. The file has all of the output, not
  only what the cap left.
- The document has lost the text of the result that stands for one that never came; ours is used.
- Of two calls under one id the first stays, within one message. An id that comes back later is
  another call, with its own result: it stays, under a new id where the provider wants that.
- It does not say what stands between head and tail of an old result; here it is how much is
  missing, and where the whole is.
- The budget of a turn holds for the results of one message, and counts the previews too.
- If the file cannot be written the result is cut hard at its limit, and says so.
"""

from headgate.ageing import Ageing
from headgate.guard_rules import NO_GUARDS
from headgate.marker import Excerpt, MarkerStyle
from headgate.policy import Policy, ToolRule
from headgate.types import chars

TRUNCATED = "[TRUNCATED {missing} chars omitted, {kept} kept]"
SAVED = "[full output saved to {where}]"

CHATCLI = Policy(
    result=chars(20_000),
    batch=chars(200_000),
    sharing="largest_first",
    # Head and tail and, between them, the words and a path.
    preview=chars(5_500),
    # A plugin declares a cap of its own, which the limit of a result does not know.
    declarations="cap",
    errors="same",
    cap=chars(30_000),
    tools={
        name: ToolRule(cap=chars(most))
        for plugin, most in (("read", 80_000), ("search", 60_000), ("tree", 50_000))
        for name in (plugin, f"@{plugin}")
    },
    classes={},
    keep="excerpt",
    excerpt=Excerpt(
        form=f"{{head}}\n{SAVED}\n{{tail}}",
        form_unkept=f"{{head}}\n{TRUNCATED}\n[full output could not be saved: {{note}}]",
        form_capped=f"{{head}}\n{TRUNCATED}",
        head=chars(4_000),
        tail=chars(1_000),
        head_ends="line",
        tail_begins="line",
    ),
    aged=Excerpt(
        form=f"{{head}}\n{TRUNCATED}\n{SAVED}\n{{tail}}",
        form_unkept=f"{{head}}\n{TRUNCATED}\n{{tail}}",
        head=chars(2_000),
        tail=chars(500),
    ),
    ageing=Ageing(
        high=None,
        turns=(2, 4),
        # Larger than 3,000.
        least=chars(3_001),
        keep_last=0,
        spared=("write", "exec"),
        head=chars(2_000),
        tail=chars(500),
        weigh=False,
        under_thinking=True,
    ),
    marker=MarkerStyle(
        reader="file",
        cleared="[Old tool result cleared -- {lines} lines, {thousands}K chars, {content}]",
        contents=(
            ("JSON", "starts", "{"),
            ("JSON", "starts", "["),
            ("Go source", "contains", "package "),
            ("Python source", "contains", "def "),
            ("JavaScript source", "contains", "function "),
            ("diff", "starts", "diff"),
            ("diff", "starts", "---"),
            ("git log", "starts", "commit"),
        ),
        signs=("[TRUNCATED ", "[full output saved to ", "[Old tool result cleared "),
    ),
    twins="all",
    guards=NO_GUARDS,
    repeats=False,
    block_overhead=0,
    asked_tokens=(),
    asked_lines=(),
)
