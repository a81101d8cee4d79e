"""Requests that are not let through, and failures on the way, in the words of each provider."""

from __future__ import annotations

import msgspec

ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    504: "timeout_error",
}
GEMINI = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class Refusal(Exception):
    """An answer of our own; `reason` is the word that counts it."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message

    def body(self, dialect: str) -> bytes:
        """The answer as the provider's client reads it."""
        message = f"headgate: {self.message}"
        if dialect == "anthropic":
            kind = ANTHROPIC.get(self.status, "api_error")
            return msgspec.json.encode(
                {"type": "error", "error": {"type": kind, "message": message}}
            )
        if dialect == "gemini":
            status = GEMINI.get(self.status, "INTERNAL")
            return msgspec.json.encode(
                {"error": {"code": self.status, "message": message, "status": status}}
            )
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        error = {"message": message, "type": kind, "param": None, "code": self.reason}
        return msgspec.json.encode({"error": error})
