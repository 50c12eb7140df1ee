"""What the last lines of a console mean."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gns3server_copilot.consoles.screen import Screen
from gns3server_copilot.consoles.states import PROMPTS, State, begins_as_log, is_log, look
from tests.unit.consoles.bench import family

DATA = Path(os.environ.get("COPILOT_TEST_DATA", "../shared/data")) / "consoles" / "shared"

LINES = [
    ("cisco_ios", "R1>", State.USER),
    ("cisco_ios", "R1#", State.PRIVILEGED),
    ("cisco_ios", "a-router.of_25-characters-x#", State.PRIVILEGED),
    ("cisco_ios", "R1(config)#", State.CONFIG),
    ("cisco_ios", "R1(config-subif)# ", State.CONFIG),
    ("cisco_ios", "R1(config-router-af)#", State.CONFIG),
    ("cisco_ios", "Password: ", State.PASSWORD),
    ("cisco_ios", "Username: ", State.LOGIN),
    ("cisco_ios", " --More-- ", State.PAGER),
    ("cisco_ios", "Proceed with reload? [confirm]", State.QUESTION),
    ("cisco_ios", "Save? [yes/no]: ", State.QUESTION),
    ("cisco_ios", "Enter your selection [2]: ", State.QUESTION),
    ("cisco_ios", "Destination filename [startup-config]? ", State.QUESTION),
    ("cisco_ios", "rommon 1 > ", State.BOOT_LOADER),
    ("cisco_ios", "switch: ", State.BOOT_LOADER),
    ("cisco_ios", "Would you like to enter the initial configuration dialog? [yes/no]: ", State.DIALOG),
    ("cisco_ios", "*Mar  1 00:01:02.003: %SYS-5-CONFIG_I: Configured from console by R1#", State.TEXT),
    ("cisco_ios", "GigabitEthernet0/0 is up", State.TEXT),
    ("arista_eos", "leaf1(s1)#", State.PRIVILEGED),
    ("arista_eos", "leaf1(config-if-Et1)#", State.CONFIG),
    ("arista_eos", "localhost login: ", State.LOGIN),
    ("juniper_junos", "root@vmx1> ", State.PRIVILEGED),
    ("juniper_junos", "root@vmx1# ", State.CONFIG),
    ("juniper_junos", "root@vmx1:~ # ", State.SHELL),
    ("juniper_junos", "root@Dell-EX4200-24T:RE:0% ", State.SHELL),
    ("juniper_junos", "---(more 45%)---", State.PAGER),
    ("huawei_vrp", "<R1>", State.PRIVILEGED),
    ("huawei_vrp", "[R1-GigabitEthernet0/0/1]", State.CONFIG),
    ("huawei_vrp", "  ---- More ----", State.PAGER),
    ("huawei_vrp", "Are you sure to continue?[Y/N]:", State.QUESTION),
    ("huawei_vrpv8", "[*HUAWEI-GE1/0/0]", State.CONFIG),
    ("mikrotik_routeros", "[admin@MikroTik] > ", State.PRIVILEGED),
    ("mikrotik_routeros", "[admin@MikroTik] /ip/address> ", State.PRIVILEGED),
    ("mikrotik_routeros", "-- [Q quit|D dump|down]", State.PAGER),
    ("mikrotik_routeros", "new password> ", State.DIALOG),
    ("frr", "frr(config-if)# ", State.CONFIG),
    ("frr", "root@frr:/# ", State.SHELL),
    ("frr", "/ # ", State.SHELL),
    ("linux", "/ # ", State.PRIVILEGED),
    ("linux", "root@debian:~# ", State.PRIVILEGED),
    ("linux", "ann@debian:/var/log$ ", State.PRIVILEGED),
    ("linux", "[root@box ~]# ", State.PRIVILEGED),
    ("linux", "bash-5.2# ", State.PRIVILEGED),
    ("linux", "localhost:~# ", State.PRIVILEGED),
    ("linux", "(END)", State.PAGER),
    ("vpcs", "Web-Server> ", State.PRIVILEGED),
    ("vpcs", "VPCS[1]> ", State.PRIVILEGED),
    ("cisco_xr", "RP/0/RP0/CPU0:ios(config-if)#", State.CONFIG),
    ("cisco_xr", "Enter root-system username: ", State.QUESTION),
    ("cisco_nxos", "switch(config-if)# ", State.CONFIG),
    ("cisco_asa", "ciscoasa/ctx1# ", State.PRIVILEGED),
    ("vyos", "vyos@vyos:~$ ", State.PRIVILEGED),
    ("vyos", "vyos@vyos# ", State.CONFIG),
    ("extreme_exos", "* X440.12 # ", State.PRIVILEGED),
    ("generic", "box > ", State.PRIVILEGED),
    ("generic", "Continue? ", State.QUESTION),
]


@pytest.mark.parametrize(("name", "line", "state"), LINES, ids=[f"{name}: {line.strip()}" for name, line, _ in LINES])
def test_a_line_tells_its_state(name: str, line: str, state: State) -> None:
    assert look([], line, family(name).console).state is state


def test_a_prompt_with_text_behind_it_is_known_by_the_prompt() -> None:
    seen = look([], "R1#conf t", family("cisco_ios").console, "R1#")
    assert (seen.state, seen.prompt, seen.typed) == (State.PRIVILEGED, "R1#", "conf t")
    assert not seen.is_prompt


def test_a_blank_line_tells_by_what_stands_above_it() -> None:
    rules = family("cisco_ios").console
    assert (
        look(["Press RETURN to get started!", "", "*Mar 1: %LINK-5-CHANGED: x", ""], "", rules).state
        is State.PRESS_RETURN
    )
    assert look(["Press RETURN to get started!", "", "R1>", ""], "", rules).state is State.BLANK
    assert look(["Press RETURN to get started!", "R1#show clock", ""], "", rules, "R1#").state is State.BLANK
    assert look(["Self decompressing the image : #######"], "", rules).state is State.BOOTING


@pytest.mark.parametrize(
    "line",
    [
        "*Mar  1 00:01:02.003: %LINK-3-UPDOWN: Interface Gi0/1, changed state to up",
        "000123: Mar  1 00:01:02.003 UTC: %SYS-5-RESTART: System restarted --",
        "%SYS-5-CONFIG_I: Configured from console by console",
        "RP/0/0/CPU0:Mar  1 00:01:02.003 : ifmgr[227]: %PKT_INFRA-LINK-3-UPDOWN : Interface up",
        "2021 Mar  1 00:01:02 switch %$ VDC-1 %$ %ETHPORT-5-IF_UP: Interface is up",
        "Mar  1 2021 00:12:30-08:00 R1 %%01IFPDT/4/IF_STATE(l)[0]:Interface has turned into UP state.",
        "[   30.123456] e1000 0000:00:03.0 eth0: link up",
        "2021/03/01 00:12:30 ZEBRA: [EC 4043309122] interface eth1 is up",
    ],
)
def test_messages_of_devices_are_known(line: str) -> None:
    assert is_log(line)


@pytest.mark.parametrize(
    "line",
    ["R1#show log", "GigabitEthernet0/1 is up", "% Invalid input detected at '^' marker.", "%Error opening tftp"],
)
def test_other_lines_are_no_messages(line: str) -> None:
    assert not is_log(line)
    assert not begins_as_log(line)


def real_texts(*kinds: str) -> Iterator[pytest.ParameterSet]:
    index = DATA.parent / "INDEX.tsv"
    if not index.exists():
        yield pytest.param(None, "", marks=pytest.mark.skip(reason=f"there is no {index}: COPILOT_TEST_DATA"))
        return
    names = {"cisco_iosxe": "cisco_xe", "vyatta_vyos": "vyos", "hp_comware": "h3c_comware"}
    for row in index.read_text(encoding="utf-8").splitlines()[1:]:
        file, system, kind = row.split("\t")[:3]
        system = names.get(system.split("+")[0], system.split("+")[0])
        if any(kind.startswith(wanted) for wanted in kinds) and system not in ("cisco_wlc", "hp_procurve", "fortinet"):
            yield pytest.param(DATA.parent / file, system, id=Path(file).stem)


@pytest.mark.parametrize(("path", "system"), list(real_texts("show-output", "error-marker")))
def test_no_line_of_real_output_is_taken_for_the_end(path: Path, system: str) -> None:
    rules = family(system).console
    screen = Screen()
    wrong = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if look(screen.last(40), line, rules, "a-known-prompt#").state not in (State.TEXT, State.BLANK, State.BOOTING):
            wrong.append(line)
        screen.feed(line + "\n")
    assert wrong == []


@pytest.mark.parametrize(("path", "system"), list(real_texts("boot-log")))
def test_nothing_is_typed_into_a_real_boot(path: Path, system: str) -> None:
    """Between two lines of a boot log no prompt is seen before there is one."""
    rules = family(system).console
    screen = Screen()
    prompts = set()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        seen = look(screen.last(40), line, rules)
        if seen.state in PROMPTS:
            prompts.add(seen.prompt)
        screen.feed(line + "\n")
    # a device has one name; what else ends in # or > is a progress bar
    assert all(len(prompt) < 40 and not prompt.startswith("#") for prompt in prompts), prompts
