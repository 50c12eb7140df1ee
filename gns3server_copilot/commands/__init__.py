"""The subcommands of `gns3server-copilot`; each has `main(argv)` that gives the exit status."""
