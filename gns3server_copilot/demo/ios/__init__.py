"""The IOS-like router: its state, its command line and the texts of its show commands. No Cisco software is in it."""
