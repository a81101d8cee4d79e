"""Well-known tool names and their classes: data, so that a policy can speak of classes.

Names are compared in lower case without `_`, `-`, and without a server's prefix (`mcp__fs__read_file`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from headgate.types import ToolClass

_NAMES: Mapping[ToolClass, str] = {
    "read": "read readfile viewfile view fileread cat openfile readmanyfiles readtextfile notebookread "
    "readmediafile getfilecontents fsread",
    "write": "write writefile edit editfile multiedit strreplace strreplacebasededittool applypatch patch "
    "createfile insert notebookedit searchreplace replace deletefile movefile fswrite texteditor",
    "exec": "bash shell exec execute executecommand runcommand runshellcommand terminal run python "
    "runpython codeinterpreter localshell bashoutput computer powershell executebash runinterminal",
    "search": "grep glob search searchfiles searchfilecontent websearch webfetch find rg ripgrep findfiles "
    "listdirectory ls listdir listfiles codebasesearch grepsearch filesearch fetch semanticsearch",
    "pinned": "todowrite todoread updateplan exitplanmode plan task memory",
}

TOOL_CLASS: Mapping[str, ToolClass] = MappingProxyType(
    {name: tool_class for tool_class, names in _NAMES.items() for name in names.split()}
)


def class_of(tool: str) -> ToolClass | None:
    """The class of a well-known tool; None where the name says nothing."""
    last = tool.rpartition("__")[2].rpartition(".")[2].rpartition("/")[2]
    return TOOL_CLASS.get(last.lower().replace("_", "").replace("-", "").lstrip("@"))
