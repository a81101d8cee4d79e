"""MCP servers behind the proxy: whether they are, and whether what is configured can start."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from headgate.doctor.check import Check
from headgate.install.plan import Change, Site
from headgate.install.written import Record


def checks(client: str, record: Record, site: Site) -> list[Check]:
    """Look at the files in which servers were put behind the proxy."""
    found: list[Check] = []
    for kept in record.changes:
        change = Change(Path(kept.path), kept.before, kept.after)
        now = site.read(change.path) or ""
        there = site.program in now
        says = f"{change.path} {'starts servers through' if there else 'has no server behind'} it"
        found.append(Check(client, "mcp", "configured", there, says))
    runs = os.access(site.program, os.X_OK) and shutil.which(site.program) is not None
    says = f"{site.program} {'can' if runs else 'cannot'} be started"
    return [*found, Check(client, "mcp", "program", runs, says)]
