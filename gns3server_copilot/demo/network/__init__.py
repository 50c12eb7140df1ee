"""Frames and the small IPv4 and OSPF stack of the scripted devices. Standard library only."""
