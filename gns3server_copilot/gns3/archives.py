"""Project archives that unpack without what must not be unpacked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def filtered(zip_file: Any, is_unwanted: Callable[[str, str], bool]) -> Any:
    """Give a subclass of `zip_file` (zipfile.ZipFile) that has no members with unwanted paths.

    `is_unwanted(path, folder)` judges where a member would be unpacked to, and the folder that the archive is unpacked
    in. The way there may go through links that an earlier archive has left; and links are made by gns3-server itself,
    with names that zipfile has not tidied up.
    """

    class ZipFile(zip_file):  # type: ignore[misc]
        """An archive without its unwanted members."""

        copilot_original = zip_file
        _folder = ""

        def infolist(self) -> list[Any]:
            return [info for info in super().infolist() if not self._is_unwanted(info.filename)]

        def namelist(self) -> list[str]:
            return [name for name in super().namelist() if not self._is_unwanted(name)]

        def extractall(self, path: Any = None, members: Any = None, pwd: bytes | None = None) -> None:
            self._folder = os.fspath(path or os.curdir)
            super().extractall(path, members, pwd)

        def _is_unwanted(self, name: str) -> bool:
            # as zipfile makes a path of a name: `..` and empty parts go
            parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
            tidy, raw = os.path.join(self._folder, *parts), os.path.join(self._folder, name)
            return any(is_unwanted(path, self._folder) for path in {tidy, raw})

    return ZipFile
