"""Patterns of URLs, with which an administrator says where people may point their configurations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

_PATTERN = re.compile(r"(?P<scheme>https?|\*)://(?P<host>\[[^\]/]+\]|[^:/\s]+)(:(?P<port>\d+|\*))?(?P<path>/\S*)?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class UrlPattern:
    """One pattern. `*` stays within its part: in the host it never reaches into the path, and the other way round."""

    scheme: str
    host: str
    port: str
    path: str

    @classmethod
    def parse(cls, text: str) -> UrlPattern:
        """Read `https://*.example.com`, `http://10.0.0.5:*/v1` or `*`, which is every URL. Raises ValueError.

        Without a port the scheme's own is meant, without a path every path.
        """
        if text == "*":
            return cls("*", "*", "*", "*")
        parts = _PATTERN.fullmatch(text)
        if parts is None:
            raise ValueError(f"{text} is not a URL like https://*.example.com")
        return cls(
            parts["scheme"], parts["host"].lower().strip("[]"), parts["port"] or "", (parts["path"] or "").rstrip("/")
        )

    def matches(self, url: str) -> bool:
        """Tell whether a URL that a configuration may hold is one of these."""
        parts = urlsplit(url)
        own_port = _DEFAULT_PORTS.get(parts.scheme)
        port = parts.port or own_port
        host = (parts.hostname or "").rstrip(".")
        return (
            self.scheme in ("*", parts.scheme)
            and fnmatchcase(host, self.host)
            and (self.port in ("*", str(port)) or (not self.port and port == own_port))
            and self._matches_path(parts.path)
        )

    def _matches_path(self, path: str) -> bool:
        # a server may take /a/%2e%2e/b for /b, whatever the pattern says of /a
        if self.path not in ("", "*") and ".." in unquote(path).split("/"):
            return False
        return self.path == "" or fnmatchcase(path.rstrip("/"), self.path) or fnmatchcase(path, self.path + "/*")


def parse_patterns(text: str) -> tuple[UrlPattern, ...]:
    """Read patterns with commas or spaces between them. Raises ValueError that names the wrong one."""
    found = tuple(UrlPattern.parse(one) for one in re.split(r"[,\s]+", text) if one)
    if not found:
        raise ValueError("at least one pattern is needed; * allows every URL")
    return found
