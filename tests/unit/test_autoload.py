"""The start-up hook: fires for one module, once, and never stops the server."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def run(tmp_path, code, **environment):
    """Run code in a fresh interpreter in which `gns3server.api.server` is a small module of the test's."""
    package = tmp_path / "gns3server" / "api"
    package.mkdir(parents=True)
    (tmp_path / "gns3server" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "server.py").write_text("app = 'the application'\n")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


WATCH = """
import sys
from gns3server_copilot import autoload
autoload.mount_contained = lambda server: print("mounted on", server.app)
"""


def test_the_copilot_is_mounted_when_the_server_module_is_imported_however_often_it_was_armed(tmp_path):
    code = (
        WATCH
        + """
autoload.arm(); autoload.arm()
import gns3server.api
print("imported")
import gns3server.api.server
"""
    )
    assert run(tmp_path, code) == ["imported", "mounted on the application"]


@pytest.mark.parametrize("value", ["0", "false", "No", "off"])
def test_the_environment_switch_keeps_it_out(tmp_path, value):
    code = (
        WATCH
        + """
before = [type(finder).__name__ for finder in sys.meta_path]
sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, autoload.ServerFinder)]
autoload.arm()
import gns3server.api.server
print("done")
"""
    )
    assert run(tmp_path, code, GNS3_COPILOT=value) == ["done"]


def test_another_hook_for_the_same_module_works_beside_it(tmp_path):
    code = (
        WATCH
        + """
class Other:
    def find_spec(self, name, path=None, target=None):
        if name == "gns3server.api.server":
            print("the other was asked")
sys.meta_path.insert(0, Other())
autoload.arm()
import gns3server.api.server
"""
    )
    assert run(tmp_path, code)[-1] == "mounted on the application"


def test_a_server_module_that_has_no_application_is_left_alone(tmp_path):
    code = """
from gns3server_copilot import autoload
autoload.arm()
import gns3server.api, pathlib
pathlib.Path(gns3server.api.__path__[0], "server.py").write_text("")
import gns3server.api.server
print("imported")
"""
    assert run(tmp_path, code) == ["imported"]


def test_the_hook_loads_nothing_outside_the_standard_library(tmp_path):
    code = """
import sys
from gns3server_copilot import autoload
autoload.arm()
print(sorted(name for name in sys.modules if name.split(".")[0] in ("gns3server", "fastapi", "pydantic", "langgraph")))
"""
    assert run(tmp_path, code) == ["[]"]
