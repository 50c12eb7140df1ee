"""DHCP: which step of an exchange is missing."""

from __future__ import annotations

from collections.abc import Iterator

from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row

#: Clients repeat themselves after a few seconds; younger questions may still be answered.
PATIENCE = 2.0
ANSWERS = {"Discover": ("Offer", "ACK"), "Request": ("ACK", "NAK")}
WORDS = {
    "Discover": "asks for an address, and no server offers one: there is none here, and no relay to one.",
    "Request": "asks to use an address, and no server confirms it.",
}


def find(rows: Rows) -> Iterator[Finding]:
    """Give the clients whose questions are not answered, and those that take no offer."""
    if not rows.whole:
        return
    last = rows.rows[-1].time if rows.rows else 0.0
    exchanges: dict[str, list[Row]] = {}
    for row in rows.rows:
        exchanges.setdefault(f"{row.get('client_mac')} {row.get('transaction_id')}", []).append(row)
    for messages in exchanges.values():
        kinds = [str(row.get("message")) for row in messages]
        client = messages[0].get("client_mac")
        for question, answers in ANSWERS.items():
            asked = [row for row in messages if row.get("message") == question]
            if asked and not any(kind in answers for kind in kinds) and _waited(asked, last):
                name = f"dhcp_{question.lower()}_unanswered"
                yield Finding(name, "dhcp", "error", f"{client} {WORDS[question]}", _numbers(asked))
        offers = [row for row in messages if row.get("message") == "Offer"]
        if offers and not {"Request", "ACK"} & set(kinds) and _waited(offers, last):
            said = f"{client} is offered {offers[0].get('your_ip')} and does not take it: the offer does not reach it."
            yield Finding("dhcp_offer_not_taken", "dhcp", "warning", said, _numbers(offers))


def _waited(rows: list[Row], last: float) -> bool:
    return len(rows) > 1 or last - rows[0].time > PATIENCE


def _numbers(rows: list[Row]) -> tuple[int, ...]:
    return tuple(row.number for row in rows)
