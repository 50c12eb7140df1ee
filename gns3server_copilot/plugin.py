"""Everything that the copilot adds to gns3-server, and every point of gns3-server that it changes.

Routes: those of the routers listed in `_routes`.
Lifespan: our start after the host's (its database is then connected), our end before the host's.
Logging: our records and those of the providers' packages lose keys and tokens before they reach the host's handlers.
Error answers: unknown paths and methods below our prefixes answer as our routes do.
Changed functions, each with its own containment (a check that fails turns that point off, not the server):

    Project.close, Project.delete    turns are stopped and the chat database is closed before the folder is touched;
                                     GNS3's notifications come after the fact, and a snapshot's restore sends none
    is_safe_path (both file APIs)    refuses the chat database's folder, for reading and writing
    export_project._is_exportable    leaves that folder out of exports and snapshots
    import_project's ZipFile         drops a folder or link of that name from archives, snapshots included
    Project.duplicate                the copy has no chats: the fast way copies the whole folder
    app.state.exiting (watched)      streams end before uvicorn begins to wait for them
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import os
import shutil
import types
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from weakref import WeakSet

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from gns3server_copilot import __version__
from gns3server_copilot.agent.manager import AgentManager
from gns3server_copilot.agent.server import Server
from gns3server_copilot.api import routing
from gns3server_copilot.errors import UnavailableError
from gns3server_copilot.llm import scrubbing
from gns3server_copilot.settings import Settings, load_settings
from gns3server_copilot.storage.location import DIRECTORY

log = logging.getLogger(__name__)

#: gns3-server versions that the copilot was tried on; newer ones load with a warning.
TRIED_VERSIONS = "3.0."

#: Distributions that are imported at the first chat; looked for at the start so that an absent one is said at once.
NEEDED = (
    "aiosqlite",
    "cryptography",
    "httpx",
    "langchain-core",
    "langchain-openai",
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "tiktoken",
)

EXITING_CHECK_SECONDS = 0.2

_managers: WeakSet[AgentManager] = WeakSet()


def mount(app: FastAPI) -> None:
    """Add the copilot to gns3-server's application. A second call, or a server with its own copilot, changes nothing.

    Raises UnavailableError when a needed package is absent, SettingsError when the [Copilot] section is wrong.
    """
    if getattr(app.state, "copilot_mounted", False):
        return
    scrubbing.install()
    settings = load_settings(_config_files())
    if not settings.enabled:
        log.info("GNS3 Copilot is switched off in gns3_server.conf")
        return
    if any(getattr(route, "path", "").startswith("/v3/copilot") for route in app.routes):
        log.warning("This gns3-server has a copilot of its own; GNS3 Copilot %s leaves it alone", __version__)
        return
    missing = [name for name in NEEDED if not _installed(name)]
    if missing:
        raise UnavailableError(
            f"A needed package is absent. Run this in gns3-server's environment: pip install {' '.join(missing)}"
        )
    host_version = version("gns3-server")
    if not host_version.startswith(TRIED_VERSIONS):
        log.warning("GNS3 Copilot %s was not tried with gns3-server %s", __version__, host_version)
    # what can fail comes first: a half-mounted copilot would stand in the way of the one that says what is wrong
    routes = _routes()
    routing.answer_unknown_paths(app)
    app.router.routes.extend(routes)  # not by include_router, which would build each of them a second time
    app.router.lifespan_context = _lifespan_with_copilot(app, app.router.lifespan_context, settings)
    _change_host()
    app.state.copilot_mounted = True
    log.info("GNS3 Copilot %s is mounted", __version__)


def _installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _config_files() -> list[str]:
    from gns3server.config import Config

    return list(Config.instance().get_config_files())


def _routes() -> list[APIRoute]:
    from gns3server_copilot.api import chat, copilot, group_llm_configs, knowledge, llm_configs, sessions

    chats = _of(chat.router) + _of(sessions.router)
    return [
        *chats,
        *(routing.at_web_ui_prefix(route) for route in chats),
        *_of(llm_configs.router),
        *_of(group_llm_configs.router),
        *_of(copilot.router),
        *_of(knowledge.router),
    ]


def _of(router: APIRouter) -> list[APIRoute]:
    return [route for route in router.routes if isinstance(route, APIRoute)]


# -- start and end


def _lifespan_with_copilot(app: FastAPI, host_lifespan: Callable[[Any], Any], settings: Settings) -> Any:
    @asynccontextmanager
    async def lifespan(started: Any) -> AsyncIterator[Any]:
        async with host_lifespan(started) as state, AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(_running(app, settings))
            except Exception as error:
                app.state.copilot_failure = f"{type(error).__name__}: {error}"
                log.exception("GNS3 Copilot could not be started; its routes say why")
            yield state

    return lifespan


@asynccontextmanager
async def _running(app: FastAPI, settings: Settings) -> AsyncIterator[None]:
    from gns3server.config import Config

    from gns3server_copilot.api.runtime import Runtime
    from gns3server_copilot.knowledge.base import KnowledgeBase
    from gns3server_copilot.llm.keys import KeyRing
    from gns3server_copilot.llm.policies import PolicyStore
    from gns3server_copilot.llm.store import ConfigStore, upgrade
    from gns3server_copilot.llm.usage import UsageStore

    engine = app.state._db_engine
    await upgrade(engine)
    # without a gns3_server.conf gns3-server sets no secrets_dir
    config_dir = Path(Config.instance().config_dir)
    secrets = Config.instance().settings.Server.secrets_dir or config_dir
    configs = ConfigStore(engine, KeyRing(Path(secrets)))
    usage = UsageStore(engine)
    knowledge = KnowledgeBase(config_dir, settings)
    manager = AgentManager(Server(app=app, settings=settings, usage=usage, knowledge=knowledge))
    _managers.add(manager)
    app.state.copilot = Runtime(
        settings=settings,
        configs=configs,
        policies=PolicyStore(engine),
        usage=usage,
        knowledge=knowledge,
        manager=manager,
    )
    helpers = [
        asyncio.create_task(_stop_when_exiting(app, manager)),
        asyncio.create_task(manager.close_idle_projects()),
        asyncio.create_task(knowledge.current()),  # beside the start, so that wrong files are logged at once
    ]
    try:
        yield
    finally:
        for helper in helpers:
            helper.cancel()
        await manager.close()
        _managers.discard(manager)


async def _stop_when_exiting(app: FastAPI, manager: AgentManager) -> None:
    # gns3-server sets the flag in its signal handler and tells nobody, so it has to be looked at
    while not app.state.exiting:  # noqa: ASYNC110
        await asyncio.sleep(EXITING_CHECK_SECONDS)
    manager.stop_turns("The server is stopping.")


# -- changed functions of gns3-server


def _change_host() -> None:
    for change in (
        _close_chats_before_project_close,
        _close_chats_before_project_delete,
        _keep_file_apis_out,
        _leave_chats_out_of_exports,
        _drop_chats_from_imports,
        _remove_chats_from_duplicates,
    ):
        try:
            change()
        except Exception:
            log.exception("GNS3 Copilot: %s failed, so this protection is off", change.__name__)


def _close_chats_before_project_close() -> None:
    from gns3server.controller.project import Project

    Project.close = _with_chats_closed(Project.close, ["self", "ignore_notification"], "The project was closed.")


def _close_chats_before_project_delete() -> None:
    from gns3server.controller.project import Project

    Project.delete = _with_chats_closed(Project.delete, ["self"], "The project was deleted.")


def _with_chats_closed(
    original: Callable[..., Awaitable[Any]], parameters: list[str], reason: str
) -> Callable[..., Awaitable[Any]]:
    if hasattr(original, "copilot_original"):
        return original
    _check_parameters(original, parameters)

    @functools.wraps(original)
    async def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
        async with AsyncExitStack() as stack:
            for manager in list(_managers):
                await stack.enter_async_context(manager.project_closing(self.id, reason))
            return await original(self, *args, **kwargs)

    changed.copilot_original = original  # type: ignore[attr-defined]
    return changed


def _keep_file_apis_out() -> None:
    from gns3server.api.routes.compute import projects as compute_files
    from gns3server.api.routes.controller import projects as controller_files

    modules = [
        module for module in (controller_files, compute_files) if not hasattr(module.is_safe_path, "copilot_original")
    ]
    for module in modules:  # all or none
        _check_parameters(module.is_safe_path, ["file_path", "basedir"])
    for module in modules:
        module.is_safe_path = _without_chats(module.is_safe_path)


def _without_chats(original: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Judge the path as the host has decoded it and as the disk resolves it: `..` and symlinks included."""

    @functools.wraps(original)
    def changed(file_path: str, basedir: str) -> bool:
        chats = Path(basedir) / DIRECTORY
        wanted = (Path(basedir) / file_path).resolve()
        for folder in (chats.absolute(), chats.resolve()):
            if wanted == folder or folder in wanted.parents:
                return False
        return original(file_path, basedir)

    changed.copilot_original = original  # type: ignore[attr-defined]
    return changed


def _leave_chats_out_of_exports() -> None:
    from gns3server.controller import Controller, export_project

    original = export_project._is_exportable
    if hasattr(original, "copilot_original"):
        return
    _check_parameters(original, ["path", "include_snapshots"])

    @functools.wraps(original)
    def changed(path: str, include_snapshots: bool = False) -> bool:
        # by the project's own path: a home directory of that name must not empty an export
        if f"{os.sep}{DIRECTORY}{os.sep}" in path:
            projects = Controller.instance().projects.values()
            if any(path.startswith(os.path.join(project.path, DIRECTORY) + os.sep) for project in projects):
                return False
        exportable: bool = original(path, include_snapshots)
        return exportable

    changed.copilot_original = original  # type: ignore[attr-defined]
    export_project._is_exportable = changed


def _drop_chats_from_imports() -> None:
    from gns3server.controller import import_project

    original = import_project.zipfile_zstd.ZipFile
    if hasattr(original, "copilot_original"):
        return

    class ZipFile(original):  # type: ignore[misc, valid-type]
        """An archive without the chats that somebody has put into it."""

        copilot_original = original

        def infolist(self) -> list[Any]:
            return [info for info in super().infolist() if not _is_in_chats(info.filename)]

        def namelist(self) -> list[str]:
            return [name for name in super().namelist() if not _is_in_chats(name)]

    module = types.SimpleNamespace(**vars(import_project.zipfile_zstd))
    module.ZipFile = ZipFile
    import_project.zipfile_zstd = module


def _is_in_chats(name: str) -> bool:
    # as zipfile makes a path of a name: `..` and empty parts go
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return bool(parts) and parts[0] == DIRECTORY


def _remove_chats_from_duplicates() -> None:
    from gns3server.controller.project import Project

    original = Project.duplicate
    if hasattr(original, "copilot_original"):
        return
    _check_parameters(original, ["self", "name", "reset_mac_addresses"])

    @functools.wraps(original)
    async def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
        copy = await original(self, *args, **kwargs)
        await asyncio.to_thread(_remove, Path(copy.path) / DIRECTORY)
        return copy

    changed.copilot_original = original  # type: ignore[attr-defined]
    Project.duplicate = changed


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _check_parameters(function: Callable[..., Any], expected: list[str]) -> None:
    found = list(inspect.signature(function).parameters)
    if found != expected:
        raise TypeError(f"{function.__qualname__} takes {found}, not {expected}")
