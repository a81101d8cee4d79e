"""`headgate doctor --live` with the real CLIs: it finds what works, and a hook nobody trusts."""

import json
import subprocess

import pytest

from tests.clients.programs import BIN, HEADGATE, LONGEST_S, PROGRAMS, clean, headgate, merged


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_agent_itself_is_seen_to_take_the_answer_of_its_hook(tmp_path, name):
    merged(
        tmp_path / ".gemini" / "settings.json",
        security={"auth": {"selectedType": "gemini-api-key"}},
    )
    headgate(tmp_path, "install", name)
    environ = clean(tmp_path)
    ran = subprocess.run(
        [HEADGATE, "doctor", name, "--live", "--json"],
        env={**environ, "PATH": f"{BIN}:{environ['PATH']}"},
        capture_output=True,
        timeout=2 * LONGEST_S,
    )

    checks = [json.loads(line) for line in ran.stdout.splitlines()]
    live = {check["name"]: check["ok"] for check in checks if check["way"] == "live"}
    # Nobody has trusted the hook in this new home, so Codex skips it without a word.
    expected = {"called": False} if name == "codex" else WELL
    assert live == expected, checks
    assert ran.returncode == (1 if name == "codex" else 0)


WELL = {"shortened": True, "kept": True, "read back": True}
