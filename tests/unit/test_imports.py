"""Imports point one way, and what loads with the server is light."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "gns3server_copilot"

#: Modules that load with the server or with every tool; folders stand for all that is in them.
LIGHT = (
    "autoload.py",
    "plugin.py",
    "settings.py",
    "errors.py",
    "cli.py",
    "agent/manager.py",
    "api",
    "gns3",
    "knowledge",
    "llm/keys.py",
    "llm/resolve.py",
    "llm/store.py",
    "llm/tables.py",
    "schemas",
    "storage/sessions.py",
    "tools",
    "redaction",
    "utils/__init__.py",
)

#: What only a chat needs. It would slow the server's start by seconds.
HEAVY = ("langchain", "langgraph", "langsmith", "openai", "scapy", "telnetlib3", "tiktoken")

IMPORT_ALL = """
import importlib, json, sys
found = {}
for name in json.load(sys.stdin):
    before = set(sys.modules)
    importlib.import_module(name)
    found[name] = sorted(set(sys.modules) - before)
json.dump(found, sys.stdout)
"""


def python(*arguments: str, stdin: str = "") -> str:
    """Run a fresh interpreter on the source tree and give what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        input=stdin,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "GNS3_COPILOT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def light_modules() -> list[str]:
    """Give the dotted names of the light modules."""
    names = []
    for entry in LIGHT:
        path = PACKAGE / entry
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            parts = file.relative_to(ROOT).with_suffix("").parts
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def test_imports_point_one_way() -> None:
    # in a process of its own: import-linter configures logging for the whole process
    python("-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")


def test_light_modules_import_no_heavy_ones() -> None:
    loaded = json.loads(python("-c", IMPORT_ALL, stdin=json.dumps(light_modules())))
    heavy = {
        name: [module for module in modules if module.startswith(HEAVY)]
        for name, modules in loaded.items()
        if any(module.startswith(HEAVY) for module in modules)
    }
    assert heavy == {}


def test_the_start_of_other_programs_loads_only_the_hook() -> None:
    # -S: no start-up file of this environment may load the hook before we look
    code = (
        "import os, sys; before = set(sys.modules); import gns3server_copilot.autoload as hook; hook.arm();"
        "print(*sorted(set(sys.modules) - before))"
    )
    assert python("-S", "-c", code).split() == ["__future__", "gns3server_copilot", "gns3server_copilot.autoload"]
