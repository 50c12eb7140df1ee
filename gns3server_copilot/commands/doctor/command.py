"""The subcommand `doctor`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TextIO

from gns3server_copilot.commands.doctor import data, environment, startup
from gns3server_copilot.commands.doctor.findings import Finding, Mark, contained, wrong
from gns3server_copilot.commands.doctor.host_files import HostFiles, find_host_files

#: For the paths below it when gns3-server is not installed.
USUAL_HOST_VERSION = "3.0"


def main(argv: Sequence[str]) -> int:
    """Check, print what is found, and give 0 when nothing is wrong, else 1."""
    parser = argparse.ArgumentParser(
        prog="gns3server-copilot doctor",
        description="Check the copilot's installation and say what is wrong. Run it with the Python that runs "
        "gns3server, and as the same user. Exit status: 0 when all is well, 1 when something is wrong.",
        epilog="With --server the password is asked for, or taken from the environment variable GNS3_COPILOT_PASSWORD.",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--config", metavar="FILE", type=Path, help="the file that gns3server is started with")
    parser.add_argument("--server", metavar="URL", help="ask this running server too")
    parser.add_argument("--user", metavar="NAME", default="admin", help="GNS3 user to log in as (default: admin)")
    parser.add_argument("--ca-file", metavar="FILE", help="certificate that a server with its own one is checked by")
    options = parser.parse_args(argv)
    # a password is asked for before anything is shown
    running = _running(options) if options.server else ()
    host_version = environment.host_version()
    files = find_host_files(
        os.environ,
        home=Path.home(),
        directory=Path.cwd(),
        version=host_version or USUAL_HOST_VERSION,
        config=options.config,
    )
    findings = chain(check_installation(files, host_version), running)
    return _print_json(findings, sys.stdout) if options.json else _print(findings, sys.stdout)


def check_installation(files: HostFiles, host_version: str | None) -> Iterator[Finding]:
    """Yield what the checks of this Python and of the server's files find."""
    yield from environment.check_python()
    yield from environment.check_host(host_version)
    yield from contained("start-up", startup.check_start_up_file)
    yield from contained("settings", lambda: startup.check_settings(files))
    yield from contained("modules", startup.check_modules)
    yield from contained("packages", environment.check_packages)
    yield from contained("providers", environment.check_providers)
    if files.unusable_config is None:  # else they would be looked for in places that were never meant
        yield from contained("keys", lambda: data.check_keys(files))
        yield from contained("database", lambda: data.check_database(files))
        yield from contained("keys", lambda: data.check_stored_keys(files))
    yield from contained("knowledge", lambda: data.check_knowledge(files))
    yield from contained("tools", data.check_tools)
    yield from contained("tokens", data.check_token_table)


def _running(options: argparse.Namespace) -> Iterator[Finding]:
    from gns3server_copilot.commands.password import read_password
    from gns3server_copilot.errors import CopilotError

    try:
        password = read_password(options.user)
    except CopilotError as error:
        return iter([wrong("server", f"The running server was not asked. {error.message}")])

    async def collect() -> list[Finding]:
        from gns3server_copilot.commands.chat import certificates
        from gns3server_copilot.commands.doctor.running import check_running_server

        verify = certificates(options.ca_file)
        return [one async for one in check_running_server(options.server, options.user, password, verify)]

    return contained("server", lambda: iter(asyncio.run(collect())))


def _print(findings: Iterable[Finding], out: TextIO) -> int:
    from gns3server_copilot.commands.terminal import GREEN, RED, Screen

    colours = {Mark.GOOD: GREEN, Mark.WRONG: RED, Mark.NOTE: ""}
    screen = Screen(out)
    mistakes = 0
    for finding in findings:
        mistakes += finding.mark is Mark.WRONG
        screen.line(f"{finding.mark} {finding.text}", colours[finding.mark])
    screen.line("")
    screen.line("All is well." if not mistakes else "Something must be put right: see ✗ above.")
    return 1 if mistakes else 0


def _print_json(findings: Iterable[Finding], out: TextIO) -> int:
    found = list(findings)
    well = all(finding.mark is not Mark.WRONG for finding in found)
    words = {Mark.GOOD: "good", Mark.WRONG: "wrong", Mark.NOTE: "note"}
    listed = [{"check": one.check, "result": words[one.mark], "text": one.text} for one in found]
    print(json.dumps({"ok": well, "findings": listed}, ensure_ascii=False, indent=2), file=out)
    return 0 if well else 1
