"""The worker: reads one question from its input, answers it on its output, and ends.

Whatever a capture does to it (endless loops, memory, a crash of the interpreter) ends this process alone.
"""

from __future__ import annotations

import ctypes
import json
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from gns3server_copilot.packets.analysis import answer
from gns3server_copilot.packets.question import Question
from gns3server_copilot.packets.records import CaptureError

#: Address space beyond the memory cap: the interpreter, scapy and what the allocator keeps.
ADDRESS_SPACE = 768 << 20
PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer the question on standard input."""
    _die_with_the_server()
    question = Question.from_json(sys.stdin.buffer.read())
    limit = question.max_memory + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.buffer.write(json.dumps(_answer(question)).encode())


def _answer(question: Question) -> dict[str, Any]:
    try:
        return answer(question)
    except CaptureError as error:
        return {"error": str(error)}
    except FileNotFoundError:
        return {"error": "The capture file is not there."}
    except MemoryError:
        return {"error": f"The analysis needs more than {question.max_memory >> 20} MB of memory."}


def _die_with_the_server() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
