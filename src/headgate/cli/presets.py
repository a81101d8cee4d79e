"""`headgate presets`: the policies that come with it, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from headgate.cli.output import show, show_record, show_table
from headgate.cli.parser import Parser
from headgate.policy import Policy
from headgate.policy_file import policy_to_toml
from headgate.presets import PRESETS, preset

USAGE = "[NAME] [--json]"

SAYS = (
    "List the policies that come with headgate, or write one as TOML, which HEADGATE_POLICY takes."
)

EXAMPLES = """\
  headgate presets
  headgate presets default > policy.toml      then change it, and
  HEADGATE_POLICY=policy.toml headgate trim build.log
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("presets", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("name", nargs="?", metavar="NAME", help="write this one; nothing: list all")
    made.add_json("one object for each")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    names = list(PRESETS) if asked.name is None else [asked.name]
    if asked.json:
        for name in names:
            show_record(record_of(name, preset(name)))
    elif asked.name is not None:
        policy = preset(asked.name)
        show(f"# {asked.name}: {about(asked.name)}\n{policy_to_toml(policy)}")
    else:
        show_table(
            ["preset", " one result", " a batch", "about"],
            [[name, *numbers(PRESETS[name]), about(name)] for name in names],
        )
    return 0


def record_of(name: str, policy: Policy) -> dict[str, object]:
    """A preset as one object."""
    result, batch = numbers(policy)
    return {
        "preset": name,
        "result": result,
        "batch": batch,
        "about": about(name),
        "toml": policy_to_toml(policy),
    }


def numbers(policy: Policy) -> tuple[str, str]:
    """The limit of one result and the budget of a batch, in words."""
    amounts = (policy.result, policy.batch)
    result, batch = (f"{a.count:,} {a.unit}" if a else "none" for a in amounts)
    # Where one result may be as much as all of them, it is its share of the batch that bounds it.
    bounded = policy.batch is None or policy.result.count < policy.batch.count
    return result if bounded else "its share", batch


def about(name: str) -> str:
    """The first line of what the preset's file says of itself."""
    return (import_module(f"headgate.presets.{name}").__doc__ or "").strip().partition("\n")[0]
