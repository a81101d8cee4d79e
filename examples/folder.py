"""A folder that tools may look into, and nothing outside of it."""

from pathlib import Path

import re2

SKIPPED = {".git", ".venv", "node_modules", "__pycache__"}


class Folder:
    """Paths are relative to the root, and what leads out of it is refused."""

    def __init__(self, root: str) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise SystemExit(f"{root} is no folder")

    def path(self, name: str) -> Path:
        """The file or folder of that name."""
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root):
            raise PermissionError(f"{name} is outside of the folder")
        if not path.exists():
            raise FileNotFoundError(f"no {name}; there is {', '.join(self.names()[:20])}")
        return path

    def names(self, pattern: str = "**/*") -> list[str]:
        """The files below the root that match a pattern such as `**/*.py`."""
        return sorted(
            str(path.relative_to(self.root))
            for path in self.root.glob(pattern)
            if path.is_file() and not SKIPPED & set(path.relative_to(self.root).parts)
        )

    def text(self, name: str) -> str:
        """A whole file; the gate sees to it that no more is shown than fits."""
        return self.path(name).read_text(encoding="utf-8", errors="replace")

    def matches(self, pattern: str, names: list[str]) -> str:
        """Lines that match, as `file:line:text`; the pattern cannot take for ever (RE2)."""
        wanted = re2.compile(pattern)
        return "\n".join(
            f"{name}:{number}:{line}"
            for name in names
            for number, line in enumerate(self.text(name).splitlines(), 1)
            if wanted.search(line)
        )
