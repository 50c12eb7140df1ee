"""Words that the tools which change a lab share."""

from __future__ import annotations

from http import HTTPStatus

from gns3server_copilot.errors import GNS3Error


def why_not(error: GNS3Error | None, what: str) -> str:
    """Say why something could not be made; `what` begins with its article, such as "the link"."""
    if error is None or error.status == HTTPStatus.REQUEST_TIMEOUT:
        return f"gns3-server has not answered yet, so {what} may still appear: read the topology before trying again."
    return error.message
