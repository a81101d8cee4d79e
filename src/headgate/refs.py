"""Names made from the installation key: refs and tags, known before anything is written."""

from __future__ import annotations

import hmac
import re
from base64 import b32encode
from functools import lru_cache

from headgate.errors import RefNotFound
from headgate.types import Ref

REF_LETTERS = 12
"""Twelve base32 letters are 60 bits: no session meets a collision, no reader guesses one."""

TAG_LETTERS = 4
"""Enough that a forged marker is a one-in-a-million guess, few enough to cost two tokens."""

REF_PATTERN = re.compile(rf"r_[a-z2-7]{{{REF_LETTERS}}}")


def ref_of(key: bytes, session: str, sha256: str) -> Ref:
    """The address of a content (its sha256, hexadecimal) in a session."""
    return "r_" + _letters(key, session, sha256)[:REF_LETTERS]


def tag_of(key: bytes, session: str, sha256: str) -> str:
    """The tag in the markers of a content; the content's author cannot know it."""
    return _letters(key, session, sha256)[-TAG_LETTERS:]


@lru_cache(maxsize=256)
def _letters(key: bytes, session: str, sha256: str) -> str:
    """Letters for a content: the ref is made of the first, the tag of others."""
    name = session.encode("utf-8", "surrogatepass")
    message = b"%d\x00%b%b" % (len(name), name, bytes.fromhex(sha256))
    return b32encode(hmac.digest(key, message, "sha256")[:20]).decode().lower()


def given(ref: Ref | None) -> Ref:
    """The ref of a verdict, which has none where its original is not kept."""
    if ref is None:
        raise RefNotFound("the ref is None: what goes in whole, or cannot be kept, has none")
    return ref
