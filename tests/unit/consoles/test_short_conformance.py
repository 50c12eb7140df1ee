"""What every other family has to pass, on its scripted device."""

from __future__ import annotations

import asyncio

import pytest

from gns3server_copilot.consoles.configuring import configure
from gns3server_copilot.consoles.families import Families
from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.family import Family
from tests.unit.consoles.bench import SECONDS, bench
from tests.unit.consoles.samples import IN_DEPTH
from tests.unit.consoles.short_samples import SHORT, ShortSample

families = pytest.mark.parametrize("sample", SHORT, ids=[sample.family for sample in SHORT])


def test_every_family_has_a_suite() -> None:
    played = {sample.family for sample in IN_DEPTH} | {sample.family for sample in SHORT}
    assert played == set(packaged_knowledge().of(Family))


@families
async def test_from_power_on_to_a_show_command(sample: ShortSample) -> None:
    async with bench(sample, sample.initial) as there:
        output = await there.run(sample.short[0], username="ann", password=there.device.variables["login_password"])
        assert output.error is None and sample.short[1] in output.text.splitlines(), output


@families
async def test_the_console_alone_tells_the_family(sample: ShortSample) -> None:
    if sample.family in ("huawei_vrpv8", "extreme_exos"):
        pytest.skip("its prompts alone look like others'")
    async with bench(sample, "privileged") as there, there.attached() as session:
        await session.run(sample.short[0], SECONDS)
        screen = session.terminal.screen
        text = "\n".join([*screen.last(20), screen.line])
    found = Families(packaged_knowledge().of(Family)).of_console(text)
    assert found is not None and found.name == sample.family


@families
async def test_a_login_that_is_refused_twice_is_told(sample: ShortSample) -> None:
    async with bench(sample, "login") as there:
        with pytest.raises(ConsoleError, match="login"):
            await there.run(sample.short[0], username="ann", password="wrong")
        assert sample.short[0] not in there.device.lines


@families
async def test_long_output_is_complete_with_and_without_pages(sample: ShortSample) -> None:
    async with bench(sample, "privileged") as there, there.attached() as session:
        whole = (await session.run(sample.long[0], SECONDS)).text
        assert whole.splitlines()[-1] == sample.long[1]
        there.device.variables["page_lines"] = "7"
        assert (await session.run(sample.long[0], SECONDS)).text == whole


@families
async def test_a_wrong_command_is_told(sample: ShortSample) -> None:
    async with bench(sample, "privileged") as there:
        output = await there.run(sample.wrong)
        assert output.error is not None and sample.complaint in output.error


@families
async def test_messages_inside_the_output_are_kept_and_end_nothing(sample: ShortSample) -> None:
    async with bench(sample, "privileged") as there, there.attached() as session:
        running = asyncio.create_task(session.run(sample.endless, 0.4))
        await there.device_has(sample.endless)
        there.device.emit(f"\n{sample.log}\n")
        output = await running
        assert sample.log in output.text and output.timed_out
        assert sample.short[1] in (await session.run(sample.short[0], SECONDS)).text


@families
async def test_lines_are_configured_and_saved(sample: ShortSample) -> None:
    async with bench(sample, "privileged") as there, there.attached() as session:
        done = await configure(session, sample.config, stop_at_error=True, save=True, seconds=SECONDS)
        assert (done.error, done.saved) == (None, True), done
        assert there.device.config == list(sample.config)
        assert done.diff is not None
        assert [line[1:] for line in done.diff.splitlines() if line[0] == "+"][1:] == list(sample.config)
        assert there.device.state == "privileged"


@families
async def test_a_rejected_line_leaves_nothing_uncommitted(sample: ShortSample) -> None:
    async with bench(sample, "privileged") as there, there.attached() as session:
        lines = [*sample.config, sample.wrong]
        done = await configure(session, lines, stop_at_error=True, save=True, seconds=SECONDS)
        assert done.error is not None and sample.complaint in done.error
        assert there.device.config == ([] if sample.candidate else list(sample.config))
        assert (there.device.candidate, there.device.state) == ([], "privileged")
