"""The password of the GNS3 user that a command logs in as."""

from __future__ import annotations

import getpass
import os
import sys

from gns3server_copilot.errors import CopilotError

PASSWORD_VARIABLE = "GNS3_COPILOT_PASSWORD"


def read_password(user: str) -> str:
    """Give the user's password: from the environment, else asked for. Raises CopilotError when neither can be."""
    if (password := os.environ.get(PASSWORD_VARIABLE)) is not None:
        return password
    if not sys.stdin.isatty():
        raise CopilotError(f"Set {PASSWORD_VARIABLE} to the password: there is no terminal to ask for it.")
    try:
        return getpass.getpass(f"Password of the GNS3 user {user}: ")
    except (EOFError, UnicodeError) as error:
        raise CopilotError(f"No password was typed. Type it, or set {PASSWORD_VARIABLE} to it.") from error
