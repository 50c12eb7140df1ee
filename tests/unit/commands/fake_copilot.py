"""A small real HTTP server that answers as gns3-server with the copilot does, as far as the commands ask it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

ROOT = Path(__file__).parents[3]
PASSWORD, TOKEN = "pass word", "token-of-the-admin"
PROJECT_ID = "11111111-2222-3333-4444-555555555555"
#: In a script: wait here until the turn is aborted.
UNTIL_ABORT = object()


def event(kind: str, **fields: Any) -> bytes:
    """Give an event as the copilot sends it."""
    return f"data: {json.dumps({'type': kind, 'session_id': 's', **fields}, ensure_ascii=False)}\n\n".encode()


DONE = event("done", usage={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "estimated": False}, title="t")


class FakeCopilot:
    """`scripts` gives the pieces of each question's stream; `asked` are the bodies that came, `aborted` the ids."""

    def __init__(self) -> None:
        self.scripts: dict[str, list[Any]] = {}
        self.asked: list[dict[str, Any]] = []
        self.aborted: list[str] = []
        self.waiting = threading.Event()
        self.projects = [
            {"project_id": PROJECT_ID, "name": "Demo", "status": "opened"},
            {"project_id": "2", "name": "Old lab", "status": "closed"},
        ]
        self.refusal: tuple[int, str] | None = None
        self.status: tuple[int, Any] = (200, {"version": "0.1.0", "providers": ["offline"], "llm_configured": True})
        self.superadmin = True
        self.login_answer: Any = {"access_token": TOKEN, "token_type": "bearer"}
        self._abort = asyncio.Event()
        chat = f"/v3/projects/{PROJECT_ID}/chat"
        self._app = Starlette(
            routes=[
                Route("/v3/version", self._version),
                Route("/v3/access/users/authenticate", self._authenticate, methods=["POST"]),
                Route("/v3/access/users/me", self._me),
                Route("/v3/projects", self._projects),
                Route("/v3/copilot/status", self._status),
                Route(f"{chat}/stream", self._stream, methods=["POST"]),
                Route(f"{chat}/sessions/{{session}}/abort", self._aborting, methods=["POST"]),
            ]
        )
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(self._app, log_level="warning", timeout_graceful_shutdown=1))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def start(self) -> None:
        """Serve in a thread; connections wait in the socket's queue until it does."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._server.should_exit = True
        self._thread.join(10)

    async def _version(self, request: Request) -> Response:
        return JSONResponse({"version": "3.0.6"})

    async def _authenticate(self, request: Request) -> Response:
        if (await request.json())["password"] != PASSWORD:
            return JSONResponse({"message": "Authentication was unsuccessful."}, 401)
        return JSONResponse(self.login_answer)

    async def _me(self, request: Request) -> Response:
        return JSONResponse({"is_superadmin": self.superadmin})

    async def _projects(self, request: Request) -> Response:
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        return JSONResponse(self.projects)

    async def _status(self, request: Request) -> Response:
        return JSONResponse(self.status[1], self.status[0])

    async def _stream(self, request: Request) -> Response:
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        body = await request.json()
        self.asked.append(body)
        if self.refusal:
            return JSONResponse({"message": self.refusal[1]}, self.refusal[0])
        self._abort.clear()
        return StreamingResponse(self._pieces(body["message"]), media_type="text/event-stream")

    async def _pieces(self, question: str) -> Any:
        for piece in self.scripts.get(question, [event("content", content=f"You said {question}"), DONE]):
            if piece is UNTIL_ABORT:
                self.waiting.set()
                await self._abort.wait()
            else:
                yield piece

    async def _aborting(self, request: Request) -> Response:
        self.aborted.append(request.path_params["session"])
        self._abort.set()
        return JSONResponse({"status": "ok", "session_id": request.path_params["session"]})


def command_environment(home: Path, **more: str) -> dict[str, str]:
    """Give the environment of a command that runs from the source tree in a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GNS3_")}
    return kept | {"HOME": str(home), "PYTHONPATH": str(ROOT), **more}


def run_command(
    home: Path, *arguments: str, stdin: str = "", python: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `gns3server-copilot` from the source tree."""
    return subprocess.run(
        [sys.executable, *python, "-m", "gns3server_copilot.cli", *arguments],
        input=stdin,
        env=command_environment(home, **environment),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
