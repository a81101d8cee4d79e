"""Real agent CLIs, run offline against the stand-in; only where `make test-clients` installed them.

They are not part of `make test`: four programs of some hundred megabytes, and a minute of starting.
"""

import os

import pytest

pytest.register_assert_rewrite("tests.clients.holding")

collect_ignore_glob = [] if os.environ.get("HEADGATE_CLIENTS") else ["test_*.py"]
