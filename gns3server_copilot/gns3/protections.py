"""Changes to gns3-server that keep one kind of folder out of everything that reads, writes or copies a project's files.

Which files those are, `is_kept_out(path, *folders)` says; `folders` are directories of projects that gns3-server may
not know yet. Each function of `PROTECTIONS` makes one change, once, and raises when gns3-server is not as expected.
The list of what is changed, and why, is in `plugin.py`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from gns3server_copilot.gns3.archives import filtered


class IsKeptOut(Protocol):
    """Judges a path."""

    def __call__(self, path: str | Path, *folders: str) -> bool:
        """Tell whether it leads to what is kept out."""


def keep_out_of_file_apis(is_kept_out: IsKeptOut) -> None:
    """Have the file routes of the controller and of the compute refuse such paths, as they have decoded them."""
    from gns3server.api.routes.compute import projects as compute_files
    from gns3server.api.routes.controller import projects as controller_files

    def change(original: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
        def changed(file_path: str, basedir: str) -> bool:
            return not is_kept_out(Path(basedir) / file_path, basedir) and original(file_path, basedir)

        return changed

    for module in (controller_files, compute_files):
        change_once(module, "is_safe_path", ["file_path", "basedir"], change)


def keep_projects_out(is_kept_out: IsKeptOut) -> None:
    """Refuse such a path as a project's directory."""
    from gns3server.controller import project
    from gns3server.controller.controller_error import ControllerForbiddenError

    def change(original: Callable[[str], None]) -> Callable[[str], None]:
        def changed(path: str) -> None:
            if is_kept_out(path):
                raise ControllerForbiddenError(f"The path {path} is not allowed")
            original(path)

        return changed

    change_once(project, "check_path_allowed", ["path"], change)


def keep_captures_out(is_kept_out: IsKeptOut) -> None:
    """Refuse such a path as a capture's file."""
    from gns3server.compute.compute_error import ComputeForbiddenError
    from gns3server.compute.dynamips.nios.nio import NIO as DynamipsNIO
    from gns3server.compute.nios.nio import NIO

    def change(original: Callable[..., Any]) -> Callable[..., Any]:
        def changed(self: Any, pcap_output_file: str, pcap_data_link_type: str = "DLT_EN10MB") -> Any:
            if is_kept_out(pcap_output_file):
                raise ComputeForbiddenError(f"The path {pcap_output_file} is not allowed")
            return original(self, pcap_output_file, pcap_data_link_type)

        return changed

    for nio in (NIO, DynamipsNIO):
        change_once(nio, "start_packet_capture", ["self", "pcap_output_file", "pcap_data_link_type"], change)


def leave_out_of_lists(is_kept_out: IsKeptOut) -> None:
    """Leave such files out of the compute's lists."""
    from gns3server.compute.project import Project

    def change(original: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        def changed(self: Any, path: str) -> Any:
            # gns3-server leaves out what it cannot read; to open the file would also drop SQLite's locks on it
            if is_kept_out(path, self.path):
                raise PermissionError(path)
            return original(self, path)

        return changed

    change_once(Project, "_hash_file", ["self", "path"], change)


def leave_out_of_exports(is_kept_out: IsKeptOut) -> None:
    """Leave such files out of exports and snapshots."""
    from gns3server.controller import export_project

    def change(original: Callable[[str, bool], bool]) -> Callable[[str, bool], bool]:
        def changed(path: str, include_snapshots: bool = False) -> bool:
            return original(path, include_snapshots) and not is_kept_out(path)

        return changed

    change_once(export_project, "_is_exportable", ["path", "include_snapshots"], change)


def leave_out_of_duplicates(is_kept_out: IsKeptOut) -> None:
    """Leave such folders out when a project's directory is copied."""
    from gns3server.controller import project

    original = project.shutil.copytree
    if hasattr(original, "copilot_original"):
        return

    @functools.wraps(original)
    def copytree(src: Any, dst: Any, **options: Any) -> Any:
        def unwanted(folder: str, names: list[str]) -> set[str]:
            return {name for name in names if is_kept_out(Path(folder, name), str(src))}

        return original(src, dst, ignore=unwanted, **options)

    copytree.copilot_original = original  # type: ignore[attr-defined]
    _replace_module(project, "shutil", copytree=copytree)


def drop_from_imports(is_kept_out: IsKeptOut) -> None:
    """Unpack nothing to such paths."""
    from gns3server.controller import import_project

    original = import_project.zipfile_zstd.ZipFile
    if hasattr(original, "copilot_original"):
        return

    _replace_module(import_project, "zipfile_zstd", ZipFile=filtered(original, is_kept_out))


PROTECTIONS = (
    keep_out_of_file_apis,
    keep_projects_out,
    keep_captures_out,
    leave_out_of_lists,
    leave_out_of_exports,
    leave_out_of_duplicates,
    drop_from_imports,
)


def change_once(owner: Any, name: str, parameters: list[str], change: Callable[[Any], Any]) -> None:
    """Have `change` make the function anew, once, if it takes these parameters. Raises TypeError if it does not."""
    original = getattr(owner, name)
    if hasattr(original, "copilot_original"):
        return
    found = list(inspect.signature(original).parameters)
    if found != parameters:
        raise TypeError(f"{original.__qualname__} takes {found}, not {parameters}")
    changed = functools.wraps(original)(change(original))
    changed.copilot_original = original  # type: ignore[attr-defined]
    setattr(owner, name, changed)


def _replace_module(user: Any, name: str, **changes: Any) -> None:
    """Have one module of gns3-server, and nobody else, see another module with changes."""
    setattr(user, name, types.SimpleNamespace(**{**vars(getattr(user, name)), **changes}))
