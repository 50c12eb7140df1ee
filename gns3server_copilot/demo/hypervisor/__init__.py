"""A stand-in for ubridge 0.9.19: speaks its hypervisor protocol to gns3-server and really moves frames.

It forwards between UDP tunnels, TAP devices and raw interfaces, writes pcap files and applies the five link filters
with ubridge's own semantics. Docker's and IOU's commands are not there. Standard library only; Linux.
"""
