"""What a terminal's output says to a reader: control sequences out, overwritten text gone.

Text comes in pieces and may hold surrogates U+DC80..U+DCFF for bytes that are no UTF-8. What comes
out does not depend on how it was cut. Only `\\n` ends a line, and every one of them stays.
"""

from __future__ import annotations

import re

STATE_CHARS = 64 * 1024
"""A state of a line this long is no progress bar: it stays, so an endless line need not be held."""

STRING_CHARS = 256 * 1024
"""The longest OSC or DCS that is taken out; a longer one, or one without end, stays in sight."""

_PARAMETERS = r"[0-?]{0,256}+[ -/]{0,16}+"
_BODY = rf"[^\x00-\x1f\x7f-\x9f\udc80-\udc9f]{{0,{STRING_CHARS}}}+"
_END = r"(?:\x07|\x1b\\|[\x9c\udc9c])"
_STRING_8 = r"[\x90\x98\x9d-\x9f\udc90\udc98\udc9d-\udc9f]"

# A body holds neither ESC nor C1, and nothing backtracks: no text is read twice, time is linear.
_SEQUENCE_7 = (
    rf"\x1b(?:\[{_PARAMETERS}[@-~]"
    rf"|[\]PX^_k]{_BODY}{_END}"
    r"|[ -/]{1,16}[0-~]"
    r"|[0-OQ-WYZ\\`-~])"
)
# A byte 0x9b that is no UTF-8 may be a quotation mark of Windows: it needs a parameter.
_SEQUENCE_8 = (
    rf"\x9b{_PARAMETERS}[@-~]|\udc9b[0-?]{{1,256}}+[ -/]{{0,16}}+[@-~]|{_STRING_8}{_BODY}{_END}"
)
# Spinners go back to the first column by these instead of a carriage return.
_RETURN = r"(?:[01]?G|[0-9]{3,256}D)"

SEQUENCE_7 = re.compile(_SEQUENCE_7)
SEQUENCE = re.compile(f"{_SEQUENCE_7}|{_SEQUENCE_8}")
RETURN_7 = re.compile(rf"\x1b\[{_RETURN}")
RETURN = re.compile(rf"(?:\x1b\[|\x9b|\udc9b(?=[0-9])){_RETURN}")
UNFINISHED = re.compile(
    rf"(?:(?:\x1b[\]PX^_k]|{_STRING_8}){_BODY}\x1b?"
    rf"|(?:\x1b\[|[\x9b\udc9b]){_PARAMETERS}"
    r"|\x1b[ -/]{0,16})\Z"
)
INTRODUCERS = "\x1b\x90\x98\x9b\x9d\x9e\x9f\udc90\udc98\udc9b\udc9d\udc9e\udc9f"
C1 = re.compile(r"[\x80-\x9f\udc80-\udc9f]")
OVERWRITING = re.compile(r"[\r\x08]")


class Terminal:
    """Takes decoded text piece by piece and gives what a reader would be left with."""

    def __init__(self) -> None:
        self._sequence = ""
        self._line = _Line()

    def feed(self, text: str) -> str:
        """What is settled with this piece; an unfinished sequence or line may wait for more."""
        text = self._sequence + text
        cut = unfinished_at(text)
        self._sequence = text[cut:]
        return self._overwrite(without_sequences(text[:cut]))

    def close(self) -> str:
        """What was waiting."""
        rest = without_sequences(self._sequence)
        self._sequence = ""
        return self._overwrite(rest) + self._line.end()

    def _overwrite(self, text: str) -> str:
        cut = text.rfind("\n") + 1
        if not cut:
            return self._line.feed(text)
        first, _, others = text[:cut].partition("\n")
        ended = self._line.feed(first) + self._line.end()
        return f"{ended}\n{last_states(others)}{self._line.feed(text[cut:])}"


class _Line:
    """A line that is still being written: holds what a carriage return may yet overwrite."""

    def __init__(self) -> None:
        self._held = ""
        self._settled = False
        """Whether the state now on the line is a long one, shown up to here."""
        self._shown = False
        """Whether anything of this line was shown."""

    def feed(self, text: str) -> str:
        *past, state = (self._held + text).split("\r")
        shown: list[str] = []
        last = ""
        for done in past:
            if self._settled or len(done) >= STATE_CHARS:
                shown.append(self._show(done))
                self._settled, last = False, ""
            elif done:
                last = done
        if self._settled or len(state) >= STATE_CHARS:
            shown.append(self._show(state))
            self._settled, self._held = True, ""
        else:
            self._held = state or (last + "\r" if past else "")
        return "".join(shown)

    def end(self) -> str:
        state = self._held.rstrip("\r")
        shown = self._show(state) if state else ""
        self._held, self._settled, self._shown = "", False, False
        return shown

    def _show(self, state: str) -> str:
        if self._settled:
            return state
        between = "\\r" if self._shown else ""
        self._shown = True
        return between + rubbed_out(state[:STATE_CHARS]) + state[STATE_CHARS:]


def unfinished_at(text: str) -> int:
    """Where a sequence begins that more text may complete; the end of the text if there is none."""
    if text[-1:] in ("", "\n"):
        return len(text)
    last = _last_introducer(text, len(text))
    # An escape at the very end may be the first half of what ends a string.
    for at in (_last_introducer(text, last), last):
        if at >= 0 and UNFINISHED.match(text, at):
            return at
    return len(text)


def _last_introducer(text: str, end: int) -> int:
    chars = "\x1b" if text.isascii() else INTRODUCERS
    return max(text.rfind(char, 0, max(end, 0)) for char in chars)


def without_sequences(text: str) -> str:
    """Take control sequences out; one that goes to the first column becomes a carriage return."""
    if text.isascii() or not C1.search(text):
        if "\x1b" not in text:
            return text
        return SEQUENCE_7.sub("", RETURN_7.sub("\r", text))
    return SEQUENCE.sub("", RETURN.sub("\r", text))


def last_states(text: str) -> str:
    """What is left of whole lines in which carriage returns and backspaces overwrite."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\r" not in text and "\b" not in text:
        return text
    kept: list[str] = []
    at = 0
    while found := OVERWRITING.search(text, at):
        start = text.rfind("\n", at, found.start()) + 1 or at
        end = text.index("\n", found.start())
        kept += text[at:start], last_state(text[start:end])
        at = end
    kept.append(text[at:])
    return "".join(kept)


def last_state(line: str) -> str:
    """What is left of one whole line."""
    if len(line) < STATE_CHARS:
        return rubbed_out(line.rstrip("\r").rpartition("\r")[2])
    whole = _Line()
    return whole.feed(line) + whole.end()


def rubbed_out(state: str) -> str:
    """Let each backspace take a character back, once something is written after it."""
    if "\b" not in state:
        return state
    first, *others = state.split("\b")
    chars = list(first)
    back = 0
    for written in others:
        back += 1
        if written:
            del chars[max(len(chars) - back, 0) :]
            chars += written
            back = 0
    return "".join(chars)
