"""Packet captures on links: started, stopped, and their bytes brought to where they can be read."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.text import printable
from gns3server_copilot.gns3.topology import LOCAL

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

#: Where gns3-server keeps a project's captures, below the project's folder.
CAPTURES = Path("project-files") / "captures"
PREFIX = "copilot-"

#: A remote compute's capture is followed until it has been silent so long, ...
STREAM_SILENCE = 1.0
#: ... or for so long, or up to so many bytes.
STREAM_SECONDS = 15.0
STREAM_BYTES = 256 << 20

ETHERNET = "DLT_EN10MB"
#: What a serial line is taken to speak, by the protocol that was asked for.
SERIAL = {"ppp": "DLT_PPP_SERIAL", "hdlc": "DLT_C_HDLC", "frame_relay": "DLT_FRELAY"}
USUAL_SERIAL = "DLT_C_HDLC"


@dataclass(frozen=True)
class LinkCapture:
    """A link's capture as gns3-server knows it now. `file_name` is "" when there was none; it outlives the capture."""

    link_id: str
    capturing: bool
    file_name: str
    compute_id: str


async def read_capture(client: GNS3Client, project_id: str, link_id: str) -> LinkCapture:
    """Read the state of a link's capture."""
    raw = await client.get(_link(project_id, link_id))
    return LinkCapture(
        link_id=link_id,
        capturing=bool(raw.get("capturing")),
        file_name=os.path.basename(str(raw.get("capture_file_name") or "")),
        compute_id=printable(raw.get("capture_compute_id")),
    )


async def start_capture(client: GNS3Client, project_id: str, link_id: str, file_name: str, data_link_type: str) -> None:
    """Start a capture into a file of that name, which must come from `new_file_name`: gns3-server takes any path."""
    body = {"data_link_type": data_link_type, "capture_file_name": file_name}
    await client.post(f"{_link(project_id, link_id)}/capture/start", body)


async def stop_capture(client: GNS3Client, project_id: str, link_id: str) -> None:
    """Stop whatever capture runs on the link."""
    await client.post(f"{_link(project_id, link_id)}/capture/stop")


def new_file_name(link_id: str) -> str:
    """Give a name that no other capture has, so that a capture of ours is known by it."""
    return f"{PREFIX}{link_id}-{secrets.token_hex(4)}.pcap"


def remove_earlier_files(project_path: str, link_id: str) -> None:
    """Remove the files of our earlier captures on the link; blocks."""
    for path in (Path(project_path) / CAPTURES).glob(f"{PREFIX}{link_id}-*.pcap"):
        with suppress(OSError):
            path.unlink()


def local_file(project_path: str, capture: LinkCapture) -> Path | None:
    """Give the capture's file when it is on this machine; blocks."""
    if not capture.file_name or (capture.capturing and capture.compute_id != LOCAL):
        return None
    path = Path(project_path) / CAPTURES / capture.file_name
    return path if path.is_file() and not path.is_symlink() else None


async def fetch_stream(client: GNS3Client, project_id: str, link_id: str, seconds: float = STREAM_SECONDS) -> Path:
    """Copy what a running capture on a remote compute holds to a temporary file, which the caller removes.

    The stream has no end: it is left when it falls silent, after `seconds`, or at STREAM_BYTES.
    """
    handle, name = await asyncio.to_thread(tempfile.mkstemp, ".pcap", "gns3-copilot-")
    with os.fdopen(handle, "wb") as file:
        try:
            async with (
                asyncio.timeout(seconds),
                client.stream(f"{_link(project_id, link_id)}/capture/stream") as pieces,
            ):
                await _copy(pieces, file)
        except TimeoutError:
            pass
        except BaseException:
            os.unlink(name)
            raise
    return Path(name)


async def _copy(pieces: Any, file: BinaryIO) -> None:
    left = STREAM_BYTES
    while left > 0:
        try:
            async with asyncio.timeout(STREAM_SILENCE):
                piece = await anext(pieces)
        except (TimeoutError, StopAsyncIteration):
            return
        await asyncio.to_thread(file.write, piece[:left])
        left -= len(piece)


def data_link_type(link: Mapping[str, Any], nodes: list[Mapping[str, Any]], protocol: str = "") -> str:
    """Give the data link type that the link's ports can be captured with.

    `link` and `nodes` as gns3-server gives them. Serial ports offer several: `protocol` (ppp, hdlc, frame_relay)
    chooses, Cisco HDLC otherwise. Raises ToolError when the ports do not offer what was chosen.
    """
    offers = [offer for offer in _offers(link, nodes) if offer]
    common = [kind for kind in offers[0] if all(kind in offer for offer in offers)] if offers else []
    if not common:
        return ETHERNET
    chosen = SERIAL.get(protocol)
    if chosen is None:
        return USUAL_SERIAL if USUAL_SERIAL in common else common[0]
    if chosen not in common:
        offered = ", ".join(name for name, kind in SERIAL.items() if kind in common) or "Ethernet"
        raise ToolError(f"This link cannot be captured as {protocol}; its ports offer {offered}.")
    return chosen


def _offers(link: Mapping[str, Any], nodes: list[Mapping[str, Any]]) -> Iterator[list[str]]:
    by_id = {node.get("node_id"): node for node in nodes}
    for end in link.get("nodes") or []:
        for port in (by_id.get(end.get("node_id")) or {}).get("ports") or []:
            place = (port.get("adapter_number"), port.get("port_number"))
            if place == (end.get("adapter_number"), end.get("port_number")):
                types = port.get("data_link_types")
                yield [str(kind) for kind in types.values()] if isinstance(types, Mapping) else []


def _link(project_id: str, link_id: str) -> str:
    return f"/projects/{project_id}/links/{link_id}"
