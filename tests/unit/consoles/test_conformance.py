"""What every family proved in depth has to pass, on its scripted device."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from gns3server_copilot.consoles import approach
from gns3server_copilot.consoles.configuring import configure
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.consoles.states import State
from gns3server_copilot.errors import ConsoleError
from tests.devices import load_personality
from tests.devices.personality import Reaction
from tests.devices.personality import State as Played
from tests.ground.console import open_console
from tests.ground.waiting import until
from tests.unit.consoles.bench import SECONDS, Bench, bench
from tests.unit.consoles.samples import IN_DEPTH, Sample

LEAST_ALIKE = ("cisco_ios", "juniper_junos", "huawei_vrp", "linux", "vpcs")
#: A console that takes keys and says nothing.
_QUIET = Played(echo=False, immediate=True, otherwise=Reaction())


def families(having: Callable[[Sample], object] = lambda _: True) -> pytest.MarkDecorator:
    """Run the test for each family for which there is something to test: the default run has those least alike."""
    fitting = [
        pytest.param(sample, id=sample.family, marks=() if sample.family in LEAST_ALIKE else pytest.mark.slow)
        for sample in IN_DEPTH
        if having(sample)
    ]
    return pytest.mark.parametrize("sample", fitting)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up sooner: what is waited for here comes at once or not at all."""
    monkeypatch.setattr(approach, "ENTER_SECONDS", (0.3, 0.3))
    monkeypatch.setattr(approach, "TYPING_SECONDS", 0.4)
    monkeypatch.setattr(approach, "TEXT_QUIET_SECONDS", 0.2)


async def show_works(there: Bench, **credentials: str) -> None:
    """See that a command gives its output and nothing else."""
    command, line = there.sample.short
    output = await there.run(command, **credentials)
    assert output.error is None, output
    assert line in [one.strip() for one in output.text.splitlines()] or line in output.text.splitlines(), output.text
    assert there.device.lines.count(command) == 1


def typed_in(there: Bench, *states: str) -> list[str]:
    """Give what was entered in these states."""
    return [typed.line for typed in there.device.typed if typed.state in states]


# --- attaching in each state


@families()
async def test_a_prompt_that_was_printed_before_is_taken_without_a_key(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        assert session.terminal.look().is_prompt
        assert [typed.line for typed in there.device.typed if not typed.line] == []


@families()
async def test_a_console_that_shows_nothing_is_woken_by_one_enter(sample: Sample) -> None:
    async with bench(sample) as there:
        await there.show_to_somebody_else()
        await show_works(there)
        assert typed_in(there, "privileged").count("") <= 1


@families()
async def test_a_console_that_wants_cr_lf_is_woken_too(sample: Sample) -> None:
    async with bench(sample, enter=("CRLF",)) as there:
        await there.show_to_somebody_else()
        await show_works(there)


@families()
async def test_what_was_printed_before_is_not_part_of_an_answer(sample: Sample) -> None:
    async with bench(sample, greeting="an old line of a boot log with a # and a > in it\n" * 6000) as there:
        output = await there.run(sample.short[0])
        assert "old line" not in output.text


@families(lambda sample: sample.login_state)
async def test_the_credentials_of_the_node_are_used(sample: Sample) -> None:
    async with bench(sample, sample.login_state, login_password="s3cret", after_user="password") as there:
        await show_works(
            there, username="root" if sample.candidate else "ann", password="s3cret", enable_password="secret"
        )


@families(lambda sample: sample.login_state)
async def test_a_wrong_password_is_tried_at_most_twice_and_no_command_is_typed(sample: Sample) -> None:
    async with bench(sample, sample.login_state, login_password="s3cret", after_user="password") as there:
        with pytest.raises(ConsoleError, match="login"):
            await there.run(sample.short[0], username="ann", password="wrong")
        passwords = typed_in(there, "password") + [line for line in typed_in(there, "login") if line == "wrong"]
        assert 1 <= len(passwords) <= 2
        assert sample.short[0] not in there.device.lines


@families(lambda sample: sample.login_state)
async def test_without_credentials_the_answer_says_that_a_login_is_needed(sample: Sample) -> None:
    async with bench(sample, sample.login_state, login_password="s3cret", after_user="password") as there:
        with pytest.raises(ConsoleError, match="asks for a login"):
            await there.run(sample.short[0])
        assert sample.short[0] not in there.device.lines


@families(lambda sample: sample.first_boot)
async def test_the_dialog_of_a_first_start_is_answered(sample: Sample) -> None:
    async with bench(sample, sample.first_boot) as there:
        await show_works(there)


@families(lambda sample: sample.user_state)
async def test_the_user_prompt_is_left_for_the_privileged_one(sample: Sample) -> None:
    async with bench(sample, sample.user_state, enable_state="enable_password") as there:
        await show_works(there, enable_password="secret")
        assert there.device.state == "privileged"


@families(lambda sample: sample.user_state)
async def test_without_the_password_for_more_show_commands_run_as_user(sample: Sample) -> None:
    async with bench(sample, sample.user_state, enable_state="enable_password") as there:
        await show_works(there)
        assert there.device.state == sample.user_state
        assert len([line for line in typed_in(there, "enable_password") if line]) == 0


@families(lambda sample: sample.shell_state)
async def test_a_shell_is_left_for_the_command_line(sample: Sample) -> None:
    async with bench(sample, sample.shell_state) as there:
        await show_works(there)


@families(lambda sample: sample.somebody_configures)
async def test_the_mode_of_somebody_who_configures_is_left_as_it_is(sample: Sample) -> None:
    async with bench(sample, sample.somebody_configures) as there:
        async with there.attached() as session:
            output = await session.run(sample.short[0], SECONDS)
        assert sample.short[1].strip() in output.text
        assert there.device.state == sample.somebody_configures


@families(lambda sample: sample.somebody_configures)
async def test_somebody_who_begins_to_configure_between_two_commands_is_noticed(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session, open_console(there.device.port) as person:
        await session.run(sample.short[0], SECONDS)
        enter = session.rules.configuration.enter
        assert enter is not None
        person.type(enter.command + "\r")
        await until(lambda: _is_at(there, "config"), SECONDS)
        await until_shown(session, enter.command)
        await asyncio.sleep(0.05)
        assert sample.short[1].strip() in (await session.run(sample.short[0], SECONDS)).text
        assert session.found_in_config
    assert there.device.state == "config"


@families(lambda sample: sample.somebody_configures)
async def test_nothing_is_configured_while_somebody_else_does(sample: Sample) -> None:
    async with bench(sample, sample.somebody_configures) as there:
        async with there.attached() as session:
            with pytest.raises(ConsoleError, match="Somebody is configuring"):
                await configure(session, sample.config, stop_at_error=True, save=False, seconds=SECONDS)
        assert there.device.state == sample.somebody_configures
        assert not set(sample.config) & set(there.device.lines)


@families()
async def test_an_open_question_is_told_and_not_answered(sample: Sample) -> None:
    async with bench(sample, sample.question_state) as there:
        with pytest.raises(ConsoleError, match="only a person can answer"):
            await there.run(sample.short[0])
        assert there.device.state == sample.question_state
        assert there.device.typed == []


@families(lambda sample: sample.loader_state)
async def test_nothing_is_typed_into_a_boot_loader(sample: Sample) -> None:
    async with bench(sample, sample.loader_state) as there:
        with pytest.raises(ConsoleError):
            await there.run(sample.short[0])
        assert sample.short[0] not in there.device.lines


@families()
async def test_nothing_is_typed_while_the_machine_starts(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approach, "APPROACH_SECONDS", 0.8)
    async with bench(
        sample, "booting", states={"booting": _QUIET}, greeting="Booting from Hard Disk...\nGRUB loading > #\n"
    ) as there:
        with pytest.raises(ConsoleError, match="not ready"):
            await there.run(sample.short[0])
        assert there.device.typed == []


@families(lambda sample: sample.family not in ("linux", "vpcs", "mikrotik_routeros"))
async def test_a_page_that_somebody_left_is_ended(sample: Sample) -> None:
    async with bench(sample) as there:
        async with open_console(there.device.port) as person:
            person.type(sample.long[0] + "\r")
            await person.read_until(r"(?i)more")
        await show_works(there)


@families()
async def test_a_line_that_somebody_has_begun_is_not_entered(sample: Sample) -> None:
    async with bench(sample) as there:
        async with there.attached() as session, open_console(there.device.port) as person:
            person.type("half a li")
            await until_shown(session, "half a li")
            session.terminal.look()
            session._usual_state = None
            with pytest.raises(ConsoleError, match="busy"):
                await session.run(sample.short[0], SECONDS)
            await session.close()
            assert there.device.typing == "half a li"
        assert there.device.lines == [line for line in there.device.lines if "half" not in line]


@families()
async def test_a_silent_console_is_told(sample: Sample) -> None:
    async with bench(sample, "dead", states={"dead": _QUIET}) as there:
        with pytest.raises(ConsoleError, match="does not answer"):
            await there.run(sample.short[0])


@families()
async def test_a_console_that_closes_in_the_middle_is_told(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        running = asyncio.create_task(session.run(sample.endless[0], SECONDS))
        await until_shown(session, sample.endless[1])
        there.device.disconnect()
        with pytest.raises(ConsoleError, match="closed its connection"):
            await running


# --- commands


@families()
async def test_output_is_what_the_device_printed(sample: Sample) -> None:
    async with bench(sample) as there:
        await show_works(there)


@families()
async def test_long_output_is_complete_without_paging(sample: Sample) -> None:
    async with bench(sample) as there:
        lines = (await there.run(sample.long[0])).text.splitlines()
        assert (lines[0].strip(), lines[-1]) == (sample.long[1], sample.long[2])


@families()
async def test_pages_are_turned_and_leave_nothing_behind(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        whole = (await session.run(sample.long[0], SECONDS)).text
        there.device.variables["page_lines"] = "7"
        paged = (await session.run(sample.long[0], SECONDS)).text
        assert paged == whole


@families()
async def test_commands_give_their_own_output_each(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        first = await session.run(sample.slow, SECONDS)
        second = await session.run(sample.short[0], SECONDS)
        third = await session.run(sample.slow, SECONDS)
    assert first.text == third.text != second.text
    assert sample.short[1].strip() in second.text


@families()
async def test_a_wrong_command_is_told_with_the_devices_words(sample: Sample) -> None:
    wrong = "nonsense now" if sample.family == "vpcs" else "show nonsense"
    async with bench(sample) as there:
        output = await there.run(wrong)
        assert output.error is not None
        assert sample.complaint in output.text


@families()
@pytest.mark.parametrize("wrap", ["CRLF", "SCROLL"])
async def test_the_echo_of_a_long_command_is_no_output(sample: Sample, wrap: str) -> None:
    command = "x" + " long" * 30
    async with bench(sample, columns=40, wrap=wrap) as there:
        output = await there.run(command)
        assert command in there.device.lines
        said = output.text.replace(command, "")
        assert "long long" not in said


@families(lambda sample: sample.log)
async def test_messages_inside_the_output_neither_end_it_nor_are_lost(sample: Sample) -> None:
    prompt = f"{sample.hostname}#"
    async with bench(sample) as there, there.attached() as session:
        running = asyncio.create_task(session.run(sample.slow, SECONDS))
        await there.device_has(sample.slow)
        there.device.emit(f"{sample.log}\n{sample.log} by {prompt}\n")
        output = await running
        clean = await session.run(sample.slow, SECONDS)
    assert output.text.splitlines()[:2] == [sample.log, f"{sample.log} by {prompt}"]
    assert output.text.splitlines()[2:] == clean.text.splitlines()


@families(lambda sample: sample.log)
async def test_a_message_after_the_prompt_does_not_hide_it(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        there.device.emit(f"\n{sample.log}\n")
        await until_shown(session, sample.log)
        await asyncio.sleep(0.05)
        output = await session.run(sample.short[0], SECONDS)
        assert sample.short[1].strip() in output.text
        assert sample.log not in output.text


@families(lambda sample: sample.log)
async def test_a_message_that_comes_with_the_prompt_does_not_hide_it(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        running = asyncio.create_task(session.run(sample.slow, SECONDS))
        await there.device_has(sample.slow)
        await until(lambda: _came_back(there), SECONDS, every=0.001)
        there.device.emit(f"{sample.log}\n")
        output = await running
        assert output.error is None
        again = await session.run(sample.short[0], SECONDS)
        assert sample.short[1].strip() in again.text


@families(lambda sample: sample.log)
async def test_a_message_inside_the_echo_is_survived(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        running = asyncio.create_task(session.run(sample.short[0], SECONDS))
        there.device.emit_log(sample.log)
        output = await running
        assert sample.short[1].strip() in output.text


@families()
async def test_telnet_commands_and_escapes_never_reach_the_text(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        running = asyncio.create_task(session.run(sample.slow, SECONDS))
        await there.device_has(sample.slow)
        for noise in (
            b"\xff\xf1",
            b"\xff",
            b"\xf1",
            b"\xff\xfb\x01\xff\xfb\x03",
            b"\x1b[?2004h\x1b[6n\x1b[0;32m",
            b"\x00",
        ):
            there.device.emit_raw(noise)
            await asyncio.sleep(0.005)
        output = await running
        clean = await session.run(sample.slow, SECONDS)
    assert output.text == clean.text
    assert "\x1b" not in output.text and "\xff" not in output.text


@families()
async def test_a_name_that_a_command_changes_is_learned(sample: Sample) -> None:
    line, prompt = sample.rename
    async with bench(sample) as there, there.attached() as session:
        if sample.somebody_configures:
            await configure(session, [line], stop_at_error=True, save=False, seconds=SECONDS)
        else:
            await session.run(line, SECONDS)
        assert session.terminal.prompt == prompt
        assert (await session.run(sample.slow, SECONDS)).error is None


@families()
async def test_an_endless_command_is_interrupted_and_gives_what_it_printed(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        output = await session.run(sample.endless[0], 0.5)
        assert output.timed_out and output.error is not None
        assert sample.endless[1] in output.text
        assert sample.short[1].strip() in (await session.run(sample.short[0], SECONDS)).text


@families()
async def test_a_question_of_a_command_is_not_answered(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        output = await session.run(sample.asks[0], SECONDS)
        assert output.error is not None and sample.asks[1] in output.error
        assert [line for line in typed_in(there, "confirm") if line not in ("\x03", "\x1e")] == []
        assert sample.short[1].strip() in (await session.run(sample.short[0], SECONDS)).text


@families()
async def test_what_somebody_types_meanwhile_does_not_reach_our_command(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        there.device.type("zz")
        with pytest.raises(ConsoleError, match="busy"):
            await session.run(sample.short[0], SECONDS)
        assert all("zz" not in line for line in there.device.lines)


# --- configuring


@families()
async def test_lines_are_configured_and_the_console_is_back_at_its_prompt(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        done = await configure(session, sample.config, stop_at_error=True, save=False, seconds=SECONDS)
        assert done.error is None, done
        assert [line.line for line in done.lines] == list(sample.config)
        assert there.device.config == list(sample.config)
        assert there.device.state == "privileged"
        if session.rules.running_config is not None:
            assert done.diff is not None
            assert [line[1:] for line in done.diff.splitlines() if line[0] == "+"][1:] == list(sample.config)


@families()
async def test_a_rejected_line_stops_the_rest(sample: Sample) -> None:
    lines = [sample.config[0], sample.wrong_config, *sample.config[1:]]
    async with bench(sample) as there, there.attached() as session:
        done = await configure(session, lines, stop_at_error=True, save=True, seconds=SECONDS)
        assert done.error is not None and "Line 2 of" in done.error
        assert len(done.lines) == 2
        assert there.device.config == ([] if sample.candidate else [sample.config[0]])
        assert there.device.candidate == []
        assert there.device.state == "privileged"
        assert done.saved is False


@families()
async def test_lines_after_a_rejected_one_are_sent_when_wanted(sample: Sample) -> None:
    lines = [sample.wrong_config, *sample.config]
    async with bench(sample) as there, there.attached() as session:
        done = await configure(session, lines, stop_at_error=False, save=False, seconds=SECONDS)
        assert done.error is not None
        assert there.device.config == list(sample.config)


@families(lambda sample: sample.somebody_configures)
async def test_no_line_is_typed_once_somebody_has_left_the_configuration_mode(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        leave = session.rules.configuration.leave
        assert leave is not None

        async def somebody_leaves() -> None:
            if there.device.lines[-1] == sample.config[0]:
                there.device.type(f"{leave.command}\r")
                await there.device_has(leave.command)
                if there.device.state != "privileged":
                    there.device.type("yes\r")

        session.permitted = somebody_leaves
        lines = [sample.config[0], *sample.config[1:], "reload"]
        done = await configure(session, lines, stop_at_error=False, save=True, seconds=SECONDS)
        assert done.error is not None and "left its configuration mode before line 2 of" in done.error, done
        assert [line.line for line in done.lines] == [sample.config[0]]
        assert done.saved is False and not done.committed
        assert "reload" not in there.device.lines
        assert session.terminal.look().is_prompt


@families(lambda sample: sample.family == "cisco_ios")
@pytest.mark.parametrize(
    "after",
    [
        Reaction(go="privileged", output="*Mar  1 00:12:30.123: %SYS-5-CONFIG_I: Configured from console\n"),
        Reaction(go="press_return", output="\nR1 con0 is now available\n\nPress RETURN to get started.\n\n"),
        Reaction(go="login"),
        Reaction(go="user", output="% Connection timed out\n"),
    ],
    ids=["ends", "logs out", "asks for a login", "falls back"],
)
async def test_no_line_is_typed_once_the_device_has_left_the_configuration_mode(
    sample: Sample, after: Reaction
) -> None:
    inside = dataclasses.replace(load_personality("cisco_ios").states["config_if"], otherwise=after)
    async with bench(sample, states={"config_if": inside}) as there, there.attached() as session:
        lines = [*sample.config, "reload"]
        done = await configure(session, lines, stop_at_error=False, save=True, seconds=SECONDS)
        assert done.error is not None
        assert [line.line for line in done.lines] == list(sample.config[:2])
        assert done.saved is False
        assert not {"reload", "no shutdown", "write memory"} & set(there.device.lines)


@families(lambda sample: sample.family == "cisco_ios")
async def test_a_message_that_pushes_the_prompt_of_the_configuration_mode_away_stops_nothing(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:

        async def a_message_comes() -> None:
            there.device.emit(f"\n{sample.log}\n")
            await session.terminal.still(0.05)

        session.permitted = a_message_comes
        done = await configure(session, sample.config, stop_at_error=True, save=False, seconds=SECONDS)
        assert done.error is None, done
        assert there.device.config == list(sample.config)


@families(lambda sample: sample.somebody_configures)
async def test_what_was_sent_is_told_when_the_console_is_lost_half_way(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:

        async def the_node_stops() -> None:
            if there.device.lines[-1] == sample.config[0]:
                there.device.disconnect()

        session.permitted = the_node_stops
        lines = [*sample.config, sample.config[0]]
        done = await configure(session, lines, stop_at_error=True, save=True, seconds=SECONDS)
        assert done.error is not None and "closed its connection" in done.error
        assert [line.error is None for line in done.lines][:1] == [True]
        assert session.lost and not done.saved and not done.committed


@families(lambda sample: sample.family not in ("generic", "linux"))
async def test_the_configuration_is_saved(sample: Sample) -> None:
    async with bench(sample) as there, there.attached() as session:
        done = await configure(session, sample.config, stop_at_error=True, save=True, seconds=SECONDS)
        assert (done.error, done.saved) == (None, True)


@families(lambda sample: sample.candidate)
async def test_a_failed_commit_changes_nothing(sample: Sample) -> None:
    states = {"commit_output": "error: commit failed: (missing mandatory statements)\n"}
    async with bench(sample, **states) as there, there.attached() as session:
        done = await configure(session, sample.config, stop_at_error=True, save=True, seconds=SECONDS)
        assert done.committed is False
        assert done.error is not None and "commit failed" in done.error
        assert there.device.state == "privileged"


@families(lambda sample: sample.candidate)
async def test_uncommitted_changes_of_somebody_else_are_left_alone(sample: Sample) -> None:
    note = "The configuration has been changed but not committed\n"
    async with bench(sample, pending_note=note) as there, there.attached() as session:
        there.device.candidate.append("set system services ssh")
        with pytest.raises(ConsoleError, match="Somebody else has changed"):
            await configure(session, sample.config, stop_at_error=True, save=True, seconds=SECONDS)
        assert there.device.candidate == ["set system services ssh"]
        assert there.device.state == "privileged"


# --- a turn that is stopped


async def stopped(there: Bench, work: Callable[[Session], object], shown: str) -> float:
    """Cancel `work` once this is shown, close the session, and give how long it took to come to a clean prompt."""
    session = there.session()
    await session.attach("127.0.0.1", there.device.port)
    await session.ready()
    running = asyncio.ensure_future(work(session))  # type: ignore[call-overload]
    await until_shown(session, shown)
    begun = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await session.close()
    return time.monotonic() - begun


@families()
async def test_a_stopped_turn_leaves_a_clean_prompt_while_a_command_runs(sample: Sample) -> None:
    async with bench(sample) as there:
        seconds = await stopped(there, lambda session: session.run(sample.endless[0], SECONDS), sample.endless[1])
        assert seconds < 2
        await show_works(there)


@families(lambda sample: sample.somebody_configures)
async def test_a_stopped_turn_leaves_the_configuration_mode(sample: Sample) -> None:
    async with bench(sample) as there:

        async def work(session: Session) -> None:
            enter = session.rules.configuration.enter
            assert enter is not None
            await session.step(enter)
            await session.type(sample.config[0], SECONDS)
            session.terminal.press("half")
            session.terminal._typed = 4
            await asyncio.Event().wait()

        assert await stopped(there, work, "half") < 2
        assert (there.device.state, there.device.candidate) == ("privileged", [])
        assert "half" not in there.device.lines
        await show_works(there)


@families(lambda sample: sample.family not in ("linux", "vpcs", "mikrotik_routeros"))
async def test_a_stopped_turn_leaves_no_page_behind(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(sample) as there:

        async def work(session: Session) -> None:
            there.device.variables["page_lines"] = "7"
            await session.terminal.enter(sample.long[0])
            await asyncio.Event().wait()

        assert await stopped(there, work, r"ore") < 2
        assert there.device.state == "privileged"
        await show_works(there)


async def until_shown(session: Session, text: str) -> None:
    """Wait until the session's screen shows this."""
    screen = session.terminal.screen

    async def shown() -> bool:
        return re.search(re.escape(text), "\n".join([*screen.last(60), screen.line])) is not None

    await until(shown, SECONDS, every=0.002)


async def _is_at(there: Bench, state: str) -> bool:
    return there.device.state == state


async def _came_back(there: Bench) -> bool:
    return there.device.waiting


async def test_a_secret_that_a_new_device_wants_is_for_people_to_choose() -> None:
    async with bench(IN_DEPTH[0], "setup_secret") as there:
        with pytest.raises(ConsoleError, match="Enter enable secret:"):
            await there.run("show clock", enable_password="secret", password="secret", username="ann")
        assert there.device.typed == []


async def test_the_state_of_a_prompt_is_told() -> None:
    async with bench(IN_DEPTH[0]) as there, there.attached() as session:
        assert session.state is State.PRIVILEGED


@families()
async def test_output_that_comes_byte_by_byte_is_the_same(sample: Sample) -> None:
    async with bench(sample) as there:
        whole = [(await there.run(command)).text for command in (sample.short[0], sample.slow)]
        async with dribbling(there.device.port) as port:
            session = there.session()
            await session.attach("127.0.0.1", port)
            try:
                dribbled = [(await session.run(command, SECONDS)).text for command in (sample.short[0], sample.slow)]
            finally:
                await session.close()
    assert dribbled == whole


@asynccontextmanager
async def dribbling(port: int) -> AsyncIterator[int]:
    """Pass a console on, every byte of the device's in a segment of its own."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_device, to_device = await asyncio.open_connection("127.0.0.1", port)

        async def slowly() -> None:
            while data := await from_device.read(4096):
                for byte in data:
                    writer.write(bytes([byte]))
                    await asyncio.sleep(0)
            writer.close()

        passing = asyncio.create_task(slowly())
        while data := await reader.read(4096):
            to_device.write(data)
        to_device.write_eof()
        await passing

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
