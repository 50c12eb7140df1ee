"""Does the copilot get into a gns3-server of this Python?"""

from __future__ import annotations

import configparser
import json
import os
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from gns3server_copilot import autoload
from gns3server_copilot.commands.doctor.findings import Finding, good, note, wrong
from gns3server_copilot.commands.doctor.host_files import HostFiles

START_UP_FILE = "gns3server_copilot.pth"
PROBE_SECONDS = 120
#: Modules that are not meant to be imported by themselves.
NOT_IMPORTED = ("gns3server_copilot.llm.migrations.env", "gns3server_copilot.llm.migrations.versions")

#: Imports every module in a Python of its own: this one stays usable, and what is half imported does no harm.
PROBE = """
import importlib, json, pkgutil, sys
import gns3server_copilot
from gns3server_copilot.commands.doctor.findings import described
failures = {}
def load(name):
    try:
        importlib.import_module(name)
    except Exception as error:
        failures[name] = described(error)
skipped = tuple(sys.argv[1:])
for module in pkgutil.walk_packages(gns3server_copilot.__path__, "gns3server_copilot.", onerror=load):
    if not module.name.startswith(skipped):
        load(module.name)
print(json.dumps(failures))
"""


def check_settings(files: HostFiles) -> Iterator[Finding]:
    """Read the [Copilot] section, and tell whether it switches the copilot off."""
    from gns3server_copilot.errors import SettingsError
    from gns3server_copilot.settings import SECTION, load_settings

    if files.unusable_config is not None:
        how = "cannot be read" if os.path.exists(files.unusable_config) else "does not exist"
        yield wrong(
            "settings",
            f"The file {files.unusable_config} of --config {how}; gns3server would not start with it. "
            "Keys and database were not looked for.",
        )
        return
    try:
        settings = load_settings(str(file) for file in files.config_files)
    except SettingsError as error:
        yield wrong("settings", f"{error.message.rstrip('.')}. Until it is put right, the copilot answers 503.")
        return
    where = ", ".join(str(file) for file in files.config_files) or "no gns3_server.conf, so all defaults"
    if settings.enabled:
        yield good("settings", f"Settings: {where}.")
    else:
        yield note("settings", f"The copilot is switched off: [Copilot] enabled = false in {where}.")
    for file in files.config_files:
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(file, encoding="utf-8")
        for section in parser.sections():
            if section != SECTION and section.strip().casefold() == SECTION.casefold():
                yield note("settings", f"The section [{section}] in {file} is ignored: its name must be [{SECTION}].")


def check_start_up_file(directories: list[Path] | None = None) -> Iterator[Finding]:
    """Tell whether the start-up file is there and has armed this Python, and why not."""
    found = [file for directory in directories or site_directories() if (file := directory / START_UP_FILE).exists()]
    armed = any(isinstance(finder, autoload.ServerFinder) for finder in sys.meta_path)
    advice = "Install gns3server-copilot with pip into this Python, or start with: gns3server-copilot run"
    if armed:
        where = str(found[0]) if found else "armed otherwise, its file was not found"
        yield good(
            "start-up", f"Start-up file: {where}; gns3server of this Python ({sys.executable}) loads the copilot."
        )
    elif autoload.switched_off():
        switch = os.environ[autoload.SWITCH]
        yield note("start-up", f"The copilot is switched off here: {autoload.SWITCH}={switch} is set.")
    elif sys.flags.no_site:
        yield wrong(
            "start-up", "This Python was started with -S, so it reads no start-up files. Use: gns3server-copilot run"
        )
    elif found:
        yield wrong("start-up", f"The start-up file {found[0]} is there but had no effect. {advice}")
    else:
        yield wrong("start-up", f"The start-up file {START_UP_FILE} is not installed for {sys.executable}. {advice}")


def site_directories() -> list[Path]:
    """Give the folders whose start-up files this Python reads."""
    directories = site.getsitepackages()
    if site.ENABLE_USER_SITE:
        directories.append(site.getusersitepackages())
    return [Path(directory) for directory in directories]


def check_modules() -> Iterator[Finding]:
    """Import every module of the copilot, as a server does sooner or later."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, *NOT_IMPORTED],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PROBE_SECONDS,
        check=False,
        # scapy makes these directories when it is imported, and looking makes no files
        env=os.environ | {"XDG_CONFIG_HOME": os.devnull, "XDG_CACHE_HOME": os.devnull},
    )
    if done.returncode:
        last_line = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        yield wrong("modules", f"The copilot's modules cannot be imported: {last_line}")
        return
    failures: dict[str, str] = json.loads(done.stdout)
    # what imports a broken module fails with the same words; one line for each cause is enough
    causes: dict[str, list[str]] = {}
    for module, reason in failures.items():
        causes.setdefault(reason, []).append(module)
    for reason, modules in causes.items():
        others = f" (and {len(modules) - 1} more)" if len(modules) > 1 else ""
        yield wrong("modules", f"The module {modules[0]}{others} cannot be imported: {reason}.")
    if not failures:
        yield good("modules", "All modules of the copilot can be imported.")
