"""ARP: addresses that nobody answers for, and those that two answer for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row

#: A question is asked again after a second; one that was asked only once at the end of the capture proves nothing.
PATIENCE = 1.0
#: MAC addresses that stand for a group of routers, and so move between them.
VIRTUAL_MACS = ("00:00:0c:07:ac", "00:00:0c:9f:f", "00:05:73:a0:0", "00:00:5e:00:01", "00:00:5e:00:02", "00:07:b4")
NOBODY = "0.0.0.0"


def find(rows: Rows) -> Iterator[Finding]:
    """Give unanswered requests and duplicate addresses."""
    if rows.whole:
        yield from _unanswered(rows)
    yield from _duplicates(rows)


def _unanswered(rows: Rows) -> Iterator[Finding]:
    asked: dict[tuple[tuple[int, ...], str], list[Row]] = {}
    known: set[tuple[tuple[int, ...], str]] = set()
    for row in rows.rows:
        if row.get("sender_ip") not in (None, NOBODY):
            known.add((row.link, str(row.get("sender_ip"))))
        if row.get("operation") == "request" and not row.get("gratuitous") and not row.get("probe"):
            asked.setdefault((row.link, str(row.get("target_ip"))), []).append(row)
    last = rows.rows[-1].time if rows.rows else 0.0
    for key, requests in asked.items():
        if key not in known and (len(requests) > 1 or last - requests[0].time > PATIENCE):
            askers = ", ".join(sorted({str(row.get("sender_ip")) for row in requests}))
            said = f"Nobody answers for {key[1]}, which {askers} asks for: it is down, on another VLAN, or not there."
            yield Finding("arp_unanswered", "arp", "warning", said, tuple(row.number for row in requests))


def _duplicates(rows: Rows) -> Iterator[Finding]:
    owners: dict[tuple[tuple[int, ...], str], dict[str, list[int]]] = {}
    for row in rows.rows:
        address, mac = row.get("sender_ip"), str(row.get("sender_mac"))
        if address not in (None, NOBODY) and not mac.startswith(VIRTUAL_MACS):
            owners.setdefault((row.link, str(address)), {}).setdefault(mac, []).append(row.number)
    for (_, address), macs in owners.items():
        if len(macs) > 1:
            said = f"{address} is used by {' and by '.join(macs)}: two devices have the same address."
            yield Finding(
                "arp_duplicate_address", "arp", "error", said, tuple(itertools.chain.from_iterable(macs.values()))
            )
