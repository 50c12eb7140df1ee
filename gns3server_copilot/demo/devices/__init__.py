"""What a scripted device is made of besides its network stack and its command line: console, monitor, wires, life."""
