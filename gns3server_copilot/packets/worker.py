"""Analyses captures in processes of their own, so that nothing in a capture can hold up or end the server."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any

from gns3server_copilot.errors import ToolError
from gns3server_copilot.packets.question import Question

log = logging.getLogger(__name__)

#: Processes at once; each may take the whole memory cap and a core.
AT_ONCE = 2
#: A worker that keeps its own time needs this much more to start and to write its answer.
GRACE_SECONDS = 5.0
LOGGED = 4000
PACKAGES = Path(__file__).parents[2]


class Analyses:
    """The server's analyses: at most two at once, the others wait."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._places = asyncio.Semaphore(at_once)

    async def answer(self, question: Question) -> dict[str, Any]:
        """Give the worker's answer. Raises ToolError when there is none.

        The worker is killed when the caller is cancelled, or when it exceeds its time.
        """
        async with self._places:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "gns3server_copilot.packets.worker_main",
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=_environment(),
            )
            try:
                async with asyncio.timeout(question.max_seconds + GRACE_SECONDS):
                    output, complaints = await process.communicate(question.to_json())
            except TimeoutError:
                raise ToolError(
                    f"The analysis took longer than {question.max_seconds:g} seconds and was stopped. Ask about one "
                    "protocol, or make a shorter capture."
                ) from None
            finally:
                _kill(process)
            return _read(process, output, complaints)


def _read(process: Process, output: bytes, complaints: bytes) -> dict[str, Any]:
    answer: Any = None
    if process.returncode == 0:
        try:
            answer = json.loads(output)
        except ValueError:
            log.error("A packet analysis has written no answer: %r", output[:LOGGED])
    else:
        said = complaints.decode(errors="replace")[-LOGGED:]
        log.error("A packet analysis ended with status %s: %s", process.returncode, said)
    if not isinstance(answer, dict):
        raise ToolError("The analysis ended without an answer; the server's log says how. The capture is still there.")
    if "error" in answer:
        raise ToolError(str(answer["error"]))
    return answer


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def _environment() -> dict[str, str]:
    """The server's environment, with this very package found first, and without a copilot loaded into the worker."""
    path = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH"))))
    own = {"PYTHONPATH": path, "GNS3_COPILOT": "0", "PYTHONSAFEPATH": "1"}
    # scapy would make directories in the server's home and read settings from there
    return {**os.environ, **own, "XDG_CONFIG_HOME": os.devnull, "XDG_CACHE_HOME": os.devnull}
