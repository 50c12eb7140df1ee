"""`gns3server-copilot demo`: a throw-away gns3-server with a small lab, and a chat about it."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import textwrap
import time
from collections.abc import Sequence

from gns3server_copilot.commands.chat import run_chat
from gns3server_copilot.commands.server import Server
from gns3server_copilot.commands.terminal import interrupts
from gns3server_copilot.demo.lab import SCRIPTED, Lab, build_lab, exchange_traffic
from gns3server_copilot.demo.server import DemoServer, StartError, run_server
from gns3server_copilot.errors import GNS3Error, UnavailableError

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def main(argv: Sequence[str]) -> int:
    """Run the demo; the exit status is that of the chat, or 128 plus the signal that ended it."""
    return asyncio.run(_run_until_signal(_parse(argv)))


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gns3server-copilot demo",
        description="Start a real gns3-server in a throw-away home with a small lab of scripted devices, and chat "
        "about it. Everything is removed at the end.",
    )
    parser.add_argument(
        "--once", action="append", metavar="QUESTION", help="ask this and leave; may be given several times"
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the server running after the chat, until Ctrl-C or a signal"
    )
    return parser.parse_args(argv)


async def _run_until_signal(options: argparse.Namespace) -> int:
    """Like `_run`, and clean up as well when SIGTERM comes or the terminal is closed."""
    running = asyncio.ensure_future(_run(options))
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        running.cancel()

    for number in _ENDING_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        return await running
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0]


async def _run(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    _say("Starting gns3-server in a throw-away home …")
    try:
        async with run_server() as server:
            lab = await build_lab(server.api, server.home)
            ping = await exchange_traffic(server.api, lab)
            await store_offline_configuration(server.api)
            _introduce(server, ping, time.monotonic() - begun)
            status = await run_chat(
                server.url, server.token, lab.project_id, questions=options.once, resumable=options.keep
            )
            if options.keep:
                await _keep(server, lab)
            _say("Stopping the server and removing its home …")
            return status
    except StartError as error:
        print(error.log, file=sys.stderr)
        raise


async def store_offline_configuration(api: Server) -> None:
    """Give the user the offline model as default. Raises UnavailableError where the server has no copilot."""
    user = await api.get("/access/users/me")
    configuration = {
        "name": "Offline",
        "model_type": "text",
        "provider": "offline",
        "base_url": "",
        "model": "offline",
        "context_limit": 32,
        "copilot_mode": "lab_automation_assistant",
        "is_default": True,
    }
    try:
        await api.post(f"/access/users/{user['user_id']}/llm-model-configs", configuration)
    except GNS3Error as error:
        if error.status in (404, 405):
            raise UnavailableError(
                "The demo's gns3-server came up without the copilot. Run gns3server-copilot doctor to see why."
            ) from error
        raise


def _introduce(server: DemoServer, ping: str, seconds: float) -> None:
    _say(
        f"gns3-server runs at {server.url} (ready in {seconds:.0f} s), with the project copilot-demo:\n"
        "\n"
        "    PC1 ──── R1 ──── R2 ──── PC2      OSPF between the routers, a capture on R1-R2\n"
        "\n"
        f"{textwrap.fill(SCRIPTED, 100)}\n\n"
        "PC1 has just pinged PC2:\n"
        f"{ping}\n"
        "The offline model answers; it understands simple requests only. Try /help, /topology or: what is in my lab?\n"
    )


async def _keep(server: DemoServer, lab: Lab) -> None:
    _say(
        f"\nThe server stays up.\n"
        f"    URL       {server.url}/static/web-ui/server/1/project/{lab.project_id}\n"
        f"    API       {server.url}/v3\n"
        f"    user      {server.user}\n"
        f"    password  {server.password}\n"
        f"Ctrl-C here, or kill {os.getpid()}, stops it and removes everything."
    )
    with interrupts() as pressed:
        await pressed.wait()


def _say(text: str) -> None:
    print(text, flush=True)
