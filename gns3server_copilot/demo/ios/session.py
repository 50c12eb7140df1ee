"""The console session of the IOS-like router: prompts, modes, paging and errors."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from gns3server_copilot.demo.devices.console import (
    END_OF_CONFIGURATION,
    INTERRUPT,
    IOS_ESCAPE,
    RETURN,
    Console,
    Interrupted,
    LineEditor,
    until_interrupted,
)
from gns3server_copilot.demo.ios.commands import commands
from gns3server_copilot.demo.ios.configuration import Configurator
from gns3server_copilot.demo.ios.grammar import CommandError, CommandTable, InvalidArgument, InvalidInput
from gns3server_copilot.demo.ios.pipes import apply_pipe, split_pipe
from gns3server_copilot.demo.ios.router import Router

DEFAULT_LENGTH = 24
MORE = " --More-- "
_MORE_ERASED = "\b" * 9 + " " * 8 + "\b" * 9

BANNER = """

*** Scripted router of the GNS3 Copilot demo. No Cisco software is in it, no emulator runs. ***

"""

_in_configuration = CommandTable()
"""What a session itself understands in configuration mode."""


class Session:
    """One console session, from `Press RETURN` on. It is the Terminal of `commands`."""

    def __init__(self, router: Router, console: Console) -> None:
        self.router = router
        self.length = DEFAULT_LENGTH
        self.privileged = False
        self._console = console
        self._editor = LineEditor(console)
        self._configurator: Configurator | None = None
        self._logged_in = False
        router.on_log = self._show_log_line

    async def run(self) -> None:
        self._console.write(BANNER)
        while True:
            await self._wait_for_return()
            while self._logged_in:
                await self._one_line()
            self.write(f"\n\n{self.router.hostname} con0 is now available\n\n")

    async def _wait_for_return(self) -> None:
        self.write("\nPress RETURN to get started.\n\n")
        while await self._console.read_key() != RETURN:
            pass
        self.write("\n\n")
        self.length, self.privileged, self._logged_in = DEFAULT_LENGTH, False, True

    async def _one_line(self) -> None:
        enders = END_OF_CONFIGURATION if self._configurator else ""
        try:
            line = await self._editor.read_line(self._prompt, enders)
        except Interrupted:
            self.write("\n")
            if self._configurator:
                self.end_configuration()
            return
        ended = line.endswith(END_OF_CONFIGURATION)
        if line := line.rstrip(END_OF_CONFIGURATION):
            await self._execute(line)
        if ended and self._configurator:
            self.end_configuration()

    @property
    def _prompt(self) -> str:
        mode = f"({self._configurator.mode})" if self._configurator else ""
        return f"{self.router.hostname}{mode}{'#' if self.privileged else '>'}"

    # --- what commands use ------------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        self._console.write(text)

    def configure(self) -> None:
        self._configurator = Configurator(self.router)

    def end_configuration(self) -> None:
        self._configurator = None
        self.router.log("%SYS-5-CONFIG_I: Configured from console by console")

    def leave_configuration_level(self) -> None:
        if self._configurator and not self._configurator.leave():
            self.end_configuration()

    def log_out(self) -> None:
        self._logged_in = False

    async def ask(self, question: str) -> str:
        try:
            return await self._editor.read_line(question)
        except Interrupted:
            raise CommandError("\n% Aborted") from None

    async def interruptible(self, work: Coroutine[Any, Any, None]) -> None:
        if not await until_interrupted(self._console, IOS_ESCAPE + INTERRUPT, work):
            self.write("\n")

    # --- lines ------------------------------------------------------------------------------------------------------

    async def _execute(self, line: str) -> None:
        prompt = self._prompt
        if line.lstrip().startswith("!"):
            return
        try:
            if self._configurator:
                await self._execute_configuration(self._configurator, line)
            else:
                await self.execute_command(line)
        except InvalidInput as error:
            self.write(" " * (len(prompt) + error.position) + f"^\n{error.message}\n\n")
        except CommandError as error:
            self.write(f"{error.message}\n\n")

    async def execute_command(self, line: str) -> None:
        """A line of user or privileged mode. Raises CommandError."""
        command, pipe, position = split_pipe(line)
        text = await commands.find(command, privileged=self.privileged).run(self)
        if text and pipe is not None:
            text = apply_pipe(text, pipe, position)
        if text:
            await self._page(text)

    async def _execute_configuration(self, configurator: Configurator, line: str) -> None:
        try:
            match = _in_configuration.find(line)
        except InvalidInput as error:
            if error.position > len(line) - len(line.lstrip()):
                raise
            printed = configurator.execute(line)
            self.write(f"{printed}\n" if printed else "")
        else:
            await match.run(self)

    # --- output -----------------------------------------------------------------------------------------------------

    async def _page(self, text: str) -> None:
        """Print a command's output, a screenful at a time. Space: the next one, RETURN: one line, others: no more."""
        lines = text.split("\n")
        screenful = max(1, self.length - 1) if self.length else len(lines)
        room = screenful
        while True:
            shown, lines = lines[:room], lines[room:]
            self.write("".join(line + "\n" for line in shown))
            if not lines:
                return
            self.write(MORE)
            key = await self._console.read_key()
            self.write(_MORE_ERASED)
            if key == " ":
                room = screenful
            elif key == RETURN:
                room = 1
            else:
                return

    def _show_log_line(self, line: str) -> None:
        self._editor.interject(line, redraw=self.router.logging_synchronous)


@_in_configuration.command("end")
def _end(session: Session) -> None:
    session.end_configuration()


@_in_configuration.command("exit")
def _exit(session: Session) -> None:
    session.leave_configuration_level()


@_in_configuration.command("do LINE")
async def _do(session: Session, line: str) -> None:
    try:
        await session.execute_command(line)
    except InvalidInput as error:
        raise InvalidArgument(0, error.position) from None
