"""Opening a project's chat database: judged as a file that anybody may have put there, then brought up to date."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from functools import partial

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage import threads
from gns3server_copilot.storage.connection import BUSY_TIMEOUT, pragma_script
from gns3server_copilot.storage.contents import refuse_foreign_contents, refuse_foreign_schema, refuse_foreign_sessions
from gns3server_copilot.storage.failures import DamagedFileError, explain, is_damage
from gns3server_copilot.storage.files import DatabaseFile
from gns3server_copilot.storage.migrations import migrate

log = logging.getLogger(__name__)

#: How long one statement waits for another program's lock while the file is opened, in seconds.
OPENING_TIMEOUT = 3.0
JOURNAL_SIZE_LIMIT = 1024 * 1024
#: The WAL's size, in pages of 4 KB, at which it is written into the file: a turn writes its conversation several times.
CHECKPOINT_PAGES = 500
AUTO_VACUUM_INCREMENTAL = 2

_SETTINGS = (
    # before anything is written: later it would take a VACUUM
    f"auto_vacuum = {AUTO_VACUUM_INCREMENTAL}",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    f"journal_size_limit = {JOURNAL_SIZE_LIMIT}",
    f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
    # deleted chats are overwritten where that costs no extra write
    "secure_delete = FAST",
    # what SQLite's authors advise for files of unknown origin
    "trusted_schema = OFF",
    "cell_size_check = ON",
)


def connect(project: ProjectRef) -> sqlite3.Connection:
    """Give a connection to the project's chat database, made or migrated as needed. Blocks.

    A file that is damaged or holds what we would not have written is set aside, and a new one is begun.
    Raises StorageError when there can be no database at this place now.
    """
    file = DatabaseFile(project)
    for _ in ("the file that is there", "a new one"):
        file.prepare()
        unclean = file.left_unclean()
        connection = _connected(file)
        try:
            _make_ready(connection, project.project_id, unclean=unclean)
            return connection
        except DamagedFileError as reason:
            # before closing, at which SQLite removes what lies beside the file
            with closing(connection):
                file.set_aside(reason)
        except BaseException:
            connection.close()
            raise
    raise StorageError("A new chat database for this project cannot be begun. Check the disk, then try again.")


def _connected(file: DatabaseFile) -> sqlite3.Connection:
    try:
        return sqlite3.connect(file.path, timeout=OPENING_TIMEOUT)
    except sqlite3.Error as error:
        raise explain(error) from error


def _make_ready(connection: sqlite3.Connection, project_id: str, *, unclean: bool) -> None:
    try:
        _set_up(connection)
        if unclean:
            _check(connection)
        _bring_up_to_date(connection, project_id)
        connection.executescript(pragma_script(f"busy_timeout = {BUSY_TIMEOUT}"))
    except sqlite3.Error as error:
        if is_damage(error):
            raise DamagedFileError(str(error)) from error
        raise explain(error) from error


def _set_up(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    # SQLite's own lower() knows ASCII letters only
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    connection.executescript(pragma_script(*_SETTINGS))


def _check(connection: sqlite3.Connection) -> None:
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise DamagedFileError(f"quick_check says {' '.join(result.split())}")


def _bring_up_to_date(connection: sqlite3.Connection, project_id: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    refuse_foreign_schema(connection)
    migrate(connection, project_id)
    # a copied folder: the chats belong to the other project
    connection.execute("DELETE FROM chat_sessions WHERE project_id <> ?", (project_id,))
    refuse_foreign_sessions(connection)
    if _has_checkpoint_tables(connection):
        for statement in (*threads.REMOVE_WITHOUT_SESSION, *threads.PRUNE_ALL):
            connection.execute(statement)
        refuse_foreign_contents(connection)
    connection.commit()
    _shrink(connection)


def _has_checkpoint_tables(connection: sqlite3.Connection) -> bool:
    names = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    present = names.intersection(threads.TABLES)
    if present and present != set(threads.TABLES):
        raise DamagedFileError("it has one of LangGraph's two tables only")
    return bool(present)


def _shrink(connection: sqlite3.Connection) -> None:
    connection.executescript(pragma_script("busy_timeout = 0"))
    try:
        (auto_vacuum,) = connection.execute("PRAGMA auto_vacuum").fetchone()
        if auto_vacuum != AUTO_VACUUM_INCREMENTAL:
            connection.execute(f"PRAGMA auto_vacuum = {AUTO_VACUUM_INCREMENTAL}")
            connection.execute("VACUUM")
        connection.executescript(pragma_script("incremental_vacuum", "wal_checkpoint(TRUNCATE)"))
    except sqlite3.OperationalError as error:  # no room for a VACUUM, or a reader: the chats can be used all the same
        log.info("A chat database was opened without giving back its free space: %s", error)
