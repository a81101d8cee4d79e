"""Server-sent events, found in a stream of bytes wherever its chunks were cut.

Only looks: the stream itself goes on as it came. Works on bytes, since a chunk may end inside of a
character. Line ends are LF, CRLF or CR, as the standard has them.
"""

from __future__ import annotations

MOST_EVENT_BYTES = 8 * 1024 * 1024
"""A longer event is passed over: no usage report is that long, and memory stays bounded."""


class Framer:
    """Takes a stream in pieces and gives the data of each event that is complete."""

    def __init__(self, most_event_bytes: int = MOST_EVENT_BYTES) -> None:
        self.most_event_bytes = most_event_bytes
        self._held = bytearray()
        self._looked = 0
        """Up to here no event ends."""
        self._ended_in_cr = False
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; events without data are not given."""
        self._held += self._with_plain_lines(chunk)
        events: list[bytes] = []
        start = 0
        while (end := self._held.find(b"\n\n", max(self._looked - 1, start))) >= 0:
            if not self._skipping:
                events.append(bytes(self._held[start:end]))
            self._skipping = False
            start = self._looked = end + 2
        del self._held[:start]
        self._looked = len(self._held)
        if self._looked > self.most_event_bytes:
            self._skipping = True
            # The last byte may be the first half of the end of this event.
            del self._held[:-1]
            self._looked = 1
        return [data for data in map(data_of, events) if data]

    def _with_plain_lines(self, chunk: bytes) -> bytes:
        """The chunk with LF alone at the ends of lines; a CRLF may be cut in two."""
        if self._ended_in_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._ended_in_cr = False
            if not chunk:
                return chunk
        if chunk:
            self._ended_in_cr = chunk.endswith(b"\r")
        if b"\r" not in chunk:
            return chunk
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def data_of(event: bytes) -> bytes:
    """What an event says: its data lines, joined."""
    named = (line.partition(b":") for line in event.split(b"\n"))
    return b"\n".join(value.removeprefix(b" ") for name, _, value in named if name == b"data")
