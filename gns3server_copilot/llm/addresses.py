"""Which addresses a configuration may reach.

Link-local addresses and the metadata services of cloud machines give away credentials of the server's machine, so
nobody but a superadmin may point at them. A URL is judged when it is stored, and a host name again at every connection:
what it resolves to may have changed meanwhile, so a connection goes to the very address that was judged.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import unicodedata
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from gns3server_copilot.errors import InvalidFieldError, ModelError
from gns3server_copilot.schemas.url_patterns import UrlPattern

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

FORBIDDEN_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::254/128",  # AWS
        "fd20:ce::254/128",  # Google
        "100.100.100.200/32",  # Alibaba
        "192.0.0.192/32",  # Oracle
        "168.63.129.16/32",  # Azure
    )
)
FORBIDDEN_NAMES = frozenset({"metadata", "metadata.goog", "metadata.google.internal", "instance-data"})

#: IPv6 networks whose addresses end in the IPv4 address that is meant.
_EMBEDDING_NETWORKS = tuple(ipaddress.IPv6Network(one) for one in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96"))

RESOLVE_SECONDS = 5.0


async def check_base_url(url: str, *, is_admin: bool, allowed: Sequence[UrlPattern]) -> None:
    """Raise InvalidFieldError unless somebody may store a configuration with this URL; "" always passes.

    A name that does not resolve now passes: it is judged again at every connection.
    """
    if not url or is_admin:
        return
    if not any(pattern.matches(url) for pattern in allowed):
        raise InvalidFieldError(
            "base_url", "is not among the addresses that this server allows. Ask an administrator which ones are."
        )
    host = urlsplit(url).hostname or ""
    if _names_forbidden(host) or any(is_forbidden(address) for address in await _resolve_quietly(host)):
        raise InvalidFieldError("base_url", "is a link-local or metadata address, which only an administrator may use.")


async def addresses_for(host: str, port: int) -> list[str]:
    """Give the addresses to connect to for a host of a configuration, in the order to be tried.

    A literal address was judged when it was stored and comes back as it is; so only an administrator has a forbidden
    one. Raises ModelError when a name leads to a forbidden address, or OSError when it does not resolve.
    """
    if _plain_literal(host):
        return [host]
    found = await _resolve(host, port)
    _judge(host, found)
    return [str(address) for address in found]


def check_resolved(host: str, port: int | None) -> None:
    """Raise what `addresses_for` raises; for clients that work in threads and connect by themselves."""
    if not _plain_literal(host):
        _judge(host, _addresses(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def _judge(host: str, found: Sequence[Address]) -> None:
    if _names_forbidden(host) or any(is_forbidden(address) for address in found):
        raise ModelError(
            "The base URL's host leads to a link-local or metadata address, where the copilot does not go. "
            "Put another host into the base URL.",
            "address",
        )


def is_forbidden(address: Address) -> bool:
    """Tell whether an address, or the IPv4 address inside an IPv6 one, is link-local or of a metadata service."""
    if any(address in network for network in FORBIDDEN_NETWORKS if network.version == address.version):
        return True
    if isinstance(address, ipaddress.IPv4Address):
        return False
    return any(is_forbidden(inner) for inner in _embedded(address))


def _embedded(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    found = [inner for inner in (address.ipv4_mapped, address.sixtofour) if inner is not None]
    found += list(address.teredo or ())
    if any(address in network for network in _EMBEDDING_NETWORKS):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return found


def _names_forbidden(host: str) -> bool:
    return _normal(host) in FORBIDDEN_NAMES


def _normal(host: str) -> str:
    # Resolvers take other scripts' digits and full stops for ASCII ones.
    return unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".").rstrip(".").lower()


def _plain_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _resolve_quietly(host: str) -> list[Address]:
    host = _normal(host).partition("%")[0]  # an interface of another machine would not resolve
    try:
        return await _resolve(host, None)
    except (OSError, ModelError):
        return []


async def _resolve(host: str, port: int | None) -> list[Address]:
    """Ask the system's resolver, which also reads decimal, octal, hexadecimal and short spellings of addresses."""
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise ModelError("The name of the model provider's host cannot be looked up.", "unreachable") from None
    except UnicodeError:
        raise OSError("not a host name") from None
    return _addresses(answers)


def _addresses(answers: Sequence[Any]) -> list[Address]:
    return list(dict.fromkeys(ipaddress.ip_address(answer[4][0]) for answer in answers))
