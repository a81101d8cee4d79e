"""Answers questions about a repository, one after another.

    python examples/repository_explorer.py ~/src/project
    > Where are sessions stored, and who cleans them up?

The conversation is kept: started again in the same folder, it goes on where it was, also after a
crash. An empty line ends it.
"""

import hashlib
import subprocess
import sys
from contextlib import suppress

from folder import Folder
from talk import model, show

from headgate import Context, Gate, Policy, Registry, tokens
from headgate.agent import Agent, Conversation
from headgate.guards import GuardRule, Guards

SYSTEM = (
    "You explain a repository to somebody new to it. Look before you speak, and name files and "
    "lines. Prefer `grep` and ranges of lines over whole files."
)

GUARDS = Guards(in_a_row=GuardRule(warn=2, block=4), calls=GuardRule(warn=30, halt=60))


def tools_for(repository: Folder) -> Registry:
    """What the model may do."""
    tools = Registry(timeout_s=30)

    @tools.tool
    def list_files(pattern: str = "**/*") -> str:
        """List files.

        Args:
            pattern: Such as `src/**/*.py`.
        """
        return "\n".join(repository.names(pattern))

    @tools.tool
    def read_file(path: str, first: int = 1, last: int = 0) -> str:
        """Read a file, each line with its number.

        Args:
            path: Relative to the repository.
            first: The first line.
            last: The last line; 0 for the end of the file.
        """
        lines = repository.text(path).splitlines()
        chosen = lines[first - 1 : last or len(lines)]
        return "\n".join(f"{number}\t{line}" for number, line in enumerate(chosen, first))

    @tools.tool(limit=tokens(4_000))
    def grep(pattern: str, files: str = "**/*") -> str:
        """Find lines by a regular expression (RE2).

        Args:
            pattern: The expression.
            files: Which files, such as `**/*.py`.
        """
        return repository.matches(pattern, repository.names(files))

    @tools.tool
    def git_log(path: str, context: Context, count: int = 20) -> str:
        """The last commits that changed a path.

        Args:
            path: A file or a folder.
            count: How many.
        """
        context.progress(f"asking git about {path}")
        command = ["git", "log", "--oneline", f"-{count}", "--", str(repository.path(path))]
        done = subprocess.run(
            command, cwd=repository.root, capture_output=True, text=True, check=True, timeout=20
        )
        return done.stdout

    return tools


def main(folder: str) -> None:
    """Answer until nothing is asked."""
    repository = Folder(folder)
    tools = tools_for(repository)
    name = hashlib.sha256(str(repository.root).encode()).hexdigest()[:12]
    gate = Gate(tools.policy(Policy(guards=GUARDS)), session=f"explorer-{name}")
    conversation = Conversation.kept(gate)
    with model(SYSTEM) as chosen, Agent(chosen, tools, gate, conversation=conversation) as agent:
        while question := input("> " if sys.stdin.isatty() else "").strip():
            show(agent, question)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: repository_explorer.py FOLDER")
    with suppress(EOFError):
        main(sys.argv[1])
