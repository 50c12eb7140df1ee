"""A link's packet filters: set, read back, put back when that fails, and cleared so that they are really gone.

gns3-server 3.0.6 answers 200 to an empty set of filters, shows none, and goes on filtering: its computes take an empty
set for none given (docs/developer/packets.md). And a filter that a compute refuses stays in the controller, half
installed. So nothing here believes an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from gns3server_copilot.errors import GNS3Error, ToolError
from gns3server_copilot.gns3.changes import let_finish

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

Filters = Mapping[str, list[Any]]

#: Matches no frame, and so replaces what a compute filters with by nothing.
HARMLESS: Filters = {"bpf": ["ether proto 0xffff"]}
#: A filter change goes to the compute and its ubridge; their own limit is two minutes.
SECONDS = 130.0


@dataclass(frozen=True)
class LinkFilters:
    """What a link filters with, and what else decides over its traffic."""

    filters: dict[str, list[Any]]
    suspended: bool
    capturing: bool


async def read_filters(client: GNS3Client, project_id: str, link_id: str) -> LinkFilters:
    """Read a link's filters as the controller has them."""
    raw = await client.get(_link(project_id, link_id))
    filters = raw.get("filters")
    return LinkFilters(
        filters=dict(filters) if isinstance(filters, Mapping) else {},
        suspended=bool(raw.get("suspend")),
        capturing=bool(raw.get("capturing")),
    )


async def can_filter(client: GNS3Client, project_id: str, link_id: str) -> bool:
    """Whether one end of the link has what filters run in."""
    return bool(await client.get(f"{_link(project_id, link_id)}/available_filters"))


async def set_filters(
    client: GNS3Client,
    project_id: str,
    link_id: str,
    wanted: Filters,
    same: Callable[[Filters, Filters], bool],
) -> dict[str, list[Any]]:
    """Have the link filter with exactly these, and give what was read back.

    Raises GNS3Error when the user may not set any, and ToolError when gns3-server refuses these or keeps others; the
    filters before are in place again then, or the message says that they could not be put back. A change that has begun
    goes on to its end, whoever leaves.
    """
    return await let_finish(
        f"packet filters of link {link_id}", _set_filters(client, project_id, link_id, wanted, same)
    )


async def _set_filters(
    client: GNS3Client,
    project_id: str,
    link_id: str,
    wanted: Filters,
    same: Callable[[Filters, Filters], bool],
) -> dict[str, list[Any]]:
    before = (await read_filters(client, project_id, link_id)).filters
    try:
        await _write(client, project_id, link_id, wanted)
        after = (await read_filters(client, project_id, link_id)).filters
        problem = "" if same(after, wanted) else f"gns3-server has kept other filters: {after}"
    except GNS3Error as error:
        if error.status == HTTPStatus.FORBIDDEN:
            raise  # nothing has been written, so there is nothing to put back
        problem = f"gns3-server refused them: {error.message}"
    if not problem:
        return after
    restored = await _put_back(client, project_id, link_id, before, same)
    raise ToolError(f"The filters were not set. {problem.rstrip('.')}. {restored}")


async def _put_back(
    client: GNS3Client,
    project_id: str,
    link_id: str,
    before: Filters,
    same: Callable[[Filters, Filters], bool],
) -> str:
    """Put the filters before in place again; say how that went."""
    said = "The filters before are in place again."
    try:
        await _write(client, project_id, link_id, before)
        after = (await read_filters(client, project_id, link_id)).filters
    except GNS3Error as error:
        return f"The filters before could not be put back either: {error.message.rstrip('.')}. Reset the link in GNS3."
    return said if same(after, before) else f"The filters before could not be put back; the link now has {after}."


async def _write(client: GNS3Client, project_id: str, link_id: str, filters: Filters) -> None:
    """Write a set of filters so that the compute has it, an empty one too."""
    if not filters:
        # what the compute has is replaced first; the empty set then only tells the controller
        await client.put(_link(project_id, link_id), {"filters": dict(HARMLESS)}, timeout=SECONDS)
    await client.put(_link(project_id, link_id), {"filters": dict(filters)}, timeout=SECONDS)


def _link(project_id: str, link_id: str) -> str:
    return f"/projects/{project_id}/links/{link_id}"
