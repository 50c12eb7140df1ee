"""Telling prompts and questions from boot messages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gns3server_copilot.consoles.waiting_signs import CAREFUL_QUIET, NAMED_QUIET, USUAL_QUIET, Sign, recognise

BOOTING = """\
System Bootstrap, Version 12.4(13r)T11
Self decompressing the image : ################################# [OK]
Smart Init is enabled
Loading "flash:c3725.bin"... #
cisco 3725 (R7000) processor (revision 0.1) with 124928K/6144K bytes of memory.
R7000 CPU at 240MHz, Implementation 39, Rev 2.1, 256KB L2, 512KB L3 Cache
100%
[  OK  ] Started Getty on ttyS0.
[    0.000000] Linux version 6.1.0-57-cloud-amd64 (gcc-12 (Debian 12.2.0-14) 12.2.0) #1 SMP
early console in extract_kernel >
Booting from ROM..
Connected to Dynamips VM "R2" (ID 2, type c7200) - Console port
Press ENTER to get the prompt.
<6>[    1.2] virtio_net
*Mar  1 00:00:03.763: %LINK-5-CHANGED: Interface FastEthernet0/0, changed state to administratively down
R1#show
Hit any key to stop autoboot:  3
""".splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "R1>",
        "R1# ",
        "R1(config-if)#",
        "PC1> ",
        "Web-Server_1> ",
        "VPCS[1]> ",
        "RP/0/RP0/CPU0:ios#",
        "<Huawei>",
        "[admin@MikroTik] > ",
        "[root@localhost ~]# ",
        "root@r1:~# ",
        "vyos@vyos:~$ ",
        "/ # ",
        "root@% ",
        "root@Dell-EX4200:RE:0% ",
        "A:srl1# ",
        "ciscoasa> ",
        "frr# ",
        "a-hostname-of-twenty-five-x#",
    ],
)
def test_prompts_of_many_systems_are_seen(line: str) -> None:
    found = recognise(["booted", line], "other")
    assert found is not None and found.sign is Sign.PROMPT
    assert found.quiet == USUAL_QUIET


@pytest.mark.parametrize(
    "line",
    [
        "frr login: ",
        "Username: ",
        "Password: ",
        "User:",
        "Would you like to enter the initial configuration dialog? [yes/no]: ",
        "Proceed with reload? [confirm]",
        "Continue? (y/n) ",
        "Overwrite the previous configuration? [no]: ",
        "Enter your selection [2]: ",
        " --More-- ",
        "---- More ----",
        "Press any key to continue (Q to quit)",
    ],
)
def test_questions_are_seen(line: str) -> None:
    found = recognise(["", line], "R1")
    assert found is not None and found.sign is Sign.QUESTION


@pytest.mark.parametrize(
    "line", ["rommon 1 > ", "ROMMON1>", "loader> ", "grub> ", "switch: ", "switch(boot)# ", "=> ", "(initramfs) "]
)
def test_a_boot_loader_is_not_taken_for_the_system(line: str) -> None:
    found = recognise([line], "R1")
    assert found is not None and found.sign is Sign.BOOT_LOADER


@pytest.mark.parametrize("line", BOOTING)
def test_boot_messages_are_neither(line: str) -> None:
    assert recognise([line], "R9") is None


def test_the_nodes_own_prompt_is_believed_sooner_and_a_bare_sign_later() -> None:
    quiet = [found.quiet for line in ("R1>", "R2>", "# ") if (found := recognise([line], "R1"))]
    assert quiet == [NAMED_QUIET, USUAL_QUIET, CAREFUL_QUIET]


def test_what_log_lines_have_pushed_up_is_still_seen() -> None:
    log = ["*Mar  1 00:00:07: %LINK-3-UPDOWN: Interface Gi0/0, changed state to up", ""]
    started = recognise(["Press RETURN to get started!", "", "", *log], "R1")
    assert started is not None and (started.sign, started.quiet) == (Sign.QUESTION, USUAL_QUIET)
    prompt = recognise(["R1#", *log], "R1")
    assert prompt is not None and (prompt.sign, prompt.quiet) == (Sign.PROMPT, CAREFUL_QUIET)
    login = recognise(["frr login: [   84.39] random: crng init done", ""], "R1")
    assert login is not None and (login.sign, login.quiet) == (Sign.QUESTION, CAREFUL_QUIET)
    assert recognise(["Router#show log", *log], "R1") is None
    assert recognise([], "R1") is None


#: Recorded boots, with the lines (from 1) at which the device waits for somebody.
RECORDED = {
    "unicon__cat9k_reload_logs.txt": [114],
    "unicon__iol_reload_setup_dialog.txt": [1, 52],
    "unicon__iosxe_stack_reload.txt": [126, 129],
    "unicon__aireos_restart.txt": [177],
    "unicon__nxos_n5k_reload.txt": [],
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_boots_show_signs_where_the_device_waits_and_nowhere_else(name: str) -> None:
    folder = Path(os.environ.get("COPILOT_TEST_DATA", "../shared/data")) / "consoles" / "shared"
    if not folder.is_dir():
        pytest.skip("there are no recordings; COPILOT_TEST_DATA names their folder")
    lines = (folder / name).read_text(errors="replace").splitlines()
    assert [number for number, line in enumerate(lines, 1) if recognise([line], "R1")] == RECORDED[name]
