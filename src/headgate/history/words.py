"""What the user last said: the words that a fresh result is searched for."""

from __future__ import annotations

from headgate.dialects.history import History
from headgate.dialects.spans import Misfit, text_in
from headgate.history.slots import speaks_for_user

LONGEST_CHARS = 1_000
"""Of each end of what was said; between them stand pasted files, whose words point everywhere."""


def last_words(history: History) -> str:
    """The text of the user's last message that holds any; nothing if there is none."""
    for message in reversed(history.messages):
        if not speaks_for_user(message):
            continue
        try:
            said = "\n".join(text_in(part.value, "") for part in message.of_kind("text"))
        except Misfit:
            continue
        if said:
            return said if len(said) <= 2 * LONGEST_CHARS else _ends(said)
    return ""


def _ends(said: str) -> str:
    return f"{said[:LONGEST_CHARS]}\n{said[-LONGEST_CHARS:]}"
