"""GNS3 Copilot: an AI copilot for gns3-server."""

# Nothing may be imported here: this file runs in every Python program of the environment (see autoload).
__version__ = "0.1.0"
