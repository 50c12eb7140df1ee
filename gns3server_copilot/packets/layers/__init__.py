"""scapy layers of our own, for what scapy lacks or gets wrong."""
