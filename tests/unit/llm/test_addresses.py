"""Where configurations may point, in every spelling, when they are stored and when they connect."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import pytest

from gns3server_copilot.errors import InvalidFieldError, ModelError
from gns3server_copilot.llm.addresses import addresses_for, check_base_url, check_resolved, is_forbidden
from gns3server_copilot.schemas.url_patterns import parse_patterns

ANYWHERE = parse_patterns("*")


def resolve_to(monkeypatch: pytest.MonkeyPatch, names: dict[str, list[str]]) -> None:
    """Let these names resolve to these addresses, and no other name at all; literal addresses as ever."""
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:
        if host in names:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in names[host]]
        return real(host, port, family, type, proto, flags | socket.AI_NUMERICHOST)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.1.1",
        "2852039166",
        "0xa9fea9fe",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "169.16689662",
        "１６９.２５４.１６９.２５４",
        "169。254。169。254",
        "%31%36%39.254.169.254",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[2002:a9fe:a9fe::1]",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[febf::1]",
        "[fd00:ec2::254]",
        "[FD00:0EC2:0::0254]",
        "100.100.100.200",
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata",
        "instance-data",
        "rebound.example",
        "half.example",
    ],
)
async def test_link_local_and_metadata_addresses_are_for_administrators_only(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(
        monkeypatch, {"rebound.example": ["169.254.169.254"], "half.example": ["93.184.216.34", "169.254.169.254"]}
    )
    with pytest.raises(InvalidFieldError, match=r"^base_url: "):
        await check_base_url(f"http://{host}/latest", is_admin=False, allowed=ANYWHERE)
    await check_base_url(f"http://{host}/latest", is_admin=True, allowed=ANYWHERE)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://api.openai.com/v1",
        "http://127.0.0.1:11434",
        "http://192.168.1.20:8000/v1",
        "http://[::1]:8000",
        "http://not-known-yet.example/v1",
        "http://[2001:db8::1]/",
    ],
)
async def test_other_addresses_are_for_everybody(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, {"api.openai.com": ["93.184.216.34"]})
    await check_base_url(url, is_admin=False, allowed=ANYWHERE)


async def test_the_list_limits_all_but_administrators(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, {})
    allowed = parse_patterns("https://api.openai.com, http://10.0.0.5:*")
    for url in ("https://api.openai.com/v1", "http://10.0.0.5:11434"):
        await check_base_url(url, is_admin=False, allowed=allowed)
    for url in ("https://api.anthropic.com", "http://10.0.0.6:11434", "http://api.openai.com/v1"):
        with pytest.raises(InvalidFieldError, match="allows"):
            await check_base_url(url, is_admin=False, allowed=allowed)
        await check_base_url(url, is_admin=True, allowed=allowed)


async def test_a_name_that_leads_there_is_not_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, {"rebound.example": ["93.184.216.34", "169.254.169.254"], "fine.example": ["10.0.0.5"]})
    for host in ("rebound.example", "2852039166", "0xa9fea9fe"):
        with pytest.raises(ModelError, match="link-local"):
            await addresses_for(host, 80)
        with pytest.raises(ModelError, match="link-local"):
            await asyncio.to_thread(check_resolved, host, 80)
    assert await addresses_for("fine.example", 80) == ["10.0.0.5"]
    # only an administrator could store these, and there is nothing that could change behind them
    assert await addresses_for("169.254.1.1", 80) == ["169.254.1.1"]
    check_resolved("fe80::1", 80)


async def test_a_name_that_does_not_resolve_is_an_os_error(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, {})
    for host in ("nowhere.example", "a" * 70 + ".example", "é..b"):
        with pytest.raises(OSError):
            await addresses_for(host, 80)


def test_addresses_inside_addresses_are_seen() -> None:
    assert is_forbidden(ipaddress.ip_address("2002:a9fe:0101::"))
    assert not is_forbidden(ipaddress.ip_address("2002:0a00:0005::"))
    assert not is_forbidden(ipaddress.ip_address("fec0::1"))
