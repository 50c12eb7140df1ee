"""Everything that the copilot adds to gns3-server, and every point of gns3-server that it changes.

Routes: those of the routers listed in `_routes`.
Lifespan: our start after the host's (its database is then connected), our end before the host's.
Logging: our records and those of the providers' packages lose keys and tokens before they reach the host's handlers.
Error answers: unknown paths and methods below our prefixes answer as our routes do.
Changed functions, each with its own containment (a check that fails turns that point off, not the server):

    Project.close, Project.delete,   turns are stopped and the chat database is closed before the folder is touched;
    Project.duplicate                GNS3's notifications come after the fact, and a snapshot's restore, which closes
                                     the project and opens it again, sends none
    Project.delete                   afterwards, what was set for the project's devices is forgotten
    is_safe_path (both file APIs)    refuses the chat database's folder, for reading and writing
    controller.project's             refuses a project's path in that folder
    check_path_allowed
    start_packet_capture             refuses a capture's file in that folder, which would be written and then read
    (both NIO classes)
    the compute's _hash_file         leaves that folder out of its lists of files
    export_project._is_exportable    leaves it out of exports and snapshots
    import_project's ZipFile         drops what would be unpacked into it from archives, snapshots included
    copytree of controller.project   leaves it out of duplicates
    app.state.exiting (watched)      streams end before uvicorn begins to wait for them, those of gns3-server's own
                                     notifications included, which would take up to 5 s
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from gns3server_copilot import __version__
from gns3server_copilot.agent.manager import AgentManager
from gns3server_copilot.agent.server import Server
from gns3server_copilot.api import routing
from gns3server_copilot.errors import UnavailableError
from gns3server_copilot.gns3.host import project_folders, wake_notification_streams
from gns3server_copilot.gns3.protections import PROTECTIONS, change_once
from gns3server_copilot.llm import scrubbing
from gns3server_copilot.settings import Settings, load_settings
from gns3server_copilot.storage.location import is_in_chats

if TYPE_CHECKING:
    from gns3server_copilot.knowledge.base import KnowledgeBase

log = logging.getLogger(__name__)

#: gns3-server versions that the copilot was tried on; newer ones load with a warning.
TRIED_VERSIONS = "3.0."

#: Distributions that are imported at the first chat; looked for at the start so that an absent one is said at once.
NEEDED = (
    "cryptography",
    "httpx",
    "langchain-core",
    "langchain-openai",
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "ormsgpack",
    "platformdirs",
    "pydantic",
    "PyYAML",
    "scapy",
    "telnetlib3",
    "tiktoken",
)

EXITING_CHECK_SECONDS = 0.2

#: When gns3-server's start is over, so that reading our files does not slow it.
LOAD_KNOWLEDGE_AFTER_SECONDS = 3.0

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
    from gns3server_copilot.api import (
        audit,
        chat,
        copilot,
        devices,
        group_llm_configs,
        knowledge,
        llm_configs,
        sessions,
    )

    chats = _of(chat.router) + _of(sessions.router) + _of(devices.router)
    return [
        *chats,
        *(routing.at_web_ui_prefix(route) for route in chats),
        *_of(llm_configs.router),
        *_of(group_llm_configs.router),
        *_of(copilot.router),
        *_of(knowledge.router),
        *_of(audit.router),
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
    from gns3server_copilot.consoles.device_settings import DeviceSettings
    from gns3server_copilot.consoles.service import Consoles
    from gns3server_copilot.gns3.host import compute_host
    from gns3server_copilot.gns3.privileges import Privileges
    from gns3server_copilot.knowledge.base import KnowledgeBase
    from gns3server_copilot.llm.audit import AuditLog
    from gns3server_copilot.llm.keys import KeyRing
    from gns3server_copilot.llm.policies import PolicyStore
    from gns3server_copilot.llm.store import ConfigStore, upgrade
    from gns3server_copilot.llm.usage import UsageStore
    from gns3server_copilot.utils.reading import stop_reading

    engine = app.state._db_engine
    await upgrade(engine)
    # without a gns3_server.conf gns3-server sets no secrets_dir
    config_dir = Path(Config.instance().config_dir)
    secrets = Config.instance().settings.Server.secrets_dir or config_dir
    keys = KeyRing(Path(secrets))
    configs = ConfigStore(engine, keys)
    usage = UsageStore(engine)
    knowledge = KnowledgeBase(config_dir, settings)
    consoles = Consoles(DeviceSettings(engine, keys), Privileges(app), compute_host)
    audit = AuditLog(engine, settings.audit_days)
    manager = AgentManager(
        Server(app=app, settings=settings, usage=usage, knowledge=knowledge, audit=audit, consoles=consoles)
    )
    _managers.add(manager)
    app.state.copilot = Runtime(
        settings=settings,
        configs=configs,
        policies=PolicyStore(engine),
        usage=usage,
        knowledge=knowledge,
        consoles=consoles,
        audit=audit,
        manager=manager,
    )
    helpers = [
        asyncio.create_task(_stop_when_exiting(app, manager)),
        asyncio.create_task(manager.close_idle_projects()),
        asyncio.create_task(audit.write()),
        asyncio.create_task(audit.forget_old()),
        asyncio.create_task(_load_early(knowledge)),
    ]
    try:
        yield
    finally:
        for helper in helpers:
            helper.cancel()
        await manager.close()
        await audit.close()
        stop_reading(engine)
        _managers.discard(manager)


async def _stop_when_exiting(app: FastAPI, manager: AgentManager) -> None:
    # gns3-server sets the flag in its signal handler and tells nobody, so it has to be looked at
    while not app.state.exiting:  # noqa: ASYNC110
        await asyncio.sleep(EXITING_CHECK_SECONDS)
    manager.stop_turns("The server is stopping.")
    try:
        while True:  # until the lifespan ends, for which uvicorn waits until the last stream has
            wake_notification_streams()
            await asyncio.sleep(EXITING_CHECK_SECONDS)
    except Exception:
        log.exception("GNS3 Copilot: gns3-server's streams could not be woken, so its stop takes longer")


async def _load_early(knowledge: KnowledgeBase) -> None:
    """Load what the first chat would load otherwise, so that wrong files are in the log soon after the start."""
    await asyncio.sleep(LOAD_KNOWLEDGE_AFTER_SECONDS)
    await knowledge.current()


# -- changed functions of gns3-server


def _change_host() -> None:
    changes: dict[str, Callable[[], None]] = {
        change.__name__: change
        for change in (
            _close_chats_before_project_close,
            _close_chats_before_project_delete,
            _close_chats_before_project_duplicate,
        )
    }
    changes |= {protect.__name__: functools.partial(protect, _is_chats) for protect in PROTECTIONS}
    for name, change in changes.items():
        try:
            change()
        except Exception:
            log.exception("GNS3 Copilot: %s failed, so this protection is off", name)


def _close_chats_before_project_close() -> None:
    from gns3server.controller.project import Project

    change_once(Project, "close", ["self", "ignore_notification"], _with_chats_closed("The project was closed."))


def _close_chats_before_project_delete() -> None:
    from gns3server.controller.project import Project

    def change(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        return _with_chats_closed("The project was deleted.")(_with_devices_forgotten(original))

    change_once(Project, "delete", ["self"], change)


def _with_devices_forgotten(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = await original(self, *args, **kwargs)
        for manager in list(_managers):
            await manager.project_deleted(self.id)
        return done

    return changed


def _close_chats_before_project_duplicate() -> None:
    from gns3server.controller.project import Project

    parameters = ["self", "name", "reset_mac_addresses"]
    change_once(Project, "duplicate", parameters, _with_chats_closed("The project was duplicated."))


def _with_chats_closed(reason: str) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Awaitable[Any]]]:
    def change(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def changed(self: Any, *args: Any, **kwargs: Any) -> Any:
            async with AsyncExitStack() as stack:
                for manager in list(_managers):
                    await stack.enter_async_context(manager.project_closing(self.id, reason))
                return await original(self, *args, **kwargs)

        return changed

    return change


def _is_chats(path: str | Path, *folders: str) -> bool:
    return is_in_chats(path, [*folders, *project_folders()])
