"""What the emulators behind nodes can do."""

from __future__ import annotations

#: Nodes that gns3-server plays itself: they run from their creation to their end.
ALWAYS_ON = frozenset({"atm_switch", "cloud", "ethernet_hub", "ethernet_switch", "frame_relay_switch", "nat"})
#: gns3-server answers success for all others, and does nothing.
CAN_SUSPEND = frozenset({"docker", "dynamips", "qemu", "virtualbox", "vmware"})
#: Machines whose host name is their own affair: a new node name does not reach it.
OWN_HOST_NAME = frozenset({"qemu", "virtualbox", "vmware"})
