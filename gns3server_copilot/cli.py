"""The command `gns3server-copilot`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from gns3server_copilot import __version__
from gns3server_copilot.commands.streams import make_tolerant

#: Each subcommand with the module whose `main(argv)` runs it and what it does. Modules load when they are needed.
COMMANDS = {
    "doctor": ("gns3server_copilot.commands.doctor", "check the installation and say what is wrong"),
    "demo": ("gns3server_copilot.demo.runner", "start a throw-away server with a small lab and chat about it"),
    "chat": ("gns3server_copilot.commands.chat", "chat with the copilot of a running server"),
    "keys": ("gns3server_copilot.commands.keys", "look at or rotate the keys that encrypt stored API keys"),
    "run": ("gns3server_copilot.commands.run", "run gns3-server with the copilot, without the start-up file"),
}
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit status: 0, 1 after a failure, 2 for wrong usage, 130 after Ctrl-C."""
    words = list(sys.argv[1:] if argv is None else argv)
    make_tolerant()
    try:
        try:
            return _run(words)
        finally:
            sys.stdout.flush()  # here, since what fails at Python's own end is shown with a traceback
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # who read our output has left
        _drop_output()
        return 1
    except Exception as error:
        if (sentence := _sentence(error)) is None:
            raise
        with suppress(OSError):
            print(f"gns3server-copilot: {sentence}", file=sys.stderr)
        return 1


def _run(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        status: int = import_module(COMMANDS[words[0]][0]).main(words[1:])
        return status
    parser = _parser()
    parser.parse_args(words)  # leaves for --help, --version and wrong usage
    parser.error("name a command first")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gns3server-copilot",
        description="The AI copilot of gns3-server. The stock gns3server command serves it without any help from here.",
        epilog="gns3server-copilot COMMAND --help tells more.",
    )
    parser.add_argument("--version", action="version", version=f"gns3server-copilot {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (_, does) in COMMANDS.items():
        commands.add_parser(name, help=does)
    return parser


def _sentence(error: Exception) -> str | None:
    """Give the sentence that tells a person what to do; None for what is a bug of ours."""
    if isinstance(error, ModuleNotFoundError):
        return f"The Python package {error.name} is missing. Run: gns3server-copilot doctor"
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        if _output_fails():
            _drop_output()
            return f"The output cannot be written: {reason}."
        return f"{reason}: {error.filename}." if error.filename else f"{reason}."
    # what raises a CopilotError has loaded the module; loading it here would slow every start
    errors = sys.modules.get("gns3server_copilot.errors")
    return str(error) if errors is not None and isinstance(error, errors.CopilotError) else None


def _output_fails() -> bool:
    """Tell whether it was our output that failed: then it fails again."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _drop_output() -> None:
    """Let what is still to be written go nowhere; without this, Python would complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
