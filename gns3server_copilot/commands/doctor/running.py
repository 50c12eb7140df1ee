"""A running gns3-server: does it have the copilot, and may this user use it?"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

from gns3server_copilot.commands.doctor.findings import Finding, good, note, wrong
from gns3server_copilot.commands.server import NO_PRIVILEGE, Server
from gns3server_copilot.errors import CopilotError, GNS3Error


async def check_running_server(
    url: str, user: str, password: str, verify: ssl.SSLContext | bool = True
) -> AsyncIterator[Finding]:
    """Ask the server who it is, log in, and ask the copilot how it is."""
    try:
        async with Server(url, verify=verify) as server:
            version = _mapping(await server.get("/version")).get("version")
            yield good("server", f"gns3-server {version} answers at {server.base_url}.")
            await server.login(user, password)
            yield await _copilot(server)
            async for finding in _privileges(server, user):
                yield finding
    except CopilotError as error:
        yield wrong("server", error.message)


async def _copilot(server: Server) -> Finding:
    try:
        status = _mapping(await server.get("/copilot/status"))
    except GNS3Error as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return wrong(
                "mounted",
                "This server runs without the copilot. Is the copilot installed in that server's Python, and not "
                "switched off? Run doctor with that Python, and start the server again.",
            )
        return wrong("mounted", error.message)
    providers = ", ".join(str(name) for name in status.get("providers") or ())
    said = f"The copilot {status.get('version')} is mounted; providers: {providers}"
    if status.get("llm_configured") is False:
        return note("mounted", f"{said}. This user has no AI profile yet, so a chat would be refused.")
    return good("mounted", f"{said}.")


async def _privileges(server: Server, user: str) -> AsyncIterator[Finding]:
    if _mapping(await server.get("/access/users/me")).get("is_superadmin"):
        return
    projects = await server.get("/projects")
    if projects:
        yield good("privileges", f"Projects that {user} may see: {len(projects)}.")
    else:
        yield note("privileges", f"{user} may see no project. {NO_PRIVILEGE}")


def _mapping(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise CopilotError("The server does not answer as gns3-server does. Check the address.")
    return answer
