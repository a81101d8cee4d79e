"""What agent CLIs tell their hooks, and how they want to be answered: one file per CLI.

`door` is what nearly every call of a hook goes through, and loads nothing. `answering` is for the
results that are too big or not clean.
"""

CLIENTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
}
"""The CLIs by name, each with the name of its file here and in `install/`."""
