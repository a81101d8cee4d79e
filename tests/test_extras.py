"""What needs an extra says which, where that is not installed."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "wanted", "says"),
    [
        ("fastmcp", "headgate.adapters.fastmcp import Headgate", "the middleware needs"),
        ("mcp", "headgate.adapters.fastmcp import Headgate", "the middleware needs"),
        ("aiohttp", "headgate.gateway import Running", "Running needs"),
    ],
)
def test_an_import_without_its_extra_names_it(package, wanted, says):
    # A name that stands for None in `sys.modules` is one that is not installed.
    program = f"import sys; sys.modules[{package!r}] = None; from {wanted}"

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    extra = "gateway" if "gateway" in wanted else "fastmcp"
    assert ran.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: {says} the '{extra}' extra: pip install 'headgate[{extra}]'"
    )
