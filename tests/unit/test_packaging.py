"""What the package's files say about it. The built package is tested in tests/wheel."""

from __future__ import annotations

import base64
import configparser
import hashlib
import importlib.util
import re
import subprocess
import zipfile
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import gns3server_copilot
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.plugin import NEEDED

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "gns3server_copilot"
START_UP_FILE = "gns3server_copilot.pth"


@pytest.fixture(scope="module")
def setup_cfg() -> configparser.ConfigParser:
    """The package's metadata as setuptools reads it."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


@pytest.fixture(scope="module")
def editable() -> ModuleType:
    """The build-only module, which is installed nowhere."""
    spec = importlib.util.spec_from_file_location("_editable", ROOT / "_editable.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def requirements(setup_cfg: configparser.ConfigParser) -> dict[str, str]:
    """Give each runtime requirement with its version bounds."""
    lines = setup_cfg["options"]["install_requires"].split()
    return dict(re.fullmatch(r"([\w-]+)(.*)", line).groups() for line in lines)


def test_the_start_up_file_is_one_import_and_one_call() -> None:
    text = (ROOT / START_UP_FILE).read_text()
    assert text == "import gns3server_copilot.autoload; gns3server_copilot.autoload.arm()\n"


def test_every_folder_with_code_is_a_package_or_package_data(setup_cfg: configparser.ConfigParser) -> None:
    patterns = setup_cfg["options.package_data"]["gns3server_copilot"].split()
    lost = []
    for path in PACKAGE.rglob("*"):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        in_package = all((folder / "__init__.py").exists() for folder in _folders_up_to_package(path))
        name = str(path.relative_to(PACKAGE))
        if not (in_package and path.suffix == ".py") and not any(fnmatchcase(name, pattern) for pattern in patterns):
            lost.append(name)
    assert lost == []


def _folders_up_to_package(path: Path) -> list[Path]:
    return [folder for folder in path.parents if folder.is_relative_to(PACKAGE)]


def test_requirements_have_no_upper_bound_but_that_of_gns3_server(setup_cfg: configparser.ConfigParser) -> None:
    bounds = requirements(setup_cfg)
    assert bounds.pop("gns3-server") == ">=3.0.6,<3.1"
    assert {name: bound for name, bound in bounds.items() if not re.fullmatch(r">=[\d.]+", bound)} == {}


def test_every_needed_package_is_looked_for_at_the_start(setup_cfg: configparser.ConfigParser) -> None:
    required = {re.split(r"[<>=]", line)[0] for line in setup_cfg["options"]["install_requires"].split()}
    assert {*NEEDED, "gns3-server"} == required


def test_every_provider_has_an_extra_and_all_of_them_another(setup_cfg: configparser.ConfigParser) -> None:
    extras = setup_cfg["options.extras_require"]
    named = {name for name, provider in PROVIDERS.items() if provider.install == f"gns3server-copilot[{name}]"}
    assert named == PROVIDERS.keys() - {"offline", "openai"}
    assert sorted(line for name in named for line in extras[name].split()) == sorted(extras["providers"].split())


def test_the_installed_package_is_this_version_and_owns_its_start_up_file() -> None:
    distribution = metadata.distribution("gns3server-copilot")
    assert distribution.version == gns3server_copilot.__version__
    assert START_UP_FILE in [str(file) for file in distribution.files or []]


def test_a_file_added_to_an_editable_wheel_is_recorded_with_its_digest(editable: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("x.py", "")
        archive.writestr("x-1.dist-info/RECORD", "x.py,,\n")
    editable.add_to_wheel(wheel, ROOT / START_UP_FILE)
    content = (ROOT / START_UP_FILE).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    with zipfile.ZipFile(wheel) as archive:
        assert sorted(archive.namelist()) == [START_UP_FILE, "x-1.dist-info/RECORD", "x.py"]
        assert archive.read(START_UP_FILE) == content
        record = archive.read("x-1.dist-info/RECORD").decode()
    assert record == f"x.py,,\n{START_UP_FILE},sha256={digest},{len(content)}\n"


def test_run_explains_itself_from_any_folder(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "./run demo" in done.stdout and "./run test" in done.stdout


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false"])
def test_run_says_what_python_it_needs(python: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "run", "tests"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"run: PYTHON={python} is not a working Python 3.11, 3.12 or 3.13.\n"
