"""From a fresh connection to a prompt: look first, and type only what cannot answer a question."""

from __future__ import annotations

import time
from collections.abc import Callable

from gns3server_copilot.consoles.credentials import MAX_ATTEMPTS, StoredCredentials, attempts
from gns3server_copilot.consoles.states import PROMPTS, Seen, State, begins_as_log
from gns3server_copilot.consoles.terminal import SomebodyTypesError, Terminal
from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.knowledge.schemas.family import ConsoleRules, Step

#: The whole way to a prompt, dialogs and a login included.
APPROACH_SECONDS = 30.0
#: What was printed before we came arrives at once; then it is quiet for so long.
BACKLOG_QUIET_SECONDS = 0.02
PROMPT_SECONDS = 0.03
#: Silence after which a text without a prompt is all that there is.
TEXT_QUIET_SECONDS = 0.6
LOOK_KEY_SECONDS = 0.1
#: How long Enter gets, then CR LF.
ENTER_SECONDS = (1.5, 2.0)
LOGIN_SECONDS = 15.0
TYPING_SECONDS = 4.0
QUESTION_SECONDS = 0.4
MAX_KEYS = 12
#: Times that Enter may bring nothing that tells a state.
MAX_EMPTY_ANSWERS = 4

#: Gives the rules of the family that a text shows, None when it shows none.
FamilyFrom = Callable[[str], ConsoleRules | None]


class Approach:
    """One way to a prompt. `began_anew` tells whether the device has begun a session of its own on it."""

    def __init__(self, terminal: Terminal, credentials: StoredCredentials, family_from: FamilyFrom) -> None:
        self.began_anew = False
        self._terminal = terminal
        self._credentials = credentials
        self._family_from = family_from
        self._keys = 0
        self._enters = 0
        self._empty_answers = 0
        self._looked = False
        self._left_shell = False
        self._logins = 0
        self._passwords = 0
        self._typing_since: float | None = None
        self._unknown = ""

    async def to_prompt(self) -> None:
        """Bring the console to a prompt of any kind. Raises ConsoleError that says what it shows instead."""
        terminal = self._terminal
        end = time.monotonic() + APPROACH_SECONDS
        await self._take_backlog(end)
        while time.monotonic() < end and self._keys < MAX_KEYS:
            self._recognise()
            seen = terminal.look()
            if seen.is_prompt:
                if not await terminal.still(PROMPT_SECONDS):
                    continue
                if seen.state is not State.SHELL or terminal.rules.shell is None:
                    return
                await self._leave_shell(terminal.rules.shell)
                continue
            await self._advance(seen)
        raise ConsoleError(f"The device is not ready: no prompt came in {APPROACH_SECONDS:g} s.{terminal.tail()}")

    async def to_privileged(self, step: Step) -> None:
        """Leave the user prompt if that is possible; without a password that it wants, the console stays there."""
        terminal = self._terminal
        line = await terminal.enter(step.command)
        stored = (self._credentials.enable_password, self._credentials.password)
        passwords = [password for password in stored if password is not None]
        passwords = (passwords or [answer.answer for answer in step.answers])[:MAX_ATTEMPTS]
        seen = await terminal.answered(LOGIN_SECONDS, line=line)
        while seen is not None and seen.state is State.PASSWORD:
            received = terminal.screen.received
            if passwords:
                line = await terminal.enter_unseen(passwords.pop(0))
                seen = await terminal.answered(LOGIN_SECONDS, line=line)
            else:
                terminal.press(terminal.rules.break_keys[-1])
                seen = await terminal.answered(0.5, received=received)
                if seen is None or seen.state is State.PASSWORD:
                    line = await terminal.enter_unseen("")
                    seen = await terminal.answered(LOGIN_SECONDS, line=line)
                    if self._keys > MAX_ATTEMPTS:
                        break
                    self._keys += 1
        if seen is None or not seen.is_prompt:
            raise ConsoleError(f"{step.command} led to no prompt.{terminal.tail()}")

    async def _take_backlog(self, end: float) -> None:
        terminal = self._terminal
        # the first bytes of a fresh connection are the server's own: it answers at once
        while time.monotonic() < end and not await terminal.still(BACKLOG_QUIET_SECONDS):
            pass

    def _recognise(self) -> None:
        terminal = self._terminal
        lines = [*terminal.screen.last(200), terminal.screen.line]
        rules = self._family_from("\n".join(lines))
        if rules is not None:
            terminal.rules = rules
            terminal.enter_key = rules.enter

    async def _advance(self, seen: Seen) -> None:
        """Do what leads on from here, or wait."""
        terminal = self._terminal
        match seen.state:
            case State.PAGER:
                terminal.screen.erase_line()
                await self._press(terminal.rules.quit_pager)
            case State.PRESS_RETURN:
                if await terminal.still(0.1):
                    self.began_anew = True
                    await self._press(terminal.enter_key)
            case State.DIALOG if seen.answer is not None:
                if await terminal.still(0.1):
                    self.began_anew = True
                    await self._press(seen.answer.answer + (terminal.enter_key if seen.answer.enter else ""), 10.0)
            case State.LOGIN | State.PASSWORD:
                if await terminal.still(0.1):
                    await self._log_in(seen.state)
            case State.BOOT_LOADER:
                raise ConsoleError(f"The device is in its boot loader, so no command was typed.{terminal.tail()}")
            case State.QUESTION:
                if await terminal.still(QUESTION_SECONDS):
                    raise ConsoleError(
                        f"The device asks something that only a person can answer.{terminal.tail()} Answer it in the "
                        "node's console, then try again."
                    )
            case state if state in PROMPTS:
                await self._wait_for_typist(seen)
            case State.BOOTING:
                await terminal.changed(TEXT_QUIET_SECONDS)
            case State.TEXT:
                if await terminal.still(TEXT_QUIET_SECONDS):
                    await self._ask_again()
            case _:
                quiet = TEXT_QUIET_SECONDS if terminal.screen.received else 0.0
                if await terminal.still(quiet):
                    await self._enter()

    async def _wait_for_typist(self, seen: Seen) -> None:
        """A prompt with something behind it: a message of the device, or somebody who types."""
        terminal = self._terminal
        if begins_as_log(seen.typed):
            if await terminal.still(0.1):
                await self._press(terminal.enter_key)
            return
        self._typing_since = self._typing_since or time.monotonic()
        if time.monotonic() - self._typing_since > TYPING_SECONDS:
            raise SomebodyTypesError(
                f"The console is busy: somebody has begun to type a line.{terminal.tail(1)} Try again later."
            )
        await terminal.changed(0.5)

    async def _ask_again(self) -> None:
        """A text that is no prompt of the family: perhaps the rest of something, perhaps an unknown prompt."""
        terminal = self._terminal
        shown = terminal.screen.line.rstrip()
        if shown == self._unknown:
            raise ConsoleError(
                f"The console shows a prompt that the family of this device does not have.{terminal.tail(3)} Set the "
                "device's family in the copilot's device settings."
            )
        self._unknown = shown
        await self._press(terminal.enter_key)

    async def _enter(self) -> None:
        """Nothing is seen. A key that only repaints comes first, then Enter, then CR LF."""
        terminal = self._terminal
        received = terminal.screen.received
        if terminal.rules.look_key and not self._looked:
            self._looked = True
            terminal.press(terminal.rules.look_key)
            await terminal.changed(LOOK_KEY_SECONDS)
            return
        if self._enters == len(ENTER_SECONDS):
            raise ConsoleError(
                f"The console does not answer.{terminal.tail()} The device may still be starting or be hung; a person "
                "can reset its console in GNS3 (right click, console reset), which drops everybody's connection."
            )
        if self._empty_answers == MAX_EMPTY_ANSWERS:
            raise ConsoleError(f"The console answers with empty lines only.{terminal.tail()}")
        keys = terminal.enter_key if self._enters == 0 else "\r\n"
        await self._press(keys, ENTER_SECONDS[self._enters])
        self._empty_answers += 1
        self._enters = 0 if terminal.screen.received != received else self._enters + 1
        if terminal.screen.received != received and keys == "\r\n":
            terminal.enter_key = keys

    async def _press(self, keys: str, seconds: float = 1.5) -> None:
        self._keys += 1
        received = self._terminal.screen.received
        self._terminal.press(keys)
        await self._terminal.changed(seconds, received)

    async def _leave_shell(self, step: Step) -> None:
        terminal = self._terminal
        if self._left_shell:
            raise ConsoleError(
                f"The console is in a shell, and {step.command} does not lead out of it.{terminal.tail()}"
            )
        self._left_shell = self.began_anew = True
        position = await terminal.enter(step.command)
        await terminal.answered(LOGIN_SECONDS, line=position)

    async def _log_in(self, state: State) -> None:
        terminal = self._terminal
        candidates = attempts(self._credentials, terminal.rules.login)
        if state is State.LOGIN:
            if self._logins >= len(candidates):
                raise ConsoleError(_login_needed(self._logins, terminal))
            line = await terminal.enter_unseen(candidates[self._logins].username)
            self._logins += 1
        else:
            # a password alone, or the second half of a login that somebody else has begun, needs one that was set
            if self._passwords >= len(candidates) or (self._logins == 0 and self._credentials.password is None):
                raise ConsoleError(_login_needed(self._passwords, terminal))
            line = await terminal.enter_unseen(candidates[self._passwords].password)
            self._passwords += 1
        self.began_anew = True
        await terminal.answered(LOGIN_SECONDS, line=line)


def _login_needed(tried: int, terminal: Terminal) -> str:
    refused = f" {tried} attempt(s) were refused." if tried else ""
    return (
        f"The device asks for a login.{refused}{terminal.tail(2)} A username and password can be set for this node in "
        "the copilot's device settings."
    )
