"""Finds out from a folder of logs why something failed.

    python examples/log_investigator.py /var/log/myapp "Why did the deploy of last night fail?"

A log of any size may be read: what the model gets of it is the part that stands out, and it reads
the rest through `read_result` if it has to.
"""

import sys

from folder import Folder
from talk import model, show

from headgate import Context, Gate, Registry
from headgate.agent import Agent

SYSTEM = (
    "You investigate logs. Begin with the list of logs, read what is likely, and follow what you "
    "find to its first cause. Answer in a few sentences, and quote the lines that prove it."
)


def tools_for(logs: Folder) -> Registry:
    """What the model may do."""
    tools = Registry(timeout_s=60)

    @tools.tool
    def list_logs() -> list[dict[str, object]]:
        """List the logs with their sizes in bytes."""
        return [{"path": name, "bytes": logs.path(name).stat().st_size} for name in logs.names()]

    @tools.tool
    def read_log(path: str, context: Context) -> str:
        """Read a whole log.

        Args:
            path: As `list_logs` names it.
        """
        context.progress(f"reading {path}")
        return logs.text(path)

    @tools.tool
    def search_logs(pattern: str, path: str = "") -> str:
        """Find lines by a regular expression (RE2).

        Args:
            pattern: The expression, such as `ERROR|FATAL`.
            path: One log; all of them if left out.
        """
        return logs.matches(pattern, [path] if path else logs.names())

    return tools


def main(folder: str, question: str) -> None:
    """Ask one question."""
    tools = tools_for(Folder(folder))
    gate = Gate(tools.policy(), session="log-investigator")
    with model(SYSTEM) as chosen, Agent(chosen, tools, gate) as agent:
        show(agent, question)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: log_investigator.py FOLDER QUESTION")
    main(*sys.argv[1:])
