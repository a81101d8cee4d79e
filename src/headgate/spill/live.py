"""Which originals the histories of a session refer to: one small file, written when that changes.

A history that goes on from an earlier one takes its place, which is found by the hash chain. So
does one that begins otherwise and refers to the same: its beginning was summed up. A fork begins
as the other did, and stands beside it; so nobody has to name conversations.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from headgate.disk import Folder, Temp, clean_temps, open_file, read_range, store_error, write_all
from headgate.types import Ref

FILE_NAME: Final = "live"

MOST_HISTORIES: Final = 64
"""Conversations of one session that are remembered; the one not sent for longest is forgotten."""


BESIDE_NS: Final = 3_600 * 10**9
"""Conversations in one session are sent so near to each other, or one has taken over."""


class Sent(msgspec.Struct, frozen=True, array_like=True):
    """A history as it was last sent."""

    anchor: bytes
    """The last link of its chain; a history that goes on from it has the link too."""
    time_ns: int
    refs: frozenset[Ref]
    root: bytes = b""
    """The link behind its first message."""

    def is_followed_by(self, links: Sequence[bytes], refs: frozenset[Ref]) -> bool:
        """Whether a history with this chain, which refers to these, goes on from here."""
        if self.anchor in links:
            return True
        return self.root != root_of(links) and not self.refs.isdisjoint(refs)


def root_of(links: Sequence[bytes]) -> bytes:
    """The link behind the first message of a chain."""
    return links[min(1, len(links) - 1)]


class Histories(msgspec.Struct, frozen=True, array_like=True):
    """What was sent lately, newest last."""

    sent: tuple[Sent, ...] = ()
    dropped: frozenset[Ref] = frozenset()
    """What histories referred to and do no more."""

    def after(self, links: Sequence[bytes], refs: frozenset[Ref], now_ns: int) -> Histories:
        """What is known once a history with this chain was sent."""
        replaced = [line for line in self.sent if line.is_followed_by(links, refs)]
        others = [line for line in self.sent if line not in replaced]
        sent = (*others, Sent(links[-1], now_ns, refs, root_of(links)))
        forgotten = [*replaced, *sent[:-MOST_HISTORIES]]
        sent = sent[-MOST_HISTORIES:]
        live: frozenset[Ref] = frozenset().union(*(line.refs for line in sent))
        gone = frozenset().union(*(line.refs for line in forgotten)) - live
        dropped, back = self.dropped, self.dropped & live
        # What was dropped may be very much, and is mostly the same: copied only where it changes.
        if not gone <= dropped:
            dropped |= gone
        return Histories(sent, dropped - back if back else dropped)

    def sent_ns(self, links: Collection[bytes]) -> int:
        """When a history that one with this chain goes on from was noted last; 0: none was."""
        return max((line.time_ns for line in self.sent if line.anchor in links), default=0)

    def used_ns(self, ref: Ref) -> int:
        """When a history that refers to it was last sent; 0: none was."""
        return max((line.time_ns for line in self.sent if ref in line.refs), default=0)

    def is_live(self, ref: Ref, since_ns: int) -> bool:
        """Whether a history that was sent since then refers to it.

        One that was not sent for long while another was, is taken for summed up by that.
        """
        newest_ns = self.sent[-1].time_ns if self.sent else 0
        since_ns = max(since_ns, newest_ns - BESIDE_NS)
        return any(line.time_ns >= since_ns and ref in line.refs for line in self.sent)

    def without(self, refs: Collection[Ref]) -> Histories:
        """What is known once these originals are gone."""
        return Histories(self.sent, self.dropped.difference(refs))


NOTHING_SENT: Final = Histories()


class Live:
    """The file of one session. Who changes it holds the lock of the counts."""

    def __init__(self, session: Folder) -> None:
        self._file = session / FILE_NAME
        self._read = b""
        self._histories = NOTHING_SENT
        """What the bytes say that were last read or written."""

    def read(self) -> Histories:
        """What was sent lately; a file that makes no sense says nothing."""
        held = self._file.folder.open()
        if held is None:
            return NOTHING_SENT
        try:
            fd = open_file(self._file, held, os.O_RDONLY)
        except FileNotFoundError:
            return NOTHING_SENT
        except OSError as error:
            raise store_error("the list of histories", self._file.path, error) from error
        try:
            read = read_range(fd, 0, os.fstat(fd).st_size)
        finally:
            os.close(fd)
        if read != self._read:
            self._read, self._histories = read, _decoded(read)
        return self._histories

    def write(self, histories: Histories) -> None:
        """Put it in place of what was there, whole or not at all."""
        written = msgspec.msgpack.encode(histories)
        try:
            folder = self._file.folder.make()
            clean_temps(folder)
            temp = Temp(folder)
            try:
                write_all(temp.fd, written)
                temp.rename(folder, self._file.name)
            finally:
                temp.discard()
        except OSError as error:
            raise store_error("the list of histories", self._file.path, error) from error
        self._read, self._histories = written, histories


def _decoded(read: bytes) -> Histories:
    try:
        return msgspec.msgpack.decode(read, type=Histories)
    except msgspec.DecodeError:
        return NOTHING_SENT
