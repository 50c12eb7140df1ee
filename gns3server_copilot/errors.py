"""Every exception that the package raises on purpose.

    CopilotError                 500  something of ours failed
    ├── InvalidRequestError      400  understood, but cannot be done as asked
    ├── NotAuthenticatedError    401
    ├── ForbiddenError           403
    ├── NotFoundError            404
    │   └── NoSuchSessionError        also for a conversation of somebody else
    ├── ConflictError            409  already running, version conflict, duplicate name
    ├── TooLargeError            413
    ├── InvalidFieldError        422  one field is wrong; names it
    ├── TooManyTurnsError        429
    ├── UnavailableError         503  a part of the copilot cannot be loaded or is closing
    ├── SettingsError            503  the [Copilot] section is wrong
    ├── StorageError             503  a project's chat database cannot be used; says what to put right
    ├── ModelError               502  the language model's side failed; says in plain words how
    ├── GNS3Error                     gns3-server refused or did not answer; carries its status
    ├── ConsoleError             502  a device's console cannot be used as asked; says how it looks
    └── ToolError                     a tool cannot do what was asked; the model reads the message

The message is one plain sentence that tells a person what to do. It is at most 300 characters, has no braces and
none of the class names that the GNS3 web UI replaces by canned texts (`http-api` rules, docs/developer/http-api.md).
"""

from __future__ import annotations

MESSAGE_LENGTH = 300

#: The web UI replaces a text that holds one of these class names by a canned one.
CANNED = {
    "AuthenticationError": "authentication failure",
    "PermissionDenied": "permission denied",
    "ConnectionError": "connection failure",
    "TimeoutError": "timeout",
    "ValidationError": "validation failure",
}


class CopilotError(Exception):
    """Base of all our exceptions; `status` is the HTTP status that the API answers with."""

    status = 500
    longest = MESSAGE_LENGTH

    def __init__(self, message: str) -> None:
        self.message = plain(message, self.longest)
        super().__init__(self.message)


def plain(text: str, longest: int = MESSAGE_LENGTH) -> str:
    """Give text as it may be shown to a person: one line, at most so many characters, without braces or class names.

    The GNS3 web UI takes a text with braces for JSON and cuts those over 300 characters.
    """
    one_line = " ".join(text.split()).replace("{", "(").replace("}", ")")
    for name, words in CANNED.items():
        one_line = one_line.replace(name, words)
    return one_line if len(one_line) <= longest else one_line[: longest - 1] + "…"


class InvalidRequestError(CopilotError):
    """The request was understood but cannot be done as asked (no configuration, empty message, missing package)."""

    status = 400


class NotAuthenticatedError(CopilotError):
    """No valid GNS3 user token came with the request."""

    status = 401


class ForbiddenError(CopilotError):
    """The user lacks the privilege, or the project is not open."""

    status = 403


class NotFoundError(CopilotError):
    """The thing does not exist, or does not exist for this user."""

    status = 404


class NoSuchSessionError(NotFoundError):
    """The conversation does not exist in this project, or it is somebody else's: the two look the same."""

    def __init__(self) -> None:
        super().__init__("There is no such conversation in this project.")


class ConflictError(CopilotError):
    """Something else got there first: a running turn, a newer version, the same name."""

    status = 409


class TooLargeError(CopilotError):
    """A message is longer than the limit."""

    status = 413


class InvalidFieldError(CopilotError):
    """One field of a request is wrong; the message begins with its name."""

    status = 422

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field


class TooManyTurnsError(CopilotError):
    """The user's or the server's limit of running turns is reached."""

    status = 429


class UnavailableError(CopilotError):
    """A part of the copilot cannot be loaded, or the server or the project is closing."""

    status = 503


class SettingsError(CopilotError):
    """A setting in the [Copilot] section of gns3_server.conf is wrong."""

    status = 503


class StorageError(CopilotError):
    """A project's chat database cannot be read or written."""

    status = 503


class ModelError(CopilotError):
    """The language model's side failed. `kind` is one of the kinds of `llm.model_errors`.

    `parameter` is the optional request parameter that was refused, when it was that. `retry_after` says in how many
    seconds the same request may do better; None where nothing suggests that.
    """

    status = 502

    def __init__(
        self, message: str, kind: str = "other", parameter: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.parameter = parameter
        self.retry_after = retry_after


class GNS3Error(CopilotError):
    """gns3-server refused a call, or did not answer in time (status 408)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ConsoleError(CopilotError):
    """A device's console cannot be used as asked. Only the model reads the message, which may quote the console."""

    status = 502
    longest = 4_096


class ToolError(CopilotError):
    """A tool cannot do what was asked. Only the model reads the message, so it may be longer than others."""

    longest = 32_768
