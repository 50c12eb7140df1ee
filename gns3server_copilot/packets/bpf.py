"""Compiles Berkeley packet filters with libpcap to see whether their syntax is right.

Run as a program it reads an expression on its input and exits with 0 (right), 1 (wrong, with libpcap's words on its
output) or 2 (there is no libpcap). It is a program because a compiler in C that is handed foreign text may do anything
to its process.
"""

from __future__ import annotations

import asyncio
import ctypes
import ctypes.util
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path

ETHERNET = 1
SNAP_LENGTH = 65535
NO_NETMASK = 0xFFFFFFFF
SECONDS = 5.0
RIGHT, WRONG, UNKNOWN = 0, 1, 2


async def syntax_error(expression: str) -> str | None:
    """Give libpcap's complaint about an expression, None where it has none or is not there."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**os.environ, "GNS3_COPILOT": "0", "PYTHONSAFEPATH": "1"},
    )
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await process.communicate(expression.encode())
    except TimeoutError:
        return "it takes too long to compile"
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    return said.decode(errors="replace").strip() or "syntax error" if process.returncode == WRONG else None


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint), ("instructions", ctypes.c_void_p))


def _main() -> int:
    expression = sys.stdin.buffer.read()
    try:
        library = ctypes.CDLL(ctypes.util.find_library("pcap") or "libpcap.so.0.8")
    except OSError:
        return UNKNOWN
    library.pcap_open_dead.restype = ctypes.c_void_p
    library.pcap_geterr.restype = ctypes.c_char_p
    library.pcap_geterr.argtypes = [ctypes.c_void_p]
    library.pcap_compile.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint]
    handle = library.pcap_open_dead(ETHERNET, SNAP_LENGTH)
    for line in expression.splitlines():
        program = _Program()
        if library.pcap_compile(handle, ctypes.byref(program), line, 1, NO_NETMASK) != 0:
            sys.stdout.buffer.write(library.pcap_geterr(handle))
            return WRONG
    return RIGHT


if __name__ == "__main__":
    sys.exit(_main())
