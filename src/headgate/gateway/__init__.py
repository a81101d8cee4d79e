"""HTTP between an agent and its provider: requests are prepared, answers pass byte for byte.

from headgate.gateway import Running, Serving

with Running(Serving(port=0, admin_port=None)) as gateway:
    client = anthropic.Anthropic(base_url=gateway.url)
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headgate.gateway.entry import Entry
    from headgate.gateway.running import Running
    from headgate.gateway.serving import Serving
    from headgate.gateway.upstreams import Upstream

__all__ = ["Entry", "Running", "Serving", "Upstream"]

_LATER = MappingProxyType(
    {"Entry": "entry", "Running": "running", "Serving": "serving", "Upstream": "upstreams"}
)
"""Each name with the file it is loaded from when it is first used."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'headgate.gateway' has no attribute {name!r}")
    try:
        module = import_module(f"headgate.gateway.{_LATER[name]}")
    except ModuleNotFoundError as error:
        says = f"{name} needs the 'gateway' extra: pip install 'headgate[gateway]'"
        raise ModuleNotFoundError(says, name=error.name) from error
    return getattr(module, name)
