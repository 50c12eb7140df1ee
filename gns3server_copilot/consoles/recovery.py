"""Back to a clean prompt: after a timeout, a question that nobody may answer, or a turn that was stopped."""

from __future__ import annotations

import time

from gns3server_copilot.consoles.states import State
from gns3server_copilot.consoles.terminal import Terminal
from gns3server_copilot.errors import ConsoleError

#: How long a key gets before the next is tried.
KEY_SECONDS = 0.35
#: The whole way back; who has stopped a turn waits for it.
RECOVERY_SECONDS = 1.8


async def interrupted(terminal: Terminal) -> None:
    """End what runs. Raises ConsoleError when no prompt comes back."""
    end = time.monotonic() + RECOVERY_SECONDS
    keys = [*terminal.rules.break_keys, terminal.enter_key] * 2
    for key in keys:
        received = terminal.screen.received
        terminal.press(key)
        seen = await terminal.answered(min(KEY_SECONDS, max(end - time.monotonic(), 0.05)), received=received)
        if seen is not None and seen.is_prompt:
            return
        if seen is not None and seen.state is State.PAGER:
            terminal.press(terminal.rules.quit_pager)
        if time.monotonic() > end:
            break
    raise ConsoleError(f"The console did not come back to a prompt after an interruption.{terminal.tail()}")


async def back_to_prompt(terminal: Terminal, *, leave_config: bool) -> None:
    """Leave the console as the next person wants to find it, within RECOVERY_SECONDS.

    Raises ConsoleError when that did not succeed.
    """
    end = time.monotonic() + RECOVERY_SECONDS
    ours = terminal.busy
    terminal.erase_typed()
    breaks = list(terminal.rules.break_keys) * 3
    while time.monotonic() < end:
        seen = terminal.look()
        received = terminal.screen.received
        if seen.is_prompt and await terminal.still(0.01):
            if seen.state is not State.CONFIG or not leave_config:
                return
            await _leave_configuration(terminal, end)
            leave_config = False
        elif seen.state in (State.LOGIN, State.PASSWORD, State.PRESS_RETURN, State.BOOT_LOADER, State.BOOTING):
            return  # nothing of ours: a session ends there when the device does
        elif not ours:
            return  # what stands there, somebody else has typed or asked for
        elif seen.state is State.PAGER:
            terminal.screen.erase_line()
            terminal.press(terminal.rules.quit_pager)
            await terminal.answered(KEY_SECONDS, received=received)
        elif terminal.screen.received != received:
            continue
        elif breaks:
            terminal.press(breaks.pop(0))
            await terminal.answered(min(KEY_SECONDS, end - time.monotonic()), received=received)
        else:
            break
    raise ConsoleError(f"The console could not be brought back to a prompt.{terminal.tail()}")


async def _leave_configuration(terminal: Terminal, end: float) -> None:
    configuration = terminal.rules.configuration
    for step in (configuration.discard, configuration.leave):
        if step is None:
            continue
        line = await terminal.enter(step.command)
        seen = await terminal.answered(max(end - time.monotonic(), 0.1), line=line, questions=step.answers)
        for _ in range(3):
            if seen is None or seen.is_prompt:
                break
            shown = terminal.screen.line
            answer = next((answer for answer in step.answers if answer.question.search(shown)), None)
            if answer is None:
                return
            received = terminal.screen.received
            terminal.press(answer.answer + (terminal.enter_key if answer.enter else ""))
            left = max(end - time.monotonic(), 0.1)
            seen = await terminal.answered(left, received=received, questions=step.answers)
