"""What a session may log in with."""

from __future__ import annotations

from dataclasses import dataclass, field

from gns3server_copilot.knowledge.schemas.family import Credentials, Login

MAX_ATTEMPTS = 2


@dataclass(frozen=True)
class StoredCredentials:
    """What was set for a node; None where nothing was."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    enable_password: str | None = field(default=None, repr=False)


def attempts(stored: StoredCredentials, login: Login) -> tuple[Credentials, ...]:
    """Give what to try at a login, in this order: what was set for the node, else what new devices take."""
    if stored.username is not None or stored.password is not None:
        return (Credentials(username=stored.username or "", password=stored.password or ""),)
    return login.defaults[:MAX_ATTEMPTS]
