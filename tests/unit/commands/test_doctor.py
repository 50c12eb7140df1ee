"""The doctor: finds what is wrong with an installation, says it plainly, changes nothing."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy.ext.asyncio import create_async_engine

from gns3server_copilot import autoload
from gns3server_copilot.commands.doctor import data, environment, startup
from gns3server_copilot.commands.doctor.findings import Mark, contained, described
from gns3server_copilot.commands.doctor.host_files import find_host_files
from gns3server_copilot.commands.doctor.running import check_running_server
from gns3server_copilot.llm import providers
from gns3server_copilot.llm.store import upgrade
from tests.unit.commands.fake_copilot import PASSWORD, ROOT, TOKEN, command_environment, run_command


def host_files(home, config=None, directory=None, **variables):
    """Give the host's files for a home."""
    return find_host_files(variables, home=home, directory=directory or home, version="3.0.6", config=config)


def configured(home, text="", path=".config/GNS3/3.0/gns3_server.conf"):
    """Write a gns3_server.conf into a home and give the host's files."""
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return host_files(home)


def only(findings):
    """Give the mark and text of the only finding."""
    (finding,) = list(findings)
    return finding.mark, finding.text


# -- where gns3-server keeps its files

HOST_SAYS = """
import json, os, sys
from gns3server.config import Config
config = Config(*json.loads(sys.argv[1]))
secrets = config.settings.Server.secrets_dir
print(json.dumps([config.config_dir, str(secrets) if secrets else None, list(config.get_config_files())]))
"""


@pytest.mark.parametrize(
    "files",
    [
        [],
        [".config/GNS3/3.0/gns3_server.conf"],
        [".config/GNS3.conf"],
        ["work/gns3_server.conf", ".config/GNS3/3.0/gns3_server.conf", ".config/GNS3.conf"],
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_the_files_are_those_that_gns3_server_itself_uses(tmp_path, files, named):
    (tmp_path / "work").mkdir()
    (tmp_path / "keys").mkdir()
    for file in files:
        configured(tmp_path, f"[Server]\nsecrets_dir = {tmp_path}/keys\n", file)
    arguments = [[str(tmp_path / files[0])]] if named and files else []
    done = subprocess.run(
        [sys.executable, "-c", HOST_SAYS, json.dumps(arguments)],
        env=command_environment(tmp_path, GNS3_COPILOT="0"),
        cwd=tmp_path / "work",
        capture_output=True,
        text=True,
        check=True,
    )
    config_dir, secrets_dir, config_files = json.loads(done.stdout)
    found = host_files(tmp_path, Path(arguments[0][0]) if arguments else None, tmp_path / "work")
    assert str(found.config_dir) == config_dir
    assert str(found.secrets_dir) == (secrets_dir or config_dir)
    assert sorted(map(str, found.config_files)) == sorted(config_files)


def test_looking_makes_no_files(tmp_path):
    files = host_files(tmp_path)
    for check in (data.check_keys, data.check_database, startup.check_settings):
        list(check(files))
    assert list(tmp_path.iterdir()) == []


# -- Python, gns3-server and packages


@pytest.mark.parametrize(
    ("running", "mark"),
    [((3, 10, 9), Mark.WRONG), ((3, 11, 0), Mark.GOOD), ((3, 13, 9), Mark.GOOD), ((3, 14, 0), Mark.NOTE)],
)
def test_python_must_be_in_range_and_newer_is_noted(running, mark):
    assert only(environment.check_python(running))[0] is mark


@pytest.mark.parametrize(
    ("installed", "mark"),
    [
        (None, Mark.WRONG),
        ("2.2.54", Mark.WRONG),
        ("3.0.5", Mark.WRONG),
        ("3.0.6", Mark.GOOD),
        ("3.0.10", Mark.GOOD),
        ("3.1.0a2", Mark.NOTE),
        ("4.0", Mark.NOTE),
    ],
)
def test_gns3_server_must_be_in_range_and_newer_is_noted(installed, mark):
    assert only(environment.check_host(installed))[0] is mark


def distribution(tmp_path, monkeypatch, *requirements):
    """Install a distribution that needs these packages."""
    info = tmp_path / "some_thing-1.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.1", "Name: some-thing", "Version: 1"]
    (info / "METADATA").write_text("\n".join([*lines, *(f"Requires-Dist: {one}" for one in requirements)]) + "\n")
    monkeypatch.syspath_prepend(tmp_path)


def test_packages_are_compared_with_what_the_package_needs(tmp_path, monkeypatch):
    distribution(
        tmp_path, monkeypatch, "pytest>=1", "no-such-package-at-all>=2", "hypothesis<1", "not-wanted; extra == 'more'"
    )
    found = {finding.text: finding.mark for finding in environment.check_packages("some-thing")}
    assert [text for text, mark in found.items() if mark is Mark.GOOD] == [f"Packages: pytest {pytest.__version__}."]
    wrong = [text for text, mark in found.items() if mark is Mark.WRONG]
    assert 'Run: pip install "no-such-package-at-all>=2"' in wrong[0]
    assert 'Run: pip install "hypothesis<1"' in wrong[1]
    assert len(found) == 3


def test_a_package_that_is_only_on_the_path_is_noted():
    mark, text = only(environment.check_packages("no-such-distribution"))
    assert mark is Mark.NOTE and "not installed with pip" in text


def test_providers_that_are_missing_are_told_with_the_pip_command(monkeypatch):
    absent = providers.Provider("x", "no_such_package_at_all", "langchain-nothing")
    monkeypatch.setattr(providers, "PROVIDERS", {**providers.PROVIDERS, "nothing": absent})
    first, *others = list(environment.check_providers())
    assert "offline" in first.text and "nothing" not in first.text
    assert 'pip install "langchain-nothing"' in others[-1].text


# -- how it gets into the server


def test_the_settings_section_is_read_and_a_wrong_one_is_named(tmp_path):
    assert only(startup.check_settings(configured(tmp_path)))[0] is Mark.GOOD
    mark, text = only(startup.check_settings(configured(tmp_path, "[Copilot]\nmax_turns = many\n")))
    assert mark is Mark.WRONG and "max_turns" in text
    mark, text = only(startup.check_settings(configured(tmp_path, "[Copilot]\nenabled = false\n")))
    assert mark is Mark.NOTE and "switched off" in text
    mark, text = only(startup.check_settings(configured(tmp_path, "no section")))
    assert mark is Mark.WRONG and ". Until it is put right" in text and ".." not in text


def test_a_section_whose_name_is_written_otherwise_is_noted(tmp_path):
    good, note = startup.check_settings(configured(tmp_path, "[Server]\n[copilot]\nenabled = false\n"))
    assert good.mark is Mark.GOOD
    assert note.mark is Mark.NOTE
    assert "[copilot]" in note.text and "is ignored: its name must be [Copilot]" in note.text


@pytest.mark.slow
def test_a_named_file_that_does_not_exist_is_wrong_and_no_paths_are_guessed_from_it(tmp_path):
    done = run_command(tmp_path, "doctor", "--config", "/nope")
    assert done.returncode == 1
    assert "✗ The file /nope of --config does not exist" in done.stdout
    assert "copilot_encryption_key" not in done.stdout and "gns3_controller.db" not in done.stdout


def test_a_named_folder_cannot_be_read_as_a_file(tmp_path):
    mark, text = only(startup.check_settings(host_files(tmp_path, config=tmp_path)))
    assert mark is Mark.WRONG and f"{tmp_path} of --config cannot be read" in text


def start_up(monkeypatch, directories, *, armed, switch=""):
    """Give what is found about the start-up file in these folders."""
    finders = [finder for finder in sys.meta_path if not isinstance(finder, autoload.ServerFinder)]
    monkeypatch.setattr(sys, "meta_path", [autoload.ServerFinder(), *finders] if armed else finders)
    monkeypatch.setenv(autoload.SWITCH, switch)
    return only(startup.check_start_up_file(directories))


def test_the_start_up_file_is_looked_for_and_why_it_has_no_effect(tmp_path, monkeypatch):
    mark, text = start_up(monkeypatch, [tmp_path], armed=False)
    assert mark is Mark.WRONG and "is not installed" in text and "gns3server-copilot run" in text
    (tmp_path / startup.START_UP_FILE).touch()
    assert start_up(monkeypatch, [tmp_path], armed=True)[0] is Mark.GOOD
    mark, text = start_up(monkeypatch, [tmp_path], armed=False)
    assert mark is Mark.WRONG and "had no effect" in text
    mark, text = start_up(monkeypatch, [tmp_path], armed=False, switch="0")
    assert mark is Mark.NOTE and "GNS3_COPILOT=0" in text


def test_a_python_without_site_reads_no_start_up_files(tmp_path):
    code = "from gns3server_copilot.commands.doctor.startup import *; print(next(check_start_up_file()))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=command_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Mark.WRONG" in done.stdout and "started with -S" in done.stdout


def test_a_broken_module_is_named_with_the_reason_and_the_place(tmp_path, monkeypatch):
    copy, source = tmp_path / "gns3server_copilot", ROOT / "gns3server_copilot"
    for part in ("commands", "schemas"):  # the others would only take time
        shutil.copytree(source / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("__init__.py", "autoload.py", "errors.py"):
        shutil.copy(source / part, copy)
    with (copy / "schemas" / "chat.py").open("a") as module:
        module.write("\nthis is no Python\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    mark, text = only(startup.check_modules())
    assert mark is Mark.WRONG
    assert "gns3server_copilot.schemas.chat cannot be imported: SyntaxError" in text and "chat.py, line" in text


def test_a_module_that_lacks_a_package_is_named_and_the_doctor_still_works(tmp_path):
    hidden = tmp_path / "hidden" / "pydantic"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'pydantic'\", name='pydantic')\n")
    done = run_command(tmp_path, "doctor", "--json", PYTHONPATH=f"{hidden.parent}:{ROOT}")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    results = {finding["check"]: finding for finding in answer["findings"]}
    assert "No module named 'pydantic'" in results["modules"]["text"]
    assert results["settings"]["result"] == "wrong"
    assert results["python"]["result"] == "good"


def test_what_a_check_raises_is_a_finding_that_names_our_line():
    def look():
        startup.site_directories(1)
        yield

    mark, text = only(contained("x", look))
    assert mark is Mark.WRONG and "TypeError" in text
    try:
        find_host_files({}, home=None, directory=ROOT, version="3.0")
    except TypeError as error:
        assert "(in gns3server_copilot/commands/doctor/host_files.py, line" in described(error)


# -- keys


def test_no_key_yet_is_fine_and_its_place_is_told(tmp_path):
    mark, text = only(data.check_keys(configured(tmp_path)))
    assert mark is Mark.NOTE and str(tmp_path / ".config/GNS3/3.0/copilot_encryption_key") in text


def key_file(home, text, mode):
    """Write a key file and give what is found about it."""
    files = configured(home)
    file = files.secrets_dir / "copilot_encryption_key"
    file.write_text(text)
    file.chmod(mode)
    return list(data.check_keys(files))


def test_a_good_key_is_good_and_never_shown(tmp_path):
    key = Fernet.generate_key().decode()
    (finding,) = key_file(tmp_path, key, 0o600)
    assert finding.mark is Mark.GOOD
    assert key not in finding.text


def test_a_key_that_others_can_read_is_wrong(tmp_path):
    readable, _ = key_file(tmp_path, Fernet.generate_key().decode(), 0o644)
    assert readable.mark is Mark.WRONG and "chmod 600" in readable.text


@pytest.mark.parametrize("text", ["", "garbage", "a\nb"])
def test_a_damaged_key_file_is_wrong_and_its_text_is_not_shown(tmp_path, text):
    (finding,) = key_file(tmp_path, text, 0o600)
    assert finding.mark is Mark.WRONG
    assert "garbage" not in finding.text


# -- database


async def upgraded(files):
    """Make a database with the copilot's tables in it."""
    engine = create_async_engine(f"sqlite+aiosqlite:///{files.database_file}")
    await upgrade(engine)
    await engine.dispose()


async def in_thread(check, files):
    """Run a check, which has an event loop of its own."""
    return await asyncio.to_thread(lambda: list(check(files)))


async def test_the_tables_are_compared_with_this_version_and_nothing_is_changed(tmp_path):
    files = configured(tmp_path)
    assert only(await in_thread(data.check_database, files))[0] is Mark.NOTE  # absent

    sqlite3.connect(files.database_file).close()
    mark, text = only(await in_thread(data.check_database, files))
    assert mark is Mark.NOTE and "no tables of the copilot yet" in text
    assert files.database_file.stat().st_size == 0

    await upgraded(files)
    before = files.database_file.read_bytes()
    assert only(await in_thread(data.check_database, files))[0] is Mark.GOOD
    assert files.database_file.read_bytes() == before

    for revision, mark, part in (("0000", Mark.NOTE, "the next start makes it"), ("9999", Mark.WRONG, "newer version")):
        with sqlite3.connect(files.database_file) as connection:
            connection.execute("UPDATE copilot_alembic_version SET version_num = ?", (revision,))
        connection.close()
        found = only(await in_thread(data.check_database, files))
        assert found[0] is mark and part in found[1]

    files.database_file.write_text("not a database")
    assert only(await in_thread(data.check_database, files))[0] is Mark.WRONG


async def test_a_database_url_is_followed_and_its_password_not_shown(tmp_path):
    files = configured(tmp_path)
    await upgraded(files)
    elsewhere = host_files(tmp_path / "x", GNS3_DATABASE_URI=f"sqlite+aiosqlite:///{files.database_file}")
    assert only(await in_thread(data.check_database, elsewhere))[0] is Mark.GOOD
    unreachable = host_files(tmp_path, GNS3_DATABASE_URI="postgresql+nodriver://gns3:pass-word@127.0.0.1:1/x")
    mark, text = only(await in_thread(data.check_database, unreachable))
    assert mark is Mark.WRONG and "pass-word" not in text and "GNS3_DATABASE_URI" in text


# -- what it ships


@pytest.mark.parametrize("check", [data.check_tools, data.check_token_table])
def test_what_the_package_ships_is_good(check):
    assert only(check())[0] is Mark.GOOD


def test_an_admins_knowledge_files_are_looked_at(tmp_path):
    files = configured(tmp_path)
    assert only(data.check_knowledge(files))[0] is Mark.GOOD
    folder = files.config_dir / "copilot" / "prompts"
    folder.mkdir(parents=True)
    (folder / "title.md").write_text("Give a title.")
    mark, text = only(data.check_knowledge(files))
    assert mark is Mark.GOOD and "1 of them from" in text
    (folder / "title.md").write_text("Give a title for\n{{everything}}.")
    wrong, good = data.check_knowledge(files)
    assert wrong.mark is Mark.WRONG and wrong.text.startswith("prompts/title.md, line 2: ")
    assert good.mark is Mark.GOOD


def test_a_knowledge_directory_that_was_named_has_to_be_there(tmp_path):
    files = configured(tmp_path, "[Copilot]\nknowledge_path = elsewhere\n")
    wrong, good = data.check_knowledge(files)
    assert wrong.mark is Mark.WRONG and str(files.config_dir / "elsewhere") in wrong.text
    assert good.mark is Mark.GOOD


# -- a running server


async def asked(copilot, password=PASSWORD):
    """Give what is found about the running server."""
    return [(one.check, one.mark, one.text) async for one in check_running_server(copilot.url, "admin", password)]


async def test_a_running_server_tells_that_the_copilot_is_mounted(copilot):
    assert await asked(copilot) == [
        ("server", Mark.GOOD, f"gns3-server 3.0.6 answers at {copilot.url}."),
        ("mounted", Mark.GOOD, "The copilot 0.1.0 is mounted; providers: offline."),
    ]


@pytest.mark.parametrize(
    ("status", "mark", "part"),
    [
        ((404, {"message": "Not Found"}), Mark.WRONG, "runs without the copilot"),
        (
            (503, {"message": "The copilot could not be loaded: SyntaxError"}),
            Mark.WRONG,
            "could not be loaded: SyntaxError",
        ),
        ((200, {"version": "1", "providers": [], "llm_configured": False}), Mark.NOTE, "no AI profile yet"),
        ((200, "?"), Mark.WRONG, "does not answer as gns3-server does"),
    ],
)
async def test_a_running_server_tells_why_there_is_no_copilot(copilot, status, mark, part):
    copilot.status = status
    _, found, text = (await asked(copilot))[1]
    assert found is mark and part in text


async def test_a_user_without_privileges_is_told_about_them(copilot):
    copilot.superadmin = False
    assert (await asked(copilot))[2][2] == "Projects that admin may see: 2."
    copilot.projects = []
    assert "no privilege until an admin adds the user to a group" in (await asked(copilot))[2][2]


async def test_a_wrong_password_is_wrong(copilot):
    assert (await asked(copilot, "nonsense"))[1][1] is Mark.WRONG


# -- the command


def test_the_whole_examination_of_a_fresh_home_shows_no_secrets_and_makes_no_files(tmp_path, copilot):
    key = Fernet.generate_key().decode()
    done = run_command(
        tmp_path, "doctor", "--server", copilot.url, GNS3_COPILOT_PASSWORD=PASSWORD, GNS3_COPILOT_ENCRYPTION_KEY=key
    )
    assert "✓ gns3-server 3.0.6." in done.stdout
    assert "✓ All modules of the copilot can be imported." in done.stdout
    assert "✓ The copilot 0.1.0 is mounted" in done.stdout
    assert not [secret for secret in (key, TOKEN, PASSWORD) if secret in done.stdout + done.stderr]
    assert list(tmp_path.iterdir()) == []
    assert done.stderr == ""
    assert (done.returncode == 0) == ("All is well." in done.stdout)


@pytest.mark.slow
def test_without_a_password_the_installation_is_examined_and_what_is_missing_told(tmp_path, copilot):
    done = run_command(tmp_path, "doctor", "--server", copilot.url, "--user", "somebody")
    assert done.returncode == 1
    assert "✓ gns3-server 3.0.6." in done.stdout
    assert "✗ The running server was not asked. Set GNS3_COPILOT_PASSWORD to the password" in done.stdout
    assert done.stderr == ""


@pytest.mark.slow
def test_a_terminal_that_lacks_the_marks_shows_others(tmp_path):
    done = run_command(tmp_path, "doctor", PYTHONIOENCODING="ascii")
    assert "+ gns3-server 3.0.6." in done.stdout and "- There is no encryption key yet" in done.stdout
    assert done.stderr == ""
