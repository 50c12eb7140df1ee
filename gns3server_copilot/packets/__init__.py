"""Packet captures: reading them, what is in them, and what is wrong there. Nothing here knows of GNS3."""
