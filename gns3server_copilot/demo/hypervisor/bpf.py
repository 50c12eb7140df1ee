"""The `bpf` filter, compiled and applied by libpcap (Debian: libpcap0.8)."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from functools import cache

_ETHERNET = 1
_SNAPLEN = 65535
_NO_NETMASK = 0xFFFFFFFF


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint), ("instructions", ctypes.c_void_p))


class _Header(ctypes.Structure):
    _fields_ = (
        ("seconds", ctypes.c_long),
        ("microseconds", ctypes.c_long),
        ("captured", ctypes.c_uint),
        ("length", ctypes.c_uint),
    )


@cache
def _libpcap() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(ctypes.util.find_library("pcap") or "libpcap.so.0.8")
    except OSError:
        return None
    library.pcap_open_dead.restype = ctypes.c_void_p
    library.pcap_close.argtypes = [ctypes.c_void_p]
    library.pcap_geterr.restype = ctypes.c_char_p
    library.pcap_geterr.argtypes = [ctypes.c_void_p]
    library.pcap_compile.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_uint,
    ]
    return library


def _complain(text: str) -> None:
    """Into ubridge.log: gns3-server adds it to its answer."""
    print(text, file=sys.stderr, flush=True)


class BpfFilter:
    """Drops what matches the expression."""

    def __init__(self) -> None:
        self._program: _Program | None = None

    def set_up(self, arguments: list[str]) -> bool:
        library = _libpcap()
        if len(arguments) not in (1, 2):
            return False
        if library is None:
            _complain(f"Cannot compile filter '{arguments[0]}': libpcap is not installed")
            return False
        handle = library.pcap_open_dead(_ETHERNET, _SNAPLEN)
        try:
            program = _Program()
            expression = arguments[0].encode()
            if library.pcap_compile(handle, ctypes.byref(program), expression, 1, _NO_NETMASK) < 0:
                _complain(f"Cannot compile filter '{arguments[0]}': {library.pcap_geterr(handle).decode()}")
                return False
        finally:
            library.pcap_close(handle)
        self._program = program
        return True

    def drops(self, frame: bytearray) -> bool:
        library = _libpcap()
        if self._program is None or library is None:
            return False
        data = bytes(frame)
        header = _Header(0, 0, len(data), len(data))
        return bool(library.pcap_offline_filter(ctypes.byref(self._program), ctypes.byref(header), data))
