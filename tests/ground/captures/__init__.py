"""Packets and captures that tests are made of: written here, with scapy where it knows the protocol.

`build` has what frames and files are made with, `ask` asks about them; the other modules hold one family of protocols
each: the packets, and for each finding a capture that has it and one that has not.
"""
