"""Make a network interface fill in checksums itself: `checksum_offload.py eth0`.

A veth leaves TCP and UDP checksums to hardware that is not there. Frames that leave it through a raw socket, as a GNS3
cloud node's do, would carry wrong ones, and no BGP session would come up.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x17


def disable(interface: str) -> None:
    """Switch transmit checksum offload off, and with it segmentation offload."""
    value = array.array("B", struct.pack("II", ETHTOOL_STXCSUM, 0))
    address, _ = value.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP", interface.encode(), address))


if __name__ == "__main__":
    disable(sys.argv[1])
