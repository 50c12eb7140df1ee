"""Addresses as people write them."""

from __future__ import annotations

import functools
import socket


def mac_text(raw: bytes) -> str:
    """Six bytes as `00:1f:6d:96:ec:04`."""
    return raw.hex(":")


@functools.lru_cache(4096)
def ip_text(raw: bytes) -> str:
    """Four or sixteen bytes as an IP address; "" for any other number."""
    if len(raw) == 4:
        return socket.inet_ntop(socket.AF_INET, raw)
    return socket.inet_ntop(socket.AF_INET6, raw) if len(raw) == 16 else ""


def endpoint_text(address: str, port: int | None) -> str:
    """An address with its port, as in URLs."""
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
