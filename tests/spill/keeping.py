"""What the tests of the store and of the ledger share: keep an original, make a verdict."""

import hashlib
from pathlib import Path

from headgate.ledger import Key
from headgate.refs import ref_of
from headgate.spill.index import as_bytes
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore
from headgate.types import About, Ref, Size, Verdict, tokens


def ref_in(store: LocalStore, content: bytes) -> Ref:
    """The ref of a content in the store's session."""
    return ref_of(installation_key(store.state), store.session, hashlib.sha256(content).hexdigest())


def keep(
    store: LocalStore,
    content: bytes,
    *,
    call_id: str = "call_1",
    tool: str = "grep",
    clean: bool | None = None,
) -> About:
    """Keep an original as the gate does."""
    ref, sha256 = ref_in(store, content), hashlib.sha256(content).hexdigest()
    store.put(ref, content, call_id=call_id, tool=tool, sha256=sha256, clean=clean)
    index = store.shelf.index
    line = index.listed(ref, as_bytes(call_id), as_bytes(tool))
    assert line is not None
    return index.about(line)


def verdict(
    call_id: str, text: str = "shown", *, tool: str = "grep", ref: str | None = None
) -> Verdict:
    """A verdict that shows `text`."""
    return Verdict(
        call_id,
        tool,
        "shaped",
        "log",
        Size(900, 3_600, 3_600, 40),
        Size(120, 480, 480, 6),
        text,
        ref,
        tokens(128),
        "policy",
        "over its limit",
        "ab" * 32,
        "o200k",
    )


def key(call_id: str, digest: bytes = b"d", prefix: bytes = b"") -> Key:
    """The key of a call."""
    return Key(prefix, call_id, digest)


def session_path(state: Path, session: str) -> Path:
    """Where the files of a session with a plain name are."""
    return state / "sessions" / session


def store_in(state, session="s", **options) -> LocalStore:
    return LocalStore(state, session, clock=lambda: 1_000, **options)


def everything(state, session="s") -> dict[str, bytes]:
    """Every file of a session but its index and its counts: path to content."""
    root = session_path(state, session)
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name not in ("index", "usage")
    }
