"""How the source may be built, as checks on its syntax: order, purity, words and sizes.

`LAYERS` is the one place that says who stands above whom. A new file or folder is one word in it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "headgate"

LAYERS = """
version types errors locks
disk economy loopback retention guard_rules
marker budget events refs scan slices journal toolnames terminal ageing guards view rules
policy measure/ visible values
normalise
ledger shape/ spill/ presets/ check/ limits arrive notice
dialects/ judge policy_file people
admit
history/
prepare stream
read/
timely failures stats sql/ compiled unheard
session
outgoing
gate
async_gate
tool
model testing/ endpoint notebook
watch
registry/
agent/
mcp/
install/ hooks/ adapters/ proxy/ gateway/
doctor/
__init__
cli/
__main__
"""
"""A file imports from lines above its own, or from its own folder; never sideways."""

LAST_PURE = "read/"
"""Up to this line nothing touches the world: it takes values and gives values."""

IMPURE = {
    *("asyncio", "builtins.open", "concurrent", "ctypes", "fcntl", "http", "logging", "mmap"),
    *("multiprocessing", "os", "pathlib", "random", "secrets", "select", "selectors", "shutil"),
    *("signal", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "time"),
    *("urllib", "uuid"),
}

MAY_TOUCH_THE_WORLD = {"locks", "disk", "spill/", "journal"}

MAY_LATE = {"measure/"}
"""Loads vocabularies, but inside functions: importing stays free of effects."""

MAY_LOCK = {"scan", "measure/"}

MAY_CATCH_ALL = {"cli/", "proxy/", "gateway/", "dashboard/", "registry/", "agent/"}
"""The entry points, where what nobody foresaw is logged with its traceback, and where a tool runs:
it is not ours, and whatever it raises is its result."""

NEVER_NAMED = re.compile(r"utils?|helpers?|commons?|managers?|handlers?|processors?|engines?")

FILE_LINES = 400
FUNCTION_LINES = 60


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the source, parsed."""

    path: str
    """Relative to the package: `shape/cut.py`."""
    source: str

    @property
    def tree(self) -> ast.Module:
        """The syntax of the file."""
        return ast.parse(self.source, self.path)

    @property
    def unit(self) -> str:
        """What stands in `LAYERS` for this file: `marker`, or `shape/` for all of a folder."""
        folder, slash, _ = self.path.partition("/")
        return f"{folder}/" if slash else self.path.removesuffix(".py")

    @property
    def dotted(self) -> str:
        """The name it is imported by."""
        return _dotted("headgate/" + self.path)


def modules(source: Path = SOURCE) -> list[Module]:
    """Every file of the package."""
    return [
        Module(path.relative_to(source).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(source.rglob("*.py"))
    ]


def misplaced(module: Module) -> Iterator[str]:
    """Imports from a line at or below the module's own."""
    height = _height(module.unit)
    if height is None:
        yield f"{module.path}: LAYERS has no word {module.unit!r}"
        return
    for line, name in imports(module):
        unit = _unit_of(name)
        if unit is None or unit == module.unit:
            continue
        other = _height(unit)
        if other is None or other >= height:
            yield f"{module.path}:{line}: {module.unit} stands above {unit} and may not import it"


def impure(module: Module) -> Iterator[str]:
    """Uses of the world in a file that takes values and gives values."""
    height, last = _height(module.unit), _height(LAST_PURE)
    if height is None or last is None or height > last or module.unit in MAY_TOUCH_THE_WORLD:
        return
    late = _late_lines(module) if module.unit in MAY_LATE else set()
    allowed = {"threading"} if module.unit in MAY_LOCK else set()
    for line, name in [*imports(module), *_opens(module)]:
        top = name if name in IMPURE else name.partition(".")[0]
        if top in IMPURE - allowed and line not in late:
            yield f"{module.path}:{line}: {name} in a pure file"


def catch_alls(module: Module) -> Iterator[str]:
    """Handlers that swallow what nobody foresaw; cleaning up and raising again is none."""
    if module.unit in MAY_CATCH_ALL:
        return
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = "" if node.type is None else ast.unparse(node.type)
        if not caught or re.search(r"\b(Base)?Exception\b", caught):
            last = node.body[-1]
            if not (isinstance(last, ast.Raise) and last.exc is None):
                yield f"{module.path}:{node.lineno}: except {caught or 'anything'}"


def misnamed(module: Module) -> Iterator[str]:
    """Names of files, folders, classes and functions that say nothing."""
    names = [(1, part) for part in module.path.removesuffix(".py").split("/")]
    names += [
        (node.lineno, node.name)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    for line, name in names:
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
        if any(NEVER_NAMED.fullmatch(word.lower()) for word in words):
            yield f"{module.path}:{line}: the name {name} says nothing"


def oversized(module: Module) -> Iterator[str]:
    """Files and functions longer than a reader keeps in mind; docstrings are not counted."""
    length = len(module.source.splitlines())
    if length > FILE_LINES:
        yield f"{module.path}: {length} lines, at most {FILE_LINES}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = _length(node) - _docstring_length(node)
            if length > FUNCTION_LINES:
                yield (
                    f"{module.path}:{node.lineno}: {node.name} has {length} lines, "
                    f"at most {FUNCTION_LINES}"
                )


def cycle(found: list[Module]) -> list[str]:
    """The modules of one import cycle, or nothing."""
    known = {module.dotted for module in found}
    edges = {
        module.dotted: sorted(
            {near for _, name in imports(module) for near in _nearest(name, known)}
            - {module.dotted}
        )
        for module in found
    }
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in edges[name]:
            if ring := walk(other, [*path, name]):
                return ring
        done.add(name)
        return []

    return next((ring for name in sorted(edges) if (ring := walk(name, []))), [])


def imports(module: Module) -> list[tuple[int, str]]:
    """Line and full name of every import, inside functions too: `headgate.types.Ref`."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            start = _absolute(module, node)
            found += [(node.lineno, f"{start}.{alias.name}") for alias in node.names]
    return found


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = ["headgate", *module.path.split("/")][: -node.level]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _unit_of(name: str) -> str | None:
    """The word in `LAYERS` that an imported name belongs to; None: not ours."""
    package, _, rest = name.partition(".")
    if package != "headgate":
        return None
    first = rest.partition(".")[0]
    for unit in LAYERS.split():
        if unit.rstrip("/") == first:
            return unit
    return "__init__"


def _height(unit: str) -> int | None:
    for height, line in enumerate(LAYERS.strip().splitlines()):
        if unit in line.split():
            return height
    return None


def _late_lines(module: Module) -> set[int]:
    return {
        line
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
        for line in range(node.lineno, node.end_lineno + 1)
    }


def _opens(module: Module) -> list[tuple[int, str]]:
    return [
        (node.lineno, "builtins.open")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("open", "io.open")
    ]


def _nearest(name: str, known: set[str]) -> list[str]:
    """The module that an imported name is or lives in; none if not ours, or not written yet."""
    return [module for module in (name, name.rpartition(".")[0]) if module in known][:1]


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _docstring_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return _length(node.body[0]) if ast.get_docstring(node, clean=False) is not None else 0
