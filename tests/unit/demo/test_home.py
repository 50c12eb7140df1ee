from __future__ import annotations

import configparser
import stat
import subprocess
from pathlib import Path

import pytest

from gns3server_copilot.demo.home import Home
from gns3server_copilot.demo.ports import BLOCK_SIZE, reserve_ports


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "a home with 'odd' characters")
    with reserve_ports() as ports:
        made.furnish(ports, "secret%word")
    return made


@pytest.mark.parametrize(
    ("program", "option", "says"),
    [
        ("qemu", "-version", "version 7.2.9"),
        ("vpcs", "-v", "Welcome to Virtual PC Simulator, version 0.8.3"),
        ("ubridge", "-v", "ubridge version 0.9.19"),
    ],
)
def test_launchers_tell_their_version(home: Home, program: str, option: str, says: str):
    done = subprocess.run([getattr(home, program), option], capture_output=True, text=True, check=True)
    assert says in done.stdout and not done.stderr


def test_qemu_img_stands_beside_qemu(home: Home):
    assert home.qemu.with_name("qemu-img").stat().st_mode & stat.S_IXUSR


def test_configuration_is_private_and_names_the_launchers(home: Home):
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600
    conf = configparser.ConfigParser(interpolation=None)
    conf.read(home.config)
    assert conf["Controller"]["default_admin_password"] == "secret%word"
    assert conf["Server"]["host"] == "127.0.0.1"
    assert conf["Server"]["ubridge_path"] == str(home.ubridge)
    assert conf["VPCS"]["vpcs_path"] == str(home.vpcs)
    assert conf["Copilot"]["topology_tool_everywhere"] == "True"
    first, last = (int(conf["Server"][f"console_{end}_port_range"]) for end in ("start", "end"))
    assert 0 < last - first < BLOCK_SIZE


def test_environment_leads_to_nothing_of_the_person(home: Home, monkeypatch: pytest.MonkeyPatch):
    for name in ("XDG_DATA_HOME", "OPENAI_API_KEY", "https_proxy", "GNS3_COPILOT_ENCRYPTION_KEY"):
        monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("HARMLESS", "kept")
    environment = home.environment()
    assert environment["HOME"] == str(home.path)
    assert environment["HARMLESS"] == "kept"
    assert "/somewhere" not in environment.values()


def test_port_blocks_do_not_overlap():
    with reserve_ports() as one, reserve_ports() as other:
        assert abs(one.start - other.start) >= BLOCK_SIZE
