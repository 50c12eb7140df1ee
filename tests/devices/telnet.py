"""The least of telnet that a console server needs: options announced at the start, commands taken out of the input."""

from __future__ import annotations

from collections.abc import Iterable

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
COMMANDS = {"WILL": WILL, "WONT": WONT, "DO": DO, "DONT": DONT}
OPTIONS = {"BINARY": 0, "ECHO": 1, "SGA": 3, "TTYPE": 24, "NAWS": 31, "LINEMODE": 34}


def encode(commands: Iterable[str]) -> bytes:
    """Give the bytes of commands such as "WILL ECHO"."""
    return b"".join(bytes([IAC, COMMANDS[verb], OPTIONS[option]]) for verb, option in map(str.split, commands))


def escape(data: bytes) -> bytes:
    """Double the bytes that would begin a command."""
    return data.replace(b"\xff", b"\xff\xff")


class TelnetDecoder:
    """Takes the commands out of one client's bytes, wherever these are cut."""

    def __init__(self) -> None:
        self._command = bytearray()
        self._in_subnegotiation = False

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Give what the client typed, and the answer that its commands want.

        Options beyond those announced are refused; agreement is not answered, or two sides could go on for ever.
        """
        typed, answer = bytearray(), bytearray()
        for byte in data:
            if self._command:
                answer += self._on_command_byte(byte, typed)
            elif byte == IAC:
                self._command.append(byte)
            elif not self._in_subnegotiation:
                typed.append(byte)
        return bytes(typed), bytes(answer)

    def _on_command_byte(self, byte: int, typed: bytearray) -> bytes:
        self._command.append(byte)
        verb = self._command[1]
        if verb in COMMANDS.values() and len(self._command) < 3:
            return b""
        self._command.clear()
        if verb == IAC and not self._in_subnegotiation:
            typed.append(IAC)
        elif verb == SB:
            self._in_subnegotiation = True
        elif verb == SE:
            self._in_subnegotiation = False
        elif verb in (DO, WILL) and byte not in (OPTIONS["ECHO"], OPTIONS["SGA"], OPTIONS["BINARY"]):
            return bytes([IAC, WONT if verb == DO else DONT, byte])
        return b""
