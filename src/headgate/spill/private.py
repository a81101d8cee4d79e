"""Where a session lives: the state folder, and the name of a session's folder in it."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
from base64 import b32encode
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headgate.disk import Folder
from headgate.errors import StoreError

SESSION_LITERAL: Final = re.compile(r"[a-z0-9_-]{1,64}")
"""Lower case only: on a disk that ignores case, `Run` and `run` would be one folder."""


def state_folder(environ: Mapping[str, str]) -> Path:
    """The folder that holds everything: named outright, else under the user's state folder."""
    for variable, below in (("HEADGATE_STATE_DIR", ""), ("XDG_STATE_HOME", "headgate")):
        named = environ.get(variable, "")
        if os.path.isabs(named):
            return Path(named, below)
        # The XDG rules say to ignore a relative path; ours was set on purpose, so it is an error.
        if named and not below:
            raise StoreError(f"{variable} is {named!r}; give the whole path, from the root")
    return Path(_home(environ), ".local", "state", "headgate")


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if os.path.isabs(home):
        return home
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        raise StoreError("this user has no home folder; set HEADGATE_STATE_DIR") from None


def session_name(session: str) -> str:
    """The folder name of a session: itself where that is safe, else `=` and its digest."""
    if SESSION_LITERAL.fullmatch(session):
        return session
    return digest_name(session)


def digest_name(text: str) -> str:
    """A name of fixed length for any text; `=` cannot begin a literal name, so they never meet."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return "=" + b32encode(digest[:20]).decode().lower()


def session_folder(state: Path, session: str) -> Folder:
    """Where a session keeps its ledger and its originals; made when first written to."""
    return session_in(sessions_folder(Folder(state, "the state folder")), session)


def session_in(sessions: Folder, session: str) -> Folder:
    """The same of a folder of sessions that is open already, or will be."""
    return sessions.sub(session_name(session), "the session's folder")


def sessions_folder(state: Folder) -> Folder:
    """Where all sessions of a state folder are."""
    return state.sub("sessions", "the sessions folder")
