"""The ubridge stand-in: its protocol, and frames that really cross it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.utils import rdpcap

from gns3server_copilot.demo.hypervisor.commands import Hypervisor
from gns3server_copilot.demo.hypervisor.filters import FILTERS, Corrupt, FrequencyDrop, PacketLoss

FRAME = bytes(range(64))


class Tunnel:
    """The far ends of a bridge's two UDP tunnels."""

    def __init__(self, hypervisor: Hypervisor) -> None:
        self.ends = [self._socket(), self._socket()]
        near = [self._free_port(), self._free_port()]
        hypervisor.execute("bridge create B")
        for end, port in zip(self.ends, near, strict=True):
            remote = end.getsockname()[1]
            assert hypervisor.execute(f"bridge add_nio_udp B {port} 127.0.0.1 {remote}").startswith("100-")
            end.connect(("127.0.0.1", port))
        assert hypervisor.execute("bridge start B") == "100-bridge 'B' started"

    @staticmethod
    def _socket() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        made.settimeout(5)
        return made

    @staticmethod
    def _free_port() -> int:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    def cross(self, frame: bytes = FRAME, back: bool = False) -> bytes:
        source, destination = reversed(self.ends) if back else self.ends
        source.send(frame)
        return destination.recv(65535)

    def loses(self) -> bool:
        """Whether a frame does not come through in a while."""
        self.ends[0].send(FRAME)
        self.ends[1].settimeout(0.2)
        try:
            return not self.ends[1].recv(65535)
        except TimeoutError:
            return True
        finally:
            self.ends[1].settimeout(5)


@pytest.fixture
def hypervisor() -> Iterator[Hypervisor]:
    made = Hypervisor()
    yield made
    made.hypervisor_reset()


@pytest.fixture
def tunnel(hypervisor: Hypervisor) -> Iterator[Tunnel]:
    made = Tunnel(hypervisor)
    yield made
    for end in made.ends:
        end.close()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("hypervisor version", "100-0.9.19"),
        ("bridge", "200-At least a module and a command must be specified"),
        ('bridge create "', "200-parse error"),
        ("router create B", "201-Unknown module 'router'"),
        ("bridge fly B", "202-Unknown command 'fly'"),
        ("bridge create", "203-Bad number of parameters (0)"),
        ("bridge start B", "214-bridge 'B' doesn't exist"),
        ("bridge add_nio_udp B 1 2", "203-Bad number of parameters (3)"),
    ],
)
def test_answers_have_the_codes_of_ubridge(hypervisor: Hypervisor, line: str, answer: str):
    assert hypervisor.execute(line) == answer


def test_private_methods_are_no_commands(hypervisor: Hypervisor):
    assert hypervisor.execute("hypervisor __init__").startswith("202-")


def test_bridge_needs_two_nios_and_a_name_of_its_own(hypervisor: Hypervisor):
    hypervisor.execute("bridge create B")
    assert hypervisor.execute("bridge create B") == "206-bridge 'B' already exist"
    assert hypervisor.execute("bridge start B") == "209-bridge 'B' must have 2 NIOs to be started"
    assert hypervisor.execute("bridge stop B") == "210-bridge 'B' is not running"


def test_frames_cross_in_both_directions(tunnel: Tunnel):
    assert tunnel.cross() == FRAME
    assert tunnel.cross(back=True) == FRAME


def test_capture_is_empty_until_the_first_frame_and_then_complete(
    hypervisor: Hypervisor, tunnel: Tunnel, tmp_path: Path
):
    path = tmp_path / "a file.pcap"
    assert hypervisor.execute(f'bridge start_capture B "{path}"').startswith("100-")
    assert path.stat().st_size == 0
    assert hypervisor.execute(f'bridge start_capture B "{path}"').startswith("209-")
    tunnel.cross()
    tunnel.cross(back=True)
    assert [bytes(packet) for packet in rdpcap(str(path))] == [FRAME, FRAME]
    assert hypervisor.execute("bridge stop_capture B").startswith("100-")
    tunnel.cross()
    assert len(rdpcap(str(path))) == 2


def test_filter_drops_before_the_capture_until_it_is_reset(hypervisor: Hypervisor, tunnel: Tunnel, tmp_path: Path):
    hypervisor.execute(f'bridge start_capture B "{tmp_path / "x.pcap"}"')
    hypervisor.execute("bridge add_packet_filter B filter0 frequency_drop -1")
    assert tunnel.loses()
    assert (tmp_path / "x.pcap").stat().st_size == 0
    hypervisor.execute("bridge reset_packet_filters B")
    assert tunnel.cross() == FRAME


def test_filter_that_cannot_be_set_up_stays_in_place(hypervisor: Hypervisor, tunnel: Tunnel):
    assert hypervisor.execute("bridge add_packet_filter B f packet_loss 500") == "206-Failed to add filter 'f'"
    assert hypervisor.execute("bridge add_packet_filter B f delay 10 0") == "206-Failed to add filter 'f'"
    assert tunnel.loses()


def test_delay_holds_frames_back(hypervisor: Hypervisor, tunnel: Tunnel):
    hypervisor.execute("bridge add_packet_filter B f delay 100 0")
    begun = time.monotonic()
    tunnel.cross()
    assert time.monotonic() - begun > 0.09


def test_bpf_drops_what_matches_or_says_that_libpcap_is_missing(
    hypervisor: Hypervisor, tunnel: Tunnel, capfd: pytest.CaptureFixture[str]
):
    answer = hypervisor.execute('bridge add_packet_filter B f bpf "ether proto 0x0c0d"')
    if answer.startswith("206-"):
        assert "libpcap is not installed" in capfd.readouterr().err
        return
    assert tunnel.loses()  # the frame's type is its bytes 12 and 13
    assert tunnel.cross(bytes(64)) == bytes(64)
    assert hypervisor.execute('bridge add_packet_filter B g bpf "no such words"').startswith("206-")
    assert "Cannot compile filter" in capfd.readouterr().err


def test_deleted_bridge_gives_its_ports_back(hypervisor: Hypervisor, tunnel: Tunnel):
    assert hypervisor.execute("bridge delete B") == "100-bridge 'B' deleted"
    Tunnel(hypervisor)


def test_frequency_drop_takes_every_nth_frame():
    every_third = FrequencyDrop()
    assert every_third.set_up(["3"])
    assert [every_third.drops(bytearray(FRAME)) for _ in range(6)] == [False, False, True] * 2


def test_packet_loss_is_about_the_percentage():
    half = PacketLoss()
    assert half.set_up(["50"])
    assert 4000 < sum(half.drops(bytearray(FRAME)) for _ in range(10_000)) < 6200


def test_corruption_changes_the_middle_quarter_only():
    corrupt = Corrupt()
    assert corrupt.set_up(["100"])
    frame = bytearray(FRAME)
    assert not corrupt.drops(frame)
    changed = [i for i in range(len(FRAME)) if frame[i] != FRAME[i]]
    assert changed == list(range(25, 41))


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("frequency_drop", []),
        ("packet_loss", ["101"]),
        ("packet_loss", ["1", "2"]),
        ("delay", ["0"]),
        ("delay", ["5", "-1"]),
        ("corrupt", ["-1"]),
        ("bpf", []),
    ],
)
def test_wrong_filter_arguments_are_refused(kind: str, arguments: list[str]):
    assert not FILTERS[kind]().set_up(arguments)
