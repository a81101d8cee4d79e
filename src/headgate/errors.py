"""The error tree: one class for each caller who can act on it.

Too big is not an error, it is a verdict; a tool's own failure is a result with `is_error`.
"""


class HeadgateError(Exception):
    """Anything Headgate itself raises."""


class PolicyError(HeadgateError, ValueError):
    """A policy that cannot hold; raised when it is built, never later."""


class DeclarationError(HeadgateError, TypeError):
    """A tool that cannot be declared as it is; raised when it is declared, never when it runs."""


class RequestError(HeadgateError, ValueError):
    """A request to read back that cannot be answered as it was asked; the model is told in text."""


class HistoryError(HeadgateError, ValueError):
    """Bytes that hold no history to work on; says what was found, and where."""


class StoreError(HeadgateError):
    """The store could not do it: full, forbidden, gone. The operator must act."""


class RefNotFound(StoreError, KeyError):
    """No such ref in this session; unknown and foreign refs look alike."""

    __str__ = Exception.__str__


class RefGone(RefNotFound):
    """What this session kept under the ref is kept no more; says since when, and why."""
