"""Where a gns3-server that is started here keeps its configuration, keys and database.

The rules are those of `gns3server.config.Config`, which is not used for this: it makes folders and files.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG_FILE = "gns3_server.conf"
DATABASE_FILE = "gns3_controller.db"
DATABASE_VARIABLE = "GNS3_DATABASE_URI"


@dataclass(frozen=True)
class HostFiles:
    """`config_files` are those that exist, in gns3-server's order; `database_url` is set when a variable names one.

    `unusable_config` is a file that was named but cannot be read: gns3-server would not start with it, and the folders
    mean nothing then.
    """

    config_files: tuple[Path, ...]
    config_dir: Path
    secrets_dir: Path
    database_url: str | None
    unusable_config: Path | None = None

    @property
    def database_file(self) -> Path:
        """The SQLite database that is used without a database URL."""
        return self.config_dir / DATABASE_FILE


def find_host_files(
    environment: Mapping[str, str], *, home: Path, directory: Path, version: str, config: Path | None = None
) -> HostFiles:
    """Give the files of a gns3-server of this version, started in `directory`, maybe with `--config`."""
    user_dir = home / ".config" / "GNS3" / ".".join(version.split(".")[:2])
    candidates = (
        (config.absolute(),)
        if config
        else (
            directory / CONFIG_FILE,
            user_dir / CONFIG_FILE,
            home / ".config" / "GNS3.conf",
            Path("/etc/gns3") / CONFIG_FILE,
            Path("/etc/xdg/GNS3") / CONFIG_FILE,
            Path("/etc/xdg/GNS3.conf"),
        )
    )
    existing = tuple(file for file in candidates if os.path.exists(file))  # no error for a folder that is closed to us
    config_dir = existing[0].parent if existing else candidates[0].parent if config else user_dir
    return HostFiles(
        config_files=existing,
        config_dir=config_dir,
        secrets_dir=_secrets_dir(existing) or config_dir,
        database_url=environment.get(DATABASE_VARIABLE),
        unusable_config=None if config is None or _readable(config) else config,
    )


def _readable(file: Path) -> bool:
    return os.path.isfile(file) and os.access(file, os.R_OK)


def _secrets_dir(config_files: tuple[Path, ...]) -> Path | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(config_files, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return None  # the check of the settings says it
    named = parser.get("Server", "secrets_dir", fallback="")
    return Path(named) if named else None
