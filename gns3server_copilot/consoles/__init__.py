"""Devices' consoles: telnet, sessions as a state machine over text, families of devices as data, locks, the guard."""
