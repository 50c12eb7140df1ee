"""A session at a device's console, from whatever state it is found in to one in which nobody is disturbed.

    attach → a prompt → run, run, … → close, at a prompt again

Nothing is typed before it is known what the device waits for; questions that its family does not know are never
answered, and configuration mode that was found is left as it was found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gns3server_copilot.consoles.approach import Approach
from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.recovery import back_to_prompt, interrupted
from gns3server_copilot.consoles.screen import without_blank_ends
from gns3server_copilot.consoles.states import State, is_log
from gns3server_copilot.consoles.terminal import Terminal
from gns3server_copilot.consoles.transport import open_transport
from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.knowledge.schemas.family import Answer, ConsoleRules, Family, Step

#: The engine's own commands (no paging, enable) answer at once.
OWN_COMMAND_SECONDS = 10.0
STEP_SECONDS = 60.0
MAX_QUESTIONS = 6
#: Lines at the beginning and the end of a long output among which a device's complaint may be.
COMPLAINT_HEAD, COMPLAINT_TAIL = 60, 20

#: Raises a CopilotError when the user may not use the console (any more); asked before every command.
Permission = Callable[[], Awaitable[None]]
#: Gives the family that a console's text shows, None when it shows none.
Recognise = Callable[[str], Family | None]


@dataclass(frozen=True)
class Output:
    """What a command printed, and why it counts as failed; None when it does not."""

    text: str
    error: str | None = None
    #: whether the device itself said so
    refused: bool = False
    timed_out: bool = False


class Session:
    """An open console. Whoever uses it holds the node's lock; `close` has to be called in every case."""

    def __init__(
        self,
        family: Family,
        credentials: StoredCredentials,
        permitted: Permission,
        recognise: Recognise | None = None,
    ) -> None:
        self.family = family
        self.terminal = Terminal(family.console)
        self.found_in_config = False
        #: set by who has lost it half-way: it is not to be used again
        self.lost = False
        self.address = ("", 0)
        self._credentials = credentials
        self.permitted = permitted
        self._recognise = recognise
        #: the state in which commands have been typed so far; None before the session is prepared
        self._usual_state: State | None = None

    @property
    def rules(self) -> ConsoleRules:
        """The family's rules of the console."""
        return self.family.console

    @property
    def state(self) -> State:
        """What the console shows now."""
        return self.terminal.look().state

    @property
    def closed(self) -> bool:
        """Whether the connection has ended."""
        return self.terminal.transport.closed

    async def attach(self, host: str, port: int) -> None:
        """Connect. Nothing is typed. Raises ConsoleError when nobody listens there."""
        self.terminal.connect(await open_transport(host, port, self.terminal.screen.feed))
        self.address = (host, port)

    async def ready(self) -> None:
        """Bring the console to a prompt at which commands can be typed. Raises ConsoleError that says what it shows."""
        screen = self.terminal.screen
        screen.forget_lines()
        seen = self.terminal.look()
        if seen.is_prompt and seen.state is self._usual_state:
            return
        approach = Approach(self.terminal, self._credentials, self._family_from)
        await approach.to_prompt()
        if self.state is State.USER and self.rules.privileged is not None:
            await approach.to_privileged(self.rules.privileged)
        self.found_in_config = self.state is State.CONFIG
        if self.found_in_config:
            return
        if self._usual_state is None or approach.began_anew:
            for command in self.rules.session:
                line = await self.terminal.enter(command)
                await self.terminal.answered(OWN_COMMAND_SECONDS, line=line)
        self._usual_state = self.state

    async def run(self, command: str, seconds: float) -> Output:
        """Type one command and give what it printed, for at most so long; then it is interrupted.

        Raises ConsoleError when the console cannot be used, and what `permitted` raises.
        """
        await self.ready()
        await self.permitted()
        typed = command
        if self.found_in_config:
            inside = self.rules.configuration.inside
            if inside is None:
                raise ConsoleError(
                    f"Somebody is configuring this device: its console is in configuration mode "
                    f"({self.terminal.prompt}). Leave that mode there, then try again."
                )
            typed = inside.replace("{command}", command)
        output = await self.type(typed, seconds)
        if output.error is None and self.rules.status is not None:
            output = await self._with_status(output, self.rules.status)
        return output

    async def type(self, line: str, seconds: float) -> Output:
        """Type a line at the prompt that stands there, whatever mode it is of; else as `run`."""
        self.terminal.screen.keeping = True
        try:
            return await self._type(line, seconds)
        finally:
            self.terminal.screen.keeping = False

    async def _type(self, line: str, seconds: float) -> Output:
        position = await self.terminal.enter(line)
        seen = await self.terminal.answered(seconds, line=position)
        if seen is not None and seen.is_prompt:
            text = self._text(position)
            refusal = self.refusal(text)
            return Output(text, refusal, refused=refusal is not None)
        if seen is not None:
            asked = self.terminal.screen.line.strip()
            await interrupted(self.terminal)
            return Output(self._text(position), f'The device asked "{asked}", which was not answered but interrupted.')
        await interrupted(self.terminal)
        error = f"It was interrupted after {seconds:g} s; the output is incomplete."
        return Output(self._text(position), error, timed_out=True)

    async def step(self, step: Step, seconds: float = STEP_SECONDS) -> Output:
        """Type a command of the engine's own and answer the questions that the family knows of."""
        position = await self.terminal.enter(step.command)
        seen = await self.terminal.answered(seconds, line=position, questions=step.answers)
        for _ in range(MAX_QUESTIONS):
            if seen is None or seen.is_prompt:
                break
            answer = self._answer(step)
            if answer is None:
                break
            received = self.terminal.screen.received
            self.terminal.press(answer.answer + (self.terminal.enter_key if answer.enter else ""))
            seen = await self.terminal.answered(seconds, received=received, questions=step.answers)
        if seen is None or not seen.is_prompt:
            asked = self.terminal.screen.line.strip()
            await interrupted(self.terminal)
            why = f'{step.command} asked "{asked}"' if asked else f"{step.command} did not end"
            return Output(self._text(position), f"{why} and was interrupted.")
        text = self._text(position)
        refusal = self.refusal(text)
        return Output(text, refusal, refused=refusal is not None)

    def refusal(self, text: str) -> str | None:
        """Give the line by which the device refused what was typed, None when it did not."""
        lines = text.splitlines()
        if len(lines) > COMPLAINT_HEAD + COMPLAINT_TAIL:
            lines = lines[:COMPLAINT_HEAD] + lines[-COMPLAINT_TAIL:]
        for line in lines:
            if any(pattern.search(line) for pattern in self.rules.errors) and not is_log(line):
                return line.strip()
        return None

    async def disconnect(self) -> None:
        """End the connection of a console that is at a prompt, without a key: somebody else may be typing."""
        if self.terminal.is_connected:
            await self.terminal.transport.close()

    async def close(self) -> None:
        """Leave: nothing half-typed, no pager, no mode of ours, no command that runs; then the connection."""
        try:
            if self.terminal.prompt and not self.closed:
                await back_to_prompt(self.terminal, leave_config=not self.found_in_config)
        except ConsoleError:
            pass
        finally:
            await self.disconnect()

    def _answer(self, step: Step) -> Answer | None:
        shown = self.terminal.screen.line
        return next((answer for answer in step.answers if answer.question.search(shown)), None)

    def _text(self, position: int) -> str:
        return "\n".join(without_blank_ends(self.terminal.output(position + 1)))

    async def _with_status(self, output: Output, status: Step) -> Output:
        position = await self.terminal.enter(status.command)
        await self.terminal.answered(OWN_COMMAND_SECONDS, line=position)
        code = self._text(position).strip()
        if code in ("", "0"):
            return output
        return Output(output.text, f"It ended with status {code}.")

    def _family_from(self, text: str) -> ConsoleRules | None:
        """Change to the family that the console shows, if it is to be found out and shows one."""
        if self._recognise is None:
            return None
        family = self._recognise(text)
        if family is None:
            return None
        self._recognise = None
        self.family = family
        return family.console
