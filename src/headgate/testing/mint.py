"""Ids and seals that are the same in every run: made from a seed and a counter, never at random."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Mint:
    """Gives out ids in the form each provider gives them."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._made = 0

    def letters(self, start: str, count: int) -> str:
        """An id of letters and digits: `toolu_01`, `call_`."""
        digest = self._digest(start)
        return start + "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:count])

    def hexadecimal(self, start: str, count: int = 50) -> str:
        """An id of hexadecimal digits: `fc_`, `rs_`."""
        return start + self._digest(start).hex()[:count]

    def _digest(self, start: str) -> bytes:
        self._made += 1
        return hashlib.sha512(f"{self._seed}/{start}/{self._made}".encode()).digest()


class Sealer:
    """Signs what a client must bring back unchanged: thinking, encrypted reasoning, signatures."""

    def __init__(self, seed: str) -> None:
        self._key = hashlib.sha256(f"seal/{seed}".encode()).digest()

    def seal(self, claims: Mapping[str, object]) -> str:
        """Claims in a form that only this stand-in can make."""
        payload = json.dumps(claims, sort_keys=True).encode()
        return b64encode(self._mac(payload) + payload).decode()

    def open(self, sealed: object) -> Mapping[str, object] | None:
        """The claims again; None for anything this stand-in did not seal."""
        if not isinstance(sealed, str):
            return None
        try:
            raw = b64decode(sealed, validate=True)
        except (Base64Error, ValueError):
            return None
        mac, payload = raw[:32], raw[32:]
        if not hmac.compare_digest(mac, self._mac(payload)):
            return None
        claims: Mapping[str, object] = json.loads(payload)
        return claims

    def _mac(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, payload, "sha256")


def digest_of(text: str) -> str:
    """A short name for a text inside a seal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
