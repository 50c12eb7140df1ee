"""Gets the copilot into the stock gns3-server. Runs at the start of every Python program of the environment.

`gns3server_copilot.pth` calls `arm()`, which waits for one module, `gns3server.api.server`, and mounts the copilot
on the application when that module has been imported. At the top only what every interpreter has loaded anyway is
imported, so that other programs pay nothing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

TARGET = "gns3server.api.server"
SWITCH = "GNS3_COPILOT"

#: Where the copilot answers; these paths say why when it could not be loaded.
FALLBACK_PATHS = (
    "/v3/copilot",
    "/v3/copilot/{rest:path}",
    "/v3/projects/{project_id}/chat/{rest:path}",
    "/v3/access/users/{user_id}/llm-model-configs",
    "/v3/access/users/{user_id}/llm-model-configs/{rest:path}",
    "/v3/access/groups/{group_id}/llm-model-configs",
    "/v3/access/groups/{group_id}/llm-model-configs/{rest:path}",
    "/v3/access/groups/{group_id}/llm-policy",
)


def arm() -> None:
    """Have the copilot mounted when gns3-server builds its application. May be called any number of times."""
    if switched_off():
        return
    if any(isinstance(finder, ServerFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, ServerFinder())


def switched_off() -> bool:
    """Tell whether the environment variable keeps the copilot out."""
    return os.environ.get(SWITCH, "").strip().lower() in ("0", "false", "no", "off")


class ServerFinder:
    """A meta path finder that answers for the one module and leaves the finding itself to the others."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Give the spec that the other finders give, with a loader that mounts the copilot after loading."""
        if name != TARGET:
            return None
        for finder in sys.meta_path:
            find_spec = getattr(finder, "find_spec", None)
            if find_spec is None or isinstance(finder, ServerFinder):
                continue
            spec: ModuleSpec | None = find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    _mount_after_loading(spec.loader)
                return spec
        return None


def _mount_after_loading(loader: Any) -> None:
    load = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        load(module)
        mount_contained(module)

    loader.exec_module = exec_module


def mount_contained(server: Any) -> None:
    """Mount the copilot on the server module's application; whatever fails, the server goes on."""
    import gc

    # what is imported here stays: a full collection in between looks at all of gns3-server's objects for nothing,
    # and takes as long as the mounting itself
    collecting = gc.isenabled()
    gc.disable()
    try:
        from gns3server_copilot import plugin

        plugin.mount(server.app)
    except Exception as error:  # a syntax error of ours and an absent dependency come here too
        import logging

        # what we raise on purpose says in its message what to do, and a traceback would only hide that
        message = getattr(error, "message", None)
        reason = f"The copilot could not be loaded: {message or f'{type(error).__name__}: {error}'}"
        logging.getLogger(__name__).error(
            "%s (run `gns3server-copilot doctor` to see what to do)", reason, exc_info=None if message else error
        )
        app = getattr(server, "app", None)
        if hasattr(app, "add_route"):
            _answer_with(app, reason)
    finally:
        if collecting:
            gc.enable()


def _answer_with(app: Any, reason: str) -> None:
    """Have our paths say why with status 503."""
    from starlette.responses import JSONResponse

    text = " ".join(reason.replace("{", "(").replace("}", ")").split())[:300]

    async def unavailable(request: Any) -> Any:
        return JSONResponse({"message": text}, status_code=503)

    for path in FALLBACK_PATHS:
        app.add_route(path, unavailable, methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
