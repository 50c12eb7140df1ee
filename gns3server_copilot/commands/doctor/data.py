"""What the copilot keeps and what it ships: keys, database tables, prompts, tools, the token table."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from gns3server_copilot.commands.doctor.findings import Finding, good, note, wrong
from gns3server_copilot.commands.doctor.host_files import DATABASE_VARIABLE, HostFiles

if TYPE_CHECKING:
    from gns3server_copilot.llm.keys import KeyRing
    from gns3server_copilot.llm.rotation import Report


def check_keys(files: HostFiles) -> Iterator[Finding]:
    """Look at the keys that encrypt API keys, without ever showing or making one."""
    from gns3server_copilot.llm.keys import KEY_FILE, KeyRing

    status = KeyRing(files.secrets_dir).status()
    file = files.secrets_dir / KEY_FILE
    if status.source == str(file) and file.exists():
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & 0o077:
            yield wrong("keys", f"The encryption key file can be read by others (mode {mode:o}). Run: chmod 600 {file}")
    if status.problem:
        yield wrong("keys", f"{status.problem} (Looked at: {status.source}.)")
    elif status.keys:
        yield good("keys", f"Encryption key: {status.source} ({status.keys} in use).")
    else:
        yield note("keys", f"There is no encryption key yet. It is made when the first API key is stored: {file}.")


def check_stored_keys(files: HostFiles) -> Iterator[Finding]:
    """Try to decrypt every stored API key, showing none."""
    from gns3server_copilot.llm.keys import KeyRing

    if files.database_url is None and not files.database_file.exists():
        return
    try:
        counts = asyncio.run(_stored_keys(_read_only_url(files), KeyRing(files.secrets_dir)))
    except Exception:
        return  # the check of the database says what is wrong with it
    if counts is None:
        return
    if counts.unreadable:
        names = ", ".join(counts.unreadable)
        yield wrong(
            "keys",
            f"The API keys of these configurations cannot be decrypted and must be entered again: {names}. "
            "If the encryption key was lost by mistake, restore it instead.",
        )
    if counts.older:
        yield note(
            "keys", "A rotation of the encryption key has begun and not ended. Run: gns3server-copilot keys rotate"
        )
    if counts.newest and not counts.older and not counts.unreadable:
        yield good("keys", f"Stored API keys: {counts.newest}, all can be decrypted.")


def check_knowledge(files: HostFiles) -> Iterator[Finding]:
    """Load prompts, device families and so on as the server does, an admin's own files included."""
    from gns3server_copilot.errors import SettingsError
    from gns3server_copilot.knowledge.kinds import KIND_NAMES
    from gns3server_copilot.knowledge.loader import admin_directory, load
    from gns3server_copilot.settings import Settings, load_settings

    try:
        settings = load_settings(map(str, files.config_files))
    except SettingsError:
        settings = Settings()  # the check of the settings says what is wrong
    directory = admin_directory(files.config_dir, settings)
    try:
        knowledge = load(directory, settings)
    except OSError as error:
        yield wrong("knowledge", f"The directory {directory} cannot be read: {error.strerror or error}.")
        knowledge = load(None, settings)
    for problem in knowledge.problems:
        yield wrong("knowledge", f"{problem}.")
    counts = ", ".join(f"{len(knowledge.keys(kind))} {kind}" for kind in KIND_NAMES if knowledge.keys(kind))
    own = sum(entry.source != "packaged" for entry in knowledge.entries)
    yield good("knowledge", f"Knowledge: {counts}{f'; {own} of them from {directory}' if own else ''}.")


def check_tools() -> Iterator[Finding]:
    """Make the definition of every tool."""
    from gns3server_copilot.tools.registry import ALL_TOOLS

    names = [tool.definition()["function"]["name"] for tool in ALL_TOOLS]
    yield good("tools", f"Tools: {', '.join(names)}.")


def check_token_table() -> Iterator[Finding]:
    """Read the table that tokens are counted with."""
    import tiktoken  # noqa: F401  # the table is of no use without it

    from gns3server_copilot.llm.tokens import table_status

    problem = table_status()
    yield wrong("tokens", problem) if problem else good("tokens", "The token table is complete.")


def check_database(files: HostFiles) -> Iterator[Finding]:
    """Compare the copilot's tables in gns3-server's database with this version, changing nothing."""
    where = f"the database of {DATABASE_VARIABLE}" if files.database_url else str(files.database_file)
    if files.database_url is None and not files.database_file.exists():
        yield note("database", f"There is no database yet ({where}); gns3-server makes it at its first start.")
        return
    try:
        current, needed = asyncio.run(_revisions(_read_only_url(files)))
    except Exception as error:
        # only the kind: the text may repeat the address, and with it a password
        yield wrong("database", f"{where} cannot be read ({type(error).__name__}).")
        return
    if current == needed:
        yield good("database", f"Database tables: revision {current} in {where}.")
    elif current is None:
        yield note("database", f"{where} has no tables of the copilot yet; they are made at the server's next start.")
    elif current < needed:
        yield note(
            "database", f"The copilot's tables in {where} are of revision {current}; the next start makes it {needed}."
        )
    else:
        yield wrong(
            "database",
            f"The copilot's tables in {where} were made by a newer version ({current}). Install that one again.",
        )


async def _stored_keys(url: str, keys: KeyRing) -> Report | None:
    from sqlalchemy.ext.asyncio import create_async_engine

    from gns3server_copilot.llm.migrations import revisions
    from gns3server_copilot.llm.rotation import report

    engine = create_async_engine(url)
    try:
        current, needed = await revisions(engine)
        return await report(engine, keys) if current == needed else None
    finally:
        await engine.dispose()


async def _revisions(url: str) -> tuple[str | None, str]:
    from sqlalchemy.ext.asyncio import create_async_engine

    from gns3server_copilot.llm.migrations import revisions

    engine = create_async_engine(url)
    try:
        return await revisions(engine)
    finally:
        await engine.dispose()


def _read_only_url(files: HostFiles) -> str:
    if files.database_url is None:
        return _read_only_sqlite(files.database_file)
    from sqlalchemy import make_url

    url = make_url(files.database_url)
    if url.get_backend_name() == "sqlite" and url.database and not url.database.startswith(("file:", ":memory:")):
        return _read_only_sqlite(Path(url.database).absolute())
    return files.database_url


def _read_only_sqlite(file: Path) -> str:
    return f"sqlite+aiosqlite:///file:{quote(str(file))}?mode=ro&uri=true"
