"""Content encodings undone in pieces, with a bound on what comes out: a bomb stays small."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Protocol

PIECE_BYTES = 256 * 1024
"""What comes out at once; what is held in between is no more."""


class CannotInflate(Exception):
    """The bytes are not in the encoding that was named, or it is one that nobody here knows."""


class Inflating(Protocol):
    """Undoes one encoding; what comes out at once is bounded."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What these bytes stand for."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the encoded bytes came to their end."""
        ...


class _Plain:
    is_complete = True

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk


class _Zlib:
    """gzip, with several members as the standard allows, and deflate."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._inner = zlib.decompressobj(wbits)
        self.is_complete = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            if self._inner.eof:
                self._inner = zlib.decompressobj(self._wbits)
            try:
                piece = self._inner.decompress(chunk, PIECE_BYTES)
            except zlib.error as error:
                raise CannotInflate(str(error)) from error
            chunk = self._inner.unconsumed_tail or self._inner.unused_data
            self.is_complete = self._inner.eof
            if piece:
                yield piece


class _Deflate:
    """Deflate as the standard has it, in a zlib wrapper, or bare, as some send it."""

    def __init__(self) -> None:
        self._inner: _Zlib | None = None

    @property
    def is_complete(self) -> bool:
        return self._inner is not None and self._inner.is_complete

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        if self._inner is None and chunk:
            is_wrapped = chunk[0] & 0x0F == zlib.DEFLATED
            self._inner = _Zlib(zlib.MAX_WBITS if is_wrapped else -zlib.MAX_WBITS)
        if self._inner is not None:
            yield from self._inner.feed(chunk)


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._inner = brotli.Decompressor()
        self._error: type[Exception] = brotli.error

    @property
    def is_complete(self) -> bool:
        return bool(self._inner.is_finished())

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        try:
            # It takes all of the input at once, and then gives pieces as long as it is asked.
            while piece := self._inner.process(chunk, output_buffer_limit=PIECE_BYTES):
                chunk = b""
                yield piece
        except self._error as error:
            raise CannotInflate(str(error)) from error


class _Zstd:
    def __init__(self) -> None:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        self._make: Callable[[], zstd.ZstdDecompressor] = zstd.ZstdDecompressor
        self._inner = self._make()
        self._error: type[Exception] = zstd.ZstdError

    @property
    def is_complete(self) -> bool:
        return self._inner.eof

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        try:
            while chunk or not (self._inner.eof or self._inner.needs_input):
                if self._inner.eof:
                    self._inner = self._make()
                piece = self._inner.decompress(chunk, PIECE_BYTES)
                chunk = self._inner.unused_data if self._inner.eof else b""
                if piece:
                    yield piece
        except self._error as error:
            raise CannotInflate(str(error)) from error


_KNOWN: Mapping[str, Callable[[], Inflating]] = MappingProxyType(
    {
        "": _Plain,
        "identity": _Plain,
        "gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
        "x-gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
        "deflate": _Deflate,
        "br": _Brotli,
        "zstd": _Zstd,
    }
)


def inflating(encoding: str) -> Inflating:
    """Undoes an encoding; several at once are more than anybody sends."""
    try:
        return _KNOWN[encoding.strip().lower()]()
    except KeyError:
        raise CannotInflate(f"content encoding {encoding!r} is not known here") from None


def inflated(body: bytes, encoding: str, most_bytes: int) -> bytes | None:
    """A whole body as it was before it was encoded; None where that is over `most_bytes`."""
    undo = inflating(encoding)
    pieces: list[bytes] = []
    size = 0
    for piece in undo.feed(body):
        size += len(piece)
        if size > most_bytes:
            return None
        pieces.append(piece)
    if not undo.is_complete:
        raise CannotInflate(f"the {encoding} body is cut short")
    return b"".join(pieces)
