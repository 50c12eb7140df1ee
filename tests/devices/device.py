"""One scripted device: a console that any number of telnet clients share, as GNS3's consoles are shared."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from string import Template

from tests.devices.grammar import Match, find_command
from tests.devices.personality import Personality, Reaction, State, load_personality
from tests.devices.telnet import TelnetDecoder, encode, escape

ENTER = {"\r\n": "CRLF", "\r\0": "CRNUL", "\r": "CR", "\n": "LF"}
TOKENS = re.compile("\r\n|\r\0|.", re.DOTALL)
BACKSPACES = ("\b", "\x7f")
KILL_LINE = "\x15"


@dataclass(frozen=True)
class Typed:
    """A line that was entered, and the state in which it came."""

    state: str
    line: str


class Device:
    """Plays a personality on a telnet port on loopback.

    All clients see the same output and type into the same line. What is printed while no client is there goes to the
    next one. `typed` are the lines entered so far, `config` those of them that a configuration mode took.
    """

    def __init__(self, personality: Personality, **variables: str) -> None:
        self.port = 0
        self.typed: list[Typed] = []
        self.config: list[str] = []
        self.candidate: list[str] = []
        self.variables = {**personality.variables, **variables}
        self.state = personality.initial
        self._personality = personality
        self._asking_state = personality.initial
        self._tries = 0
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._clients: set[asyncio.StreamWriter] = set()
        self._unread = bytearray()
        self._printed = bytearray()
        self._shown = ""
        self._line = ""
        self._at_prompt = False

    @property
    def lines(self) -> list[str]:
        """The lines entered so far, empty ones left out."""
        return [typed.line for typed in self.typed if typed.line]

    @property
    def waiting(self) -> bool:
        """Whether it is at a prompt, where nothing has been typed yet."""
        return self._at_prompt and not self._line

    @property
    def typing(self) -> str:
        """What stands behind the prompt and was not entered."""
        return self._line

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return len(self._clients)

    def emit(self, text: str) -> None:
        """Print something out of turn, a log message say; `\\n` is sent as CR LF."""
        self._write(text)

    def emit_log(self, text: str) -> None:
        """Print a message as a device with synchronous logging does: the line that it breaks into comes again."""
        self._write(f"\n{text}\n{self._shown}{self._line}")

    def type(self, text: str) -> None:
        """Type as another person at the console does."""
        for token in TOKENS.findall(text):
            self._keys.put_nowait(token)

    def emit_raw(self, data: bytes) -> None:
        """Send bytes as they are, telnet commands included."""
        self._send_printed()
        for client in self._clients:
            client.write(data)

    def disconnect(self) -> None:
        """Break all connections, as a node that ends."""
        for client in self._clients:
            client.transport.abort()

    # --- the telnet side -------------------------------------------------------------------------------------------

    async def serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect one client to the console until it leaves."""
        decoder = TelnetDecoder()
        self._send_printed()
        writer.write(encode(self._personality.negotiate) + bytes(self._unread))
        self._unread.clear()
        self._clients.add(writer)
        last = ""
        try:
            while data := await reader.read(4096):
                typed, answer = decoder.feed(data)
                writer.write(answer)
                for token in TOKENS.findall(typed.decode("utf-8", "replace")):
                    if not (last == "\r" and token in ("\n", "\0")):  # the second half of an Enter cut in two
                        self._keys.put_nowait(token)
                    last = token
        except ConnectionError:
            pass
        finally:
            self._clients.discard(writer)
            writer.close()

    def _write(self, text: str) -> None:
        """Print; what is printed at one go, the echo of a whole line say, is sent at one go."""
        if not self._printed:
            asyncio.get_running_loop().call_soon(self._send_printed)
        self._printed += escape(text.replace("\r\n", "\n").replace("\n", "\r\n").encode())

    def _send_printed(self) -> None:
        data = bytes(self._printed)
        self._printed.clear()
        if not self._clients:
            self._unread += data
        for client in self._clients:
            client.write(data)

    # --- the device side -------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Be the device: prompt, read, react, for ever."""
        self._write(self._fill(self._personality.greeting))
        while True:
            state = self._personality.states[self.state]
            self._shown = self._fill(state.prompt)
            self._write(self._shown)
            self._at_prompt = True
            reaction, words = await self._read(state)
            self._at_prompt = False
            await self._react(reaction, words)

    async def _read(self, state: State) -> tuple[Reaction, dict[str, str]]:
        """Read keys until they ask for a reaction."""
        line = ""
        while True:
            self._line = line
            key = await self._keys.get()
            if key in state.keys:
                return state.keys[key], {}
            if key == self._personality.repaint_key:
                if state.echo:
                    self._write(f"\n{self._shown}{line}")
                continue
            if key in self._personality.break_keys and state.echo and not state.immediate:
                return Reaction(output="\n"), {}
            if state.immediate:
                self.typed.append(Typed(self.state, key.strip("\r\n\0")))
                return state.otherwise or Reaction(), {}
            if key in ENTER:
                if ENTER[key] not in self._personality.enter:
                    continue
                self._write("\n")
                return self._on_line(state, line)
            line = self._edit(line, key, state.echo)

    def _edit(self, line: str, key: str, echo: bool) -> str:
        if key in BACKSPACES:
            edited = line[:-1]
        elif key == KILL_LINE:
            edited = ""
        elif key < " ":
            return line
        else:
            edited = line + key
        if echo:
            self._echo(line, edited, key)
        return edited

    def _echo(self, before: str, after: str, key: str) -> None:
        personality = self._personality
        column = len(self._shown.rpartition("\n")[2]) + len(after)
        if personality.repaint:
            self._write(f"\r{self._shown.rpartition(chr(10))[2]}\x1b[m\x1b[35m{after}\x1b[m\x1b[K")
        elif len(after) < len(before):
            self._write("\b \b" * (len(before) - len(after)))
        elif personality.columns and column % personality.columns == 0:
            if personality.wrap == "SCROLL":
                shown = after[-10:]
                self._write("\b" * (personality.columns - 1) + "$" + shown + " " * 10 + "\b" * 10)
            else:
                self._write(key + "\n")
        else:
            self._write(key)

    def _on_line(self, state: State, line: str) -> tuple[Reaction, dict[str, str]]:
        self.typed.append(Typed(self.state, line))
        match = self._find(line, state)
        if line.strip() and line.strip() != "echo $?":
            self.variables["status"] = "0" if match.command is not None else "127"
        if match.command is not None and match.command.run_as is not None:
            match = self._find(match.words["command"], self._personality.states[match.command.run_as])
        if match.command is not None:
            if match.command.record:
                self._record(line)
            return match.command, match.words
        if state.otherwise is not None:
            self._tries += 1
            if state.exhausted is not None and self._tries >= state.tries:
                return state.exhausted, {}
            return state.otherwise, {}
        if not line.strip():
            return Reaction(), {}
        first = line.split()[0].lower()
        if any(word.startswith(first) if self._personality.abbreviations else word == first for word in state.accept):
            self._record(line)
            return Reaction(), {}
        return self._problem(match), {"line": line}

    def _record(self, line: str) -> None:
        (self.candidate if self._personality.candidate else self.config).append(line)

    def _find(self, line: str, state: State) -> Match:
        commands = [(self._fill(command.command), command) for command in state.commands]
        return find_command(line, commands, self._personality.abbreviations)

    def _problem(self, match: Match) -> Reaction:
        texts = {"ambiguous": self._personality.ambiguous, "incomplete": self._personality.incomplete}
        return Reaction(output=texts.get(match.problem, self._personality.unknown))

    async def _react(self, reaction: Reaction, words: dict[str, str]) -> None:
        if reaction.delay:
            await asyncio.sleep(reaction.delay)
        for name, value in reaction.set.items():
            self.variables[name] = self._fill(value, words)
        texts = [self._fill(reaction.output, {**words, "number": str(n + 1)}) for n in range(reaction.times)]
        await self._print(reaction, "".join(texts))
        if reaction.repeat is not None:
            await self._repeat(reaction, words)
        if reaction.commit:
            self.config += self.candidate
        if reaction.commit or reaction.discard:
            self.candidate.clear()
        if reaction.go_pending is not None and self.candidate:
            self._go(self._fill(reaction.go_pending))
        elif reaction.go is not None:
            self._go(self._fill(reaction.go))

    def _go(self, target: str) -> None:
        self._tries = 0
        if target == "back":
            self.state = self._asking_state
        else:
            self._asking_state, self.state = self.state, target

    async def _print(self, reaction: Reaction, text: str) -> None:
        pager = self._personality.pager
        size = int(self.variables.get("page_lines", "0"))
        left = size - 1
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines):
            if reaction.line_delay:
                await asyncio.sleep(reaction.line_delay)
            self._write(line)
            left -= 1
            if pager and size and reaction.page and left <= 0 and number < len(lines) - 1:
                self._write(pager.text)
                key = await self._next_of(pager.page + pager.line + pager.quit)
                self._write(pager.erase)
                if key in pager.quit:
                    return
                left = 1 if key in pager.line else size - 1

    async def _next_of(self, wanted: str) -> str:
        while (key := (await self._keys.get())[0]) not in wanted:
            pass
        return key

    async def _repeat(self, reaction: Reaction, words: dict[str, str]) -> None:
        assert reaction.repeat is not None
        for number in range(reaction.repeat.count):
            self._write(self._fill(reaction.repeat.text, {**words, "number": str(number + 1)}))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(reaction.repeat.every):
                    await self._next_of(self._personality.break_keys)
                    return

    def _fill(self, text: str, words: dict[str, str] | None = None) -> str:
        values = {**self.variables, "config": "\n".join(self.config), **(words or {})}
        return Template(text).safe_substitute(values)


@asynccontextmanager
async def play(personality: str | Personality, **variables: str) -> AsyncIterator[Device]:
    """Give a running device of this personality; its connections break when the block ends."""
    device = Device(load_personality(personality) if isinstance(personality, str) else personality, **variables)
    server = await asyncio.start_server(device.serve_client, "127.0.0.1", 0)
    device.port = server.sockets[0].getsockname()[1]
    running = asyncio.create_task(device.run())
    try:
        yield device
        if running.done():  # only an error of ours ends it
            running.result()
    finally:
        running.cancel()
        server.close()
        device.disconnect()
        with contextlib.suppress(asyncio.CancelledError):
            await running
