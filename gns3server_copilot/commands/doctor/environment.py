"""Python, gns3-server, and the packages that the copilot needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version

from gns3server_copilot import __version__
from gns3server_copilot.commands.doctor.findings import Finding, good, note, wrong

DISTRIBUTION = "gns3server-copilot"
HOST = "gns3-server"
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
OLDEST_HOST, TRIED_HOST = (3, 0, 6), (3, 0)


def check_python(running: tuple[int, ...] = tuple(sys.version_info[:3])) -> Iterator[Finding]:
    """Compare Python's version with those that the copilot is made for."""
    said = ".".join(map(str, running))
    if running[:2] < OLDEST_PYTHON:
        yield wrong(
            "python", f"Python {said} is too old: the copilot needs {'.'.join(map(str, OLDEST_PYTHON))} or newer."
        )
    elif running[:2] > NEWEST_PYTHON:
        yield note(
            "python", f"Python {said} is newer than the copilot was tried with ({'.'.join(map(str, NEWEST_PYTHON))})."
        )
    else:
        yield good("python", f"Python {said} ({sys.executable}), gns3server-copilot {__version__}.")


def host_version() -> str | None:
    """Give gns3-server's version; None when it is not installed for this Python."""
    try:
        return version(HOST)
    except PackageNotFoundError:
        return None


def check_host(installed: str | None) -> Iterator[Finding]:
    """Compare gns3-server's version with those that the copilot is made for."""
    if installed is None:
        yield wrong(
            "gns3-server", f"gns3-server is not installed for {sys.executable}. The copilot goes into the same Python."
        )
        return
    numbers = tuple(int(part) for part in installed.split(".")[:3] if part.isdecimal())
    if numbers < OLDEST_HOST:
        yield wrong("gns3-server", f"gns3-server {installed} is too old: the copilot needs 3.0.6 or newer.")
    elif numbers[:2] > TRIED_HOST:
        yield note(
            "gns3-server",
            f"gns3-server {installed} is newer than the copilot was tried with (3.0). If it has a copilot of its own, "
            "this one leaves it alone.",
        )
    else:
        yield good("gns3-server", f"gns3-server {installed}.")


def check_packages(name: str = DISTRIBUTION) -> Iterator[Finding]:
    """Compare the installed packages with those that the package says it needs."""
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(line) for line in distribution(name).requires or ()]
    except PackageNotFoundError:
        yield note(
            "packages", f"{name} is not installed with pip for this Python, so what it needs cannot be looked up."
        )
        return
    present = []
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue  # belongs to an extra, or to another system
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            yield wrong("packages", f'The package {requirement.name} is missing. Run: pip install "{requirement}"')
            continue
        if requirement.specifier.contains(found, prereleases=True):
            present.append(f"{requirement.name} {found}")
        else:
            yield wrong("packages", f'{requirement.name} {found} does not fit. Run: pip install "{requirement}"')
    if present:
        yield good("packages", f"Packages: {', '.join(sorted(present))}.")


def check_providers() -> Iterator[Finding]:
    """Tell which model providers can be used, and how to get the others."""
    from gns3server_copilot.llm.providers import PROVIDERS, installed_providers

    yield good("providers", f"Model providers: {', '.join(installed_providers())}.")
    for name, provider in PROVIDERS.items():
        if not provider.installed:
            yield note(
                "providers", f'The provider {name} is not installed. To use it: pip install "{provider.install}"'
            )
