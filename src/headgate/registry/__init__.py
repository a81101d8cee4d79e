"""Tools run through the gate: declared from typed functions, run in batches, always answered."""

from headgate.registry.batch import Batch
from headgate.registry.context import Context
from headgate.registry.registry import Registry
from headgate.registry.tool import Tool
from headgate.types import Call

__all__ = ["Batch", "Call", "Context", "Registry", "Tool"]
