"""Configures a device through its session: in, line by line, commit, out, save, and what has changed.

Whatever ends this half-way, the owner of the session closes it, which discards what is not committed and leaves the
configuration mode.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from gns3server_copilot.consoles.session import Session
from gns3server_copilot.consoles.states import PROMPTS, State
from gns3server_copilot.consoles.terminal import ASKING, ENTER_SECONDS
from gns3server_copilot.errors import ConsoleError, CopilotError
from gns3server_copilot.knowledge.schemas.family import Save, Step

#: Unchanged lines shown around a change.
CONTEXT_LINES = 2


@dataclass(frozen=True)
class SentLine:
    """A line of the configuration; `error` is why the device did not take it."""

    line: str
    output: str = ""
    error: str | None = None


@dataclass
class Configured:
    """What came of a configuration. `error` says in one sentence what went wrong, None when nothing did.

    `diff` is the change of the running configuration as a unified diff, None where the family has no such thing;
    `committed` and `saved` are None where that was not to be done.
    """

    lines: list[SentLine] = field(default_factory=list)
    diff: str | None = None
    committed: bool | None = None
    saved: bool | None = None
    error: str | None = None


async def configure(
    session: Session, lines: Sequence[str], *, stop_at_error: bool, save: bool, seconds: float
) -> Configured:
    """Send the lines. A rejected one is an outcome, not an exception; following ones are then sent only if wanted.

    Raises ConsoleError when the console cannot be used, and what the session's permission raises.
    """
    await session.ready()
    _require_idle(session)
    rules = session.rules.configuration
    done = Configured(
        committed=False if rules.commit is not None else None,
        saved=False if save else None,
    )
    before = await _running_config(session, seconds)
    if rules.enter is not None:
        entered = await session.step(rules.enter)
        if entered.error or session.state is not State.CONFIG:
            said = entered.error or session.terminal.prompt
            raise ConsoleError(f"The device does not enter its configuration mode: {said}")
        if rules.pending is not None and rules.pending.search(entered.text):
            await _leave(session)
            raise ConsoleError(
                "Somebody else has changed this device's configuration and not committed it. Commit or discard that, "
                "then try again."
            )
    mode = session.state
    try:
        await _send(session, lines, done, stop_at_error, seconds, mode)
        await _finish(session, done, stop_at_error, save, mode)
        if before is not None:
            after = await _running_config(session, seconds)
            if after is not None:
                # long configurations take a while to compare
                done.diff = await asyncio.to_thread(_diff, before, after)
    except CopilotError as error:
        if not done.lines:
            raise
        # what has come of the lines so far is worth more than the console
        session.lost = True
        done.error = f"{done.error} {error.message}" if done.error else error.message
    return done


def _require_idle(session: Session) -> None:
    if session.found_in_config:
        raise ConsoleError(
            f"Somebody is configuring this device: its console is in configuration mode ({session.terminal.prompt}). "
            "Leave that mode there, then try again."
        )
    if session.state is State.USER:
        raise ConsoleError(
            f"The console is at a user prompt ({session.terminal.prompt}) and the device wants a password for more. "
            "Set enable_password in the copilot's device settings for this node."
        )


async def _send(
    session: Session, lines: Sequence[str], done: Configured, stop_at_error: bool, seconds: float, mode: State
) -> None:
    for number, line in enumerate(lines, 1):
        await session.permitted()
        if await _has_left(session, mode):
            left = f'The device left its configuration mode before line {number} of {len(lines)} ("{line}"), so that '
            left += f"line and those after it were not sent.{session.terminal.tail(2)}"
            done.error = f"{done.error} {left}" if done.error else left
            return
        try:
            output = await session.type(line, seconds)
        except ConsoleError as error:
            done.lines.append(SentLine(line, error=error.message))
            raise
        done.lines.append(SentLine(line, output.text, output.error))
        if output.error is None:
            continue
        if done.error is None:
            done.error = f'Line {number} of {len(lines)} ("{line}") was rejected: {output.error}'
        if stop_at_error:
            done.error += " The lines after it were not sent." if number < len(lines) else ""
            return


async def _has_left(session: Session, mode: State) -> bool:
    """Tell whether the device is in another mode by now: lines of a configuration would be commands there."""
    terminal = session.terminal
    seen = terminal.look()
    if seen.state not in PROMPTS and seen.state not in ASKING:
        # a message has pushed the prompt away, and nobody knows which one would come now
        received = terminal.screen.received
        terminal.press(terminal.enter_key)
        seen = await terminal.answered(ENTER_SECONDS, received=received) or seen
    return seen.state is not mode


async def _finish(session: Session, done: Configured, stop_at_error: bool, save: bool, mode: State) -> None:
    """Commit or discard, leave, save: what is to be done after the lines."""
    rules = session.rules.configuration
    saving = session.rules.save if save else None
    if rules.commit is not None:
        if await _has_left(session, mode):
            done.error = done.error or "The device left its configuration mode before the lines were committed."
            return
        if done.error is None or not stop_at_error:
            await _commit(session, rules.commit, done)
        if not done.committed and rules.discard is not None:
            await session.step(rules.discard)
            done.error = f"{done.error} Nothing was committed; the changes were discarded."
    elif done.error is not None and stop_at_error and len(done.lines) > 1:
        done.error += " The lines before it are in effect."
    if saving is not None and saving.in_configuration:
        await _save(session, saving, done)
    await _leave(session)
    if saving is not None and not saving.in_configuration:
        await _save(session, saving, done)
    elif save and saving is None:
        done.saved = session.rules.keeps_changes and done.error is None
        if not session.rules.keeps_changes and done.error is None:
            done.error = "The lines are in effect, but devices of this family have no command that saves them."


async def _leave(session: Session) -> None:
    leave = session.rules.configuration.leave
    if leave is None or session.state is not State.CONFIG:
        return
    left = await session.step(leave)
    if session.state is State.CONFIG:
        raise ConsoleError(f"The configuration mode could not be left: {left.error or session.terminal.prompt}")


async def _commit(session: Session, commit: Step, done: Configured) -> None:
    output = await session.step(commit)
    if output.error is None:
        done.committed = True
    else:
        failure = f"The commit failed: {output.error}"
        done.error = f"{done.error} {failure}" if done.error else failure


async def _save(session: Session, save: Save, done: Configured) -> None:
    if done.error is not None:
        return
    output = await session.step(save)
    done.saved = output.error is None
    if output.error:
        done.error = f"The configuration is in effect but was not saved: {output.error}"


async def _running_config(session: Session, seconds: float) -> list[str] | None:
    rules = session.rules.running_config
    if rules is None:
        return None
    output = await session.run(rules.command, seconds)
    if output.error is not None:
        return None
    return [
        line.rstrip()
        for line in output.text.splitlines()
        if not any(pattern.search(line) for pattern in rules.volatile)
    ]


def _diff(before: Sequence[str], after: Sequence[str]) -> str:
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="", n=CONTEXT_LINES)
    return "\n".join(lines)
