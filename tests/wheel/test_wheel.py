"""The package as users get it: built, installed beside gns3-server in a clean environment, started and removed.

Run by the tox environment `wheel`. Everything here shares one environment, so each test installs what it needs.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.stock_server import StockServer, clean_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = "gns3server_copilot"
START_UP_FILE = "gns3server_copilot.pth"
#: A route of the copilot; it asks for a token, so the status tells who answered.
ROUTE = "/v3/copilot/status"


@dataclass
class Built:
    """The two archives of one build."""

    sdist: Path
    wheel: Path


@dataclass
class Environment:
    """A virtual environment with gns3-server, and a home for its servers."""

    folder: Path
    home: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    def pip(self, *arguments: str | Path) -> str:
        """Run pip there and give what it printed."""
        return self.run("-m", "pip", "--disable-pip-version-check", *arguments)

    def run(self, *arguments: str | Path) -> str:
        """Run its Python away from the source tree and give what it printed."""
        done = subprocess.run(
            [self.programs / "python", *arguments],
            cwd=self.folder,
            env=clean_environment(Path.home()),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def traces(self) -> list[str]:
        """Give every file of the environment that has the copilot in its name."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*copilot*"))

    def answer(self, path: str) -> tuple[int, Any]:
        """Start the stock server, give its answer to a GET, and stop it."""
        with StockServer(self.programs, self.home) as server:
            return server.get(path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True)
    return Built(next(folder.glob("*.tar.gz")), next(folder.glob("*.whl")))


@pytest.fixture(scope="module")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A clean environment into which the wheel was installed once, so that its dependencies are there."""
    folder = tmp_path_factory.mktemp("clean") / "an environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    made = Environment(folder, tmp_path_factory.mktemp("home"))
    made.pip("install", built.wheel)
    return made


@pytest.fixture
def installed(built: Built, environment: Environment) -> Iterator[Environment]:
    """The environment with the wheel freshly installed; removed afterwards, whatever a test did to its files."""
    environment.pip("install", "--force-reinstall", "--no-deps", built.wheel)
    yield environment
    environment.pip("uninstall", "--yes", "gns3server-copilot")


def package_files(root: Path) -> set[str]:
    """Give all files of the package in the source tree, code and data."""
    return {
        str(path.relative_to(root))
        for path in (root / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_every_file_of_the_package_and_the_start_up_file(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == package_files(ROOT) | {START_UP_FILE}


def test_the_wheel_holds_licence_and_notice(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist() if ".dist-info/licenses/" in name}
    assert names == {"LICENSE", "NOTICE"}


def test_executables_of_the_package_stay_executable(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        modes = {info.filename: (info.external_attr >> 16) & 0o111 for info in archive.infolist()}
    executables = [name for name in package_files(ROOT) if (ROOT / name).stat().st_mode & 0o100]
    assert [name for name in executables if not modes[name]] == []


def test_the_sdist_holds_what_the_readme_and_the_tests_need(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = "run tox.ini ruff.toml _editable.py README.md CHANGELOG.md docs/index.md tests/conftest.py .ci/run"
    assert set(needed.split()) - names == set()


def test_the_environment_stays_consistent(installed: Environment) -> None:
    assert installed.pip("check").strip() == "No broken requirements found."


def test_the_stock_server_serves_the_copilot(installed: Environment) -> None:
    status, body = installed.answer(ROUTE)
    assert (status, set(body)) == (401, {"message"})


def test_an_absent_dependency_does_not_stop_the_server(installed: Environment) -> None:
    installed.pip("uninstall", "--yes", "langgraph")
    try:
        status, body = installed.answer(ROUTE)
        assert status == 503
        assert "langgraph" in body["message"]
    finally:
        installed.pip("install", "langgraph")


def test_uninstalling_leaves_nothing_and_the_stock_server_runs_on_the_same_data(
    built: Built, environment: Environment
) -> None:
    environment.pip("install", "--force-reinstall", "--no-deps", built.wheel)
    assert environment.answer(ROUTE)[0] == 401
    environment.pip("uninstall", "--yes", "gns3server-copilot")
    assert environment.traces() == []
    assert environment.answer(ROUTE)[0] == 404


def test_an_editable_install_serves_the_copilot_and_leaves_nothing(
    built: Built, environment: Environment, tmp_path: Path
) -> None:
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    environment.pip("install", "--no-deps", "--editable", next(tmp_path.iterdir()))
    assert environment.answer(ROUTE)[0] == 401
    environment.pip("uninstall", "--yes", "gns3server-copilot")
    assert environment.traces() == []
