"""The reference encoder, offline: tiktoken itself over the ranks that come with our install.

tiktoken would download its ranks. It knows the digest of what it would get, so ours are checked
against that before they are given to it.
"""

import functools
import hashlib
from base64 import b64encode
from unittest.mock import patch

import splintr
import tiktoken
import tiktoken_ext.openai_public as published

VOCABULARIES = {"o200k": 199_998, "cl100k": 100_256}
"""How many ranks each has."""


def ranks_of(vocab: str) -> dict[bytes, int]:
    """Every token of a vocabulary that merging can make, by its bytes."""
    source = splintr.Tokenizer.from_pretrained(f"{vocab}_base")
    return {source.decode_token_bytes(rank): rank for rank in range(VOCABULARIES[vocab])}


@functools.cache
def encoder(vocab: str) -> tiktoken.Encoding:
    """tiktoken's own encoder for `o200k` or `cl100k`."""
    ranks = ranks_of(vocab)

    def instead_of_a_download(_url: str, expected_hash: str) -> dict[bytes, int]:
        lines = (b"%b %d\n" % (b64encode(token), rank) for token, rank in ranks.items())
        if hashlib.sha256(b"".join(lines)).hexdigest() != expected_hash:
            raise AssertionError(f"the ranks of {vocab} are not those that were published")
        return ranks

    with patch.object(published, "load_tiktoken_bpe", instead_of_a_download):
        return tiktoken.Encoding(**published.ENCODING_CONSTRUCTORS[f"{vocab}_base"]())


def reference_count(vocab: str, text: str) -> int:
    """How many tokens tiktoken makes of a text."""
    return len(encoder(vocab).encode_ordinary(text))
