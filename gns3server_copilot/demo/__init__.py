"""The demo: a real gns3-server with a small lab of scripted devices. Only the command line imports this package."""
