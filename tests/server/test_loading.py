"""The stock server gets the copilot, can do without it, and survives a broken one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest

import gns3server_copilot
from tests.ground.chat import ask, configure_model
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of
from tests.ground.users import log_in_admin

STATUS = "/v3/copilot/status"

SLOW = pytest.mark.slow


async def status_of(server):
    async with aclosing(await log_in_admin(server)) as admin:
        return await admin.get(STATUS)


async def test_the_stock_server_serves_the_copilot(gns3_server):
    assert (await status_of(gns3_server)).json()["version"] == gns3server_copilot.__version__


async def test_the_environment_switch_keeps_it_out(start_gns3_server):
    server = start_gns3_server(copilot=False)
    assert (await status_of(server)).status_code == 404


async def test_the_setting_keeps_it_out(start_gns3_server):
    server = start_gns3_server(copilot={"enabled": "false"})
    assert (await status_of(server)).status_code == 404


async def test_a_wrong_setting_is_named_and_the_server_runs(start_gns3_server):
    server = start_gns3_server(copilot={"max_turns": "many"})
    assert "Traceback" not in server.log()
    answer = await status_of(server)
    assert answer.status_code == 503
    assert "max_turns" in answer.json()["message"]


def copy_of_the_package(folder: Path) -> Path:
    package = folder / "gns3server_copilot"
    shutil.copytree(Path(gns3server_copilot.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


@pytest.mark.parametrize(
    "module", ["plugin.py", pytest.param("api/chat.py", marks=SLOW), pytest.param("settings.py", marks=SLOW)]
)
async def test_a_syntax_error_in_a_module_that_is_loaded_at_start_does_not_stop_the_server(
    start_gns3_server, tmp_path, module
):
    package = copy_of_the_package(tmp_path)
    (package / module).write_text("def broken(:\n")
    server = start_gns3_server(env={"PYTHONPATH": str(tmp_path)})
    server.expect_traceback("SyntaxError")
    answer = await status_of(server)
    assert answer.status_code == 503
    assert "SyntaxError" in answer.json()["message"]
    async with httpx.AsyncClient(base_url=server.url) as client:
        assert (await client.get("/v3/version")).status_code == 200
        assert (await client.get("/v3/projects/x/chat/sessions")).status_code == 503


async def test_a_syntax_error_in_a_module_that_is_loaded_with_the_first_chat_is_said_then(start_gns3_server, tmp_path):
    package = copy_of_the_package(tmp_path)
    (package / "agent" / "graph.py").write_text("def broken(:\n")
    server = start_gns3_server(env={"PYTHONPATH": str(tmp_path)})
    server.expect_traceback("SyntaxError")
    async with aclosing(await log_in_admin(server)) as admin:
        await configure_model(admin)
        project = await Projects(admin).make()
        for _ in range(2):
            answer = await admin.post(f"{project.chat}/stream", json={"message": "hello"})
            assert answer.status_code == 503
            assert "SyntaxError" in answer.json()["message"]


@pytest.mark.parametrize("package", ["langgraph", pytest.param("tiktoken", marks=SLOW)])
async def test_an_absent_dependency_does_not_stop_the_server_and_is_named(start_gns3_server, tmp_path, package):
    # a start-up file of the test's makes the distribution look uninstalled to every interpreter below this one
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.metadata as metadata\n"
        "find = metadata.Distribution.from_name\n"
        "def absent(name):\n"
        f"    if name == {package!r}:\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return find(name)\n"
        "metadata.Distribution.from_name = staticmethod(absent)\n"
    )
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    server = start_gns3_server(env={"PYTHONPATH": os.pathsep.join(paths)})
    assert "Traceback" not in server.log()
    answer = await status_of(server)
    assert answer.status_code == 503
    assert package in answer.json()["message"]


def test_nothing_heavy_is_imported_with_the_server(tmp_path):
    code = (
        "import sys, gns3server.config\n"
        "gns3server.config.Config.instance()\n"
        "import gns3server.api.server as server\n"
        "assert server.app.state.copilot_mounted\n"
        "heavy = ('langchain', 'langchain_core', 'langchain_openai', 'langgraph', 'openai', 'scapy', 'tiktoken',"
        " 'telnetlib3')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import gns3server_copilot.autoload as a; a.arm()\n" + code],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr


async def test_a_configuration_that_was_stored_is_there_after_a_restart(start_gns3_server):
    server = start_gns3_server()
    async with aclosing(await log_in_admin(server)) as admin:
        await configure_model(admin)
    server.stop()
    server.start()
    async with aclosing(await log_in_admin(server)) as admin:
        project = await Projects(admin).make()
        assert kinds_of(await ask(admin, project, "/help"))[-1] == "done"
