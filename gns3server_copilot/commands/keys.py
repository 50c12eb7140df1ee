"""`gns3server-copilot keys`: looks at and rotates the keys that encrypt stored API keys."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from gns3server_copilot.commands.doctor.host_files import DATABASE_VARIABLE, HostFiles, find_host_files
from gns3server_copilot.errors import UnavailableError
from gns3server_copilot.llm.keys import ENVIRONMENT_VARIABLE, KeyRing

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from gns3server_copilot.llm.rotation import Report

#: As gns3-server itself waits for SQLite's lock.
LOCK_SECONDS = 20


def main(argv: Sequence[str]) -> int:
    """Do what is asked and give 0, or 1 when stored API keys cannot be decrypted or there is nothing to rotate."""
    parser = argparse.ArgumentParser(
        prog="gns3server-copilot keys",
        description="Look at the keys that encrypt stored API keys, or put a new one in their place. Run it with the "
        "Python and as the user that runs gns3server; a running server needs no restart.",
    )
    parser.add_argument("--config", metavar="FILE", type=Path, help="the file that gns3server is started with")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("status", help="say where the keys are and what they encrypt")
    actions.add_parser("rotate", help="encrypt everything with a new key and drop the older ones")
    options = parser.parse_args(argv)
    files = _host_files(options.config)
    return asyncio.run((_rotate if options.action == "rotate" else _status)(files))


async def _status(files: HostFiles) -> int:
    from gns3server_copilot.llm.rotation import report, require_tables

    keys = KeyRing(files.secrets_dir)

    async def look(engine: AsyncEngine) -> Report:
        await require_tables(engine)
        return await report(engine, keys)

    found = keys.status()
    print(f"Keys: {found.keys} in {found.source}.")
    if found.problem:
        print(found.problem)
    counts = await _with_engine(files, look)
    print(f"Stored API keys: {counts.newest} encrypted with the newest key, {counts.older} with an older one.")
    if counts.older or found.keys > 1:
        print("A rotation has begun and not ended. Run: gns3server-copilot keys rotate")
    _print_unreadable(counts)
    return 1 if found.problem or counts.unreadable else 0


async def _rotate(files: HostFiles) -> int:
    from gns3server_copilot.llm.rotation import rotate

    keys = KeyRing(files.secrets_dir)
    counts = await _with_engine(files, lambda engine: rotate(engine, files.secrets_dir, keys))
    print(f"Stored API keys: {counts.newest} are now encrypted with the newest key.")
    _print_unreadable(counts)
    if keys.from_environment:
        print(f"The older keys can now be removed from {ENVIRONMENT_VARIABLE}.")
    else:
        print(f"The older keys are gone from {keys.status().source}. A backup of the database from before needs them.")
    return 1 if counts.unreadable else 0


def _print_unreadable(counts: Report) -> None:
    if counts.unreadable:
        names = ", ".join(counts.unreadable)
        print(f"Cannot be decrypted, so the secrets must be entered again in these configurations and nodes: {names}.")


async def _with_engine(files: HostFiles, action: Callable[[AsyncEngine], Awaitable[Report]]) -> Report:
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.ext.asyncio import create_async_engine

    url = files.database_url
    if url is None:
        if not files.database_file.exists():
            raise UnavailableError(
                f"There is no database {files.database_file}. If the server uses another one, set {DATABASE_VARIABLE} "
                "or name its configuration with --config."
            )
        url = f"sqlite+aiosqlite:///{files.database_file}"
    timeout = {"timeout": LOCK_SECONDS} if url.startswith("sqlite") else {}
    try:
        engine = create_async_engine(url, connect_args=timeout, hide_parameters=True)
        try:
            return await action(engine)
        finally:
            await engine.dispose()
    except SQLAlchemyError as error:
        # only the kind: the text may repeat the address, and with it a password
        raise UnavailableError(f"The database cannot be used ({type(error).__name__}).") from None


def _host_files(config: Path | None) -> HostFiles:
    try:
        installed = version("gns3-server")
    except PackageNotFoundError:
        raise UnavailableError(
            "gns3-server is not installed for this Python. Use the one that runs gns3server."
        ) from None
    return find_host_files(os.environ, home=Path.home(), directory=Path.cwd(), version=installed, config=config)
