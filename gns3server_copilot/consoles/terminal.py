"""A person's eyes and hands at a console: look, wait, type a line and see its echo, press Enter.

Nothing here knows what a session wants; the rules that hold for every key are here: nothing is entered that the device
has not echoed, and nothing that somebody else has typed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gns3server_copilot.consoles.screen import Screen
from gns3server_copilot.consoles.states import PROMPTS, Seen, State, begins_as_log, is_log, look
from gns3server_copilot.consoles.transport import Transport
from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.knowledge.schemas.family import Answer, ConsoleRules

#: How long nothing may arrive before what is seen counts: a prompt that was there before, a new one, a question.
KNOWN_PROMPT_SECONDS = 0.008
NEW_PROMPT_SECONDS = 0.05
ASKED_SECONDS = 0.15
QUESTION_SECONDS = 0.3
#: A prompt that was followed by a message is asked for again after this silence.
NUDGE_SECONDS = 0.3
ECHO_SECONDS = 5.0
ENTER_SECONDS = 1.5
MAX_PAGES = 5_000
#: Lines above the cursor's that can tell the state.
LOOK_LINES = 40
#: Characters of a line from which on devices may wrap or scroll it.
NARROW = 70
ASKING = (State.DIALOG, State.LOGIN, State.PASSWORD, State.QUESTION, State.PRESS_RETURN, State.BOOT_LOADER)
ENTERS = ("\r", "\r\n", "\n")


class SomebodyTypesError(ConsoleError):
    """Another person or program is typing at the console."""


class Terminal:
    """A console with what it shows. `rules` may be changed when the family is found out."""

    def __init__(self, rules: ConsoleRules) -> None:
        self.rules = rules
        self.screen = Screen()
        #: the last prompt that was seen bare
        self.prompt = ""
        self.enter_key = rules.enter
        self._transport: Transport | None = None
        self._awaiting = False
        self._typed = 0
        self._nudged = False

    def connect(self, transport: Transport) -> None:
        """Use this connection, which feeds `screen`."""
        self._transport = transport

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, be it one that has ended."""
        return self._transport is not None

    @property
    def transport(self) -> Transport:
        """The connection."""
        assert self._transport is not None
        return self._transport

    @property
    def busy(self) -> bool:
        """Whether a line of ours is half typed, or was entered and no prompt has come yet."""
        return self._awaiting or self._typed > 0

    # --- eyes ------------------------------------------------------------------------------------------------------

    def look(self, position: int = 0) -> Seen:
        """Tell what the console shows now, from the line at `position` on."""
        lines = self.screen.since(max(position, self.screen.position - LOOK_LINES))
        seen = look(lines, self.screen.line, self.rules, self.prompt)
        if seen.is_prompt:
            self.prompt = seen.prompt
        return seen

    async def changed(self, seconds: float, received: int | None = None) -> None:
        """Wait until more has arrived than was `received` (by default: until now), or so long.

        Raises ConsoleError when the connection has ended.
        """
        if received is None:
            received = self.screen.received
        end = time.monotonic() + seconds
        while self.screen.received == received and (left := end - time.monotonic()) > 0:
            await self.transport.wait(left)
            if self.transport.closed:
                raise ConsoleError(f"The console has closed its connection: the node may have stopped.{self.tail()}")

    async def still(self, seconds: float) -> bool:
        """Tell whether nothing arrives for so long."""
        received = self.screen.received
        await self.changed(seconds, received)
        return self.screen.received == received

    async def answered(
        self, seconds: float, *, line: int = -1, received: int = -1, questions: Sequence[Answer] = ()
    ) -> Seen | None:
        """Wait until the device waits for somebody again; None when it does not.

        What counts comes below `line` and after so much was `received`. Pages are turned meanwhile. A prompt that a
        message has pushed away is asked for again with Enter. `questions` are expected ones, whatever they look like.
        """
        end = time.monotonic() + seconds
        known = self.prompt
        pages = 0
        self._nudged = False
        while (left := end - time.monotonic()) > 0:
            now = self.screen.received
            if self.screen.position <= line or now <= received:
                await self.changed(left, now)
                continue
            seen = self.look(line + 1)
            if any(one.question.search(self.screen.line) for one in questions):
                seen = Seen(State.QUESTION)
            if seen.state is State.PAGER:
                pages += 1
                self._turn_page(pages)
                await self.changed(left, now)
            elif seen.is_prompt:
                if await self.still(KNOWN_PROMPT_SECONDS if seen.prompt == known else NEW_PROMPT_SECONDS):
                    self._awaiting = False
                    return seen
            elif seen.state in ASKING:
                expected = seen.state is not State.QUESTION or questions
                if await self.still(min(ASKED_SECONDS if expected else QUESTION_SECONDS, left)):
                    return seen
            elif self._nudged or not self._prompt_has_passed(line + 1, known):
                await self.changed(left, now)
            elif await self.still(min(NUDGE_SECONDS, left)):
                self._nudged = True
                self.press(self.enter_key)
        return None

    def output(self, position: int) -> list[str]:
        """Give what was printed from a line on, up to the prompt that stands there now."""
        lines = self.screen.since(position)
        banner = self.rules.prompts.banner
        if banner is not None:
            while lines and (not lines[-1] or banner.search(lines[-1])):
                lines.pop()
        if self._nudged:
            lines = [self._without_prompt(line) for line in lines if line != self.prompt]
        return lines

    def tail(self, count: int = 6) -> str:
        """Give the console's last words for a message, "" when there are none."""
        told = [line for line in [*self.screen.last(30), self.screen.line.rstrip()] if line.strip()][-count:]
        return f' The console shows: "{" / ".join(line.strip()[:160] for line in told)}".' if told else " It is blank."

    # --- hands -----------------------------------------------------------------------------------------------------

    def press(self, keys: str) -> None:
        """Send keys as they are."""
        self.transport.write(keys)

    async def enter(self, text: str = "") -> int:
        """Type a line, see its echo, press Enter; give the position of the line on which it stands.

        Raises ConsoleError when the device does not echo it, SomebodyTypesError when there is more than it on the line;
        what was typed is erased then.
        """
        if text:
            self.screen.begin_stream()
            self._typed = len(text)
            self.press(text)
            await self._see_echo(text)
            self.screen.end_stream()
        position = self.screen.position
        self._awaiting = True
        await self._press_enter(position)
        self._typed = 0
        return position

    async def enter_unseen(self, text: str) -> int:
        """Type a line that may not be echoed, a password say, and press Enter; give the position as `enter` does."""
        position = self.screen.position
        self.press(text + self.enter_key)
        return position

    def erase_typed(self) -> None:
        """Take back what was typed and not entered."""
        if self._typed:
            self.press("\b" * self._typed)
            self._typed = 0

    async def _press_enter(self, position: int) -> None:
        keys = [self.enter_key, *(key for key in ENTERS if key != self.enter_key)]
        for key in keys[:2]:
            self.press(key)
            end = time.monotonic() + ENTER_SECONDS
            while (left := end - time.monotonic()) > 0:
                if self.screen.position > position:
                    self.enter_key = key
                    return
                await self.changed(left)

    async def _see_echo(self, text: str) -> None:
        position = self.screen.position
        wanted = _squeezed(text)
        end = time.monotonic() + ECHO_SECONDS
        while (left := end - time.monotonic()) > 0:
            received = self.screen.received
            got = _squeezed(self.screen.stream)
            if wanted in got:
                break
            if got.endswith(wanted[-6:]) and await self.still(0.12):  # the device scrolls long lines
                return
            if _is_spread_over(wanted, got) and await self.still(0.25):
                if any(is_log(line) for line in self.screen.since(position)):
                    return
                break
            await self.changed(left, received)
        else:
            self.erase_typed()
            raise ConsoleError(
                f"The console does not answer: it did not echo what was typed.{self.tail()} If it stays so, a person "
                "can reset it in GNS3 (right click, console reset), which drops everybody's connection."
            )
        if self._has_foreign_text(text, position):
            self.erase_typed()
            raise SomebodyTypesError("The console is busy: somebody else is typing at it. Try again later.")

    def _has_foreign_text(self, text: str, position: int) -> bool:
        if not self.prompt or self.screen.position != position or len(self.prompt) + len(text) > NARROW:
            return False
        line = self.screen.line
        return line.startswith(self.prompt) and _squeezed(line) != _squeezed(self.prompt + text)

    def _turn_page(self, pages: int) -> None:
        shown = self.screen.line.rstrip()
        for pager in self.rules.pagers:
            found = pager.prompt.search(shown)
            if found:
                self.screen.erase_line()
                self.press(pager.more if pages <= MAX_PAGES else self.rules.quit_pager)
                return

    def _prompt_has_passed(self, first: int, known: str) -> bool:
        """Tell whether the prompt has been there already and a message came after it."""
        if not known:
            return False
        lines = [line for line in self.screen.since(max(first, self.screen.position - LOOK_LINES)) if line]
        shown = self.look()
        if shown.state in PROMPTS and shown.typed:
            return begins_as_log(shown.typed)
        for line in reversed(lines):
            rest = line.removeprefix(known)
            if rest != line and (not rest.strip() or begins_as_log(rest.strip())):
                return True
            if not is_log(line):
                return False
        return False

    def _without_prompt(self, line: str) -> str:
        rest = line.removeprefix(self.prompt)
        return rest.strip() if rest != line and begins_as_log(rest.strip()) else line


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_spread_over(wanted: str, got: str) -> bool:
    """Tell whether the characters of `wanted` come in `got` in their order."""
    remaining = iter(got)
    return all(character in remaining for character in wanted)
