"""Well-known tool names and their classes: data, so that a policy can speak of classes.

Names are compared in lower case, without `_` and `-`, and without a server's prefix
(`mcp__fs__read_file`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from headgate.types import ToolClass

_NAMES: Mapping[ToolClass, str] = {
    "read": """
        cat fileread fsread getfilecontents notebookread openfile read readfile readmanyfiles
        readmediafile readtextfile view viewfile
    """,
    "write": """
        applypatch createfile deletefile edit editfile fswrite insert movefile multiedit
        notebookedit patch replace searchreplace strreplace strreplacebasededittool texteditor
        write writefile
    """,
    "exec": """
        bash bashoutput codeinterpreter computer exec execute executebash executecommand
        localshell powershell python run runcommand runinterminal runpython runshellcommand shell
        terminal
    """,
    "search": """
        codebasesearch fetch filesearch find findfiles glob grep grepsearch listdir listdirectory
        listfiles ls rg ripgrep search searchfilecontent searchfiles semanticsearch webfetch
        websearch
    """,
    "pinned": "exitplanmode memory plan task todoread todowrite updateplan",
}

TOOL_CLASS: Mapping[str, ToolClass] = MappingProxyType(
    {name: tool_class for tool_class, names in _NAMES.items() for name in names.split()}
)


@lru_cache(maxsize=1_024)
def class_of(tool: str) -> ToolClass | None:
    """The class of a well-known tool; None where the name says nothing."""
    last = tool.rpartition("__")[2].rpartition(".")[2].rpartition("/")[2]
    return TOOL_CLASS.get(last.lower().replace("_", "").replace("-", "").lstrip("@"))
