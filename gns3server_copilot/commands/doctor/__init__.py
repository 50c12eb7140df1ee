"""`gns3server-copilot doctor`: checks an installation and says, in plain sentences, what is wrong and what to do.

    findings.py      what a check finds
    host_files.py    where gns3-server keeps its configuration, keys and database
    startup.py       does the copilot get into the server
    environment.py   Python, gns3-server, packages, providers
    data.py          keys, prompts, tools, token table, database
    running.py       a running server, when one is named
    command.py       the subcommand

Nothing is imported at the top of a module that may be missing or broken: that is what is looked for.
"""

from gns3server_copilot.commands.doctor.command import main

__all__ = ["main"]
