"""The command `gns3server-copilot`: what it starts, how it fails, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import types

import pytest

from gns3server_copilot import __version__, cli
from gns3server_copilot.errors import CopilotError
from tests.unit.commands.fake_copilot import command_environment, run_command


def test_the_version_is_told_without_loading_anything(tmp_path):
    code = "import sys; from gns3server_copilot import cli\ntry: cli.main(['--version'])\nfinally: print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=command_environment(tmp_path), capture_output=True, text=True, check=True
    )
    version, modules = done.stdout.splitlines()
    assert version == f"gns3server-copilot {__version__}"
    assert not {"pydantic", "httpx", "asyncio", "gns3server", "gns3server_copilot.errors"} & set(modules.split())


@pytest.mark.parametrize("words", [[], ["nonsense"], ["--nonsense"]])
def test_wrong_usage_ends_with_status_2_and_names_the_commands(words, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert "usage: gns3server-copilot" in capsys.readouterr().err


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("doctor", "demo", "chat", "keys", "run"))


@pytest.fixture
def command(monkeypatch):
    """Put a function in the place of `doctor`."""

    def put(function):
        monkeypatch.setitem(sys.modules, "a_command", types.SimpleNamespace(main=function))
        monkeypatch.setitem(cli.COMMANDS, "doctor", ("a_command", ""))

    return put


def raising(error):
    def main(words):
        raise error

    return main


def test_a_command_gets_the_words_after_its_name_as_they_are(command):
    got = []
    command(lambda words: got.extend(words) or 7)
    assert cli.main(["doctor", "--version", "--", "-x", "chat"]) == 7
    assert got == ["--version", "--", "-x", "chat"]


def test_a_failure_is_one_sentence_and_status_1(command, capsys):
    command(raising(CopilotError("This cannot be. Do that.")))
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err == "gns3server-copilot: This cannot be. Do that.\n"


def test_a_missing_package_leads_to_the_doctor(command, capsys):
    command(raising(ModuleNotFoundError("No module named 'httpx'", name="httpx")))
    assert cli.main(["doctor"]) == 1
    assert "The Python package httpx is missing. Run: gns3server-copilot doctor" in capsys.readouterr().err


def test_ctrl_c_ends_with_130_and_without_a_word(command, capsys):
    command(raising(KeyboardInterrupt()))
    assert cli.main(["doctor"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_bug_is_not_hidden(command):
    command(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        cli.main(["doctor"])


def test_a_reader_who_leaves_ends_the_command_quietly(tmp_path):
    code = (
        "import sys; from gns3server_copilot import cli; cli.COMMANDS['x'] = ('writer', ''); sys.exit(cli.main(['x']))"
    )
    (tmp_path / "writer.py").write_text("def main(words):\n    while True: print('x' * 10000)\n")
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=command_environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--help"], ["doctor"]])
def test_an_output_that_cannot_be_written_is_one_sentence(tmp_path, words, unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gns3server_copilot.cli", *words],
            env=command_environment(tmp_path, PYTHONUNBUFFERED=unbuffered),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if words == ["--help"] and unbuffered:
        assert done.stderr == ""  # argparse takes the error for itself
    else:
        assert done.stderr == "gns3server-copilot: The output cannot be written: No space left on device.\n"
        assert done.returncode == 1


def test_another_failure_of_the_system_is_a_sentence_too(command, capsys):
    command(raising(PermissionError(13, "Permission denied", "/some/file")))
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err == "gns3server-copilot: Permission denied: /some/file.\n"


def test_closed_streams_do_no_harm(tmp_path):
    (tmp_path / "talker.py").write_text(
        "import sys\ndef main(words):\n    print('x', sys.stdin.isatty(), sys.stdout.isatty())\n    return 7\n"
    )
    code = (
        "import sys; from gns3server_copilot import cli; cli.COMMANDS['x'] = ('talker', ''); sys.exit(cli.main(['x']))"
    )

    def close():
        for descriptor in range(3):
            os.close(descriptor)

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=command_environment(tmp_path),
        cwd=tmp_path,
        preexec_fn=close,
        check=False,
    )
    assert done.returncode == 7


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_signs_that_the_terminal_lacks_are_replaced(tmp_path, encoding):
    (tmp_path / "shower.py").write_text(
        "import sys\n"
        "def main(words):\n"
        "    print('✓ ✗ – → … ─ é 漢 \\udcff')\n"
        "    print('✗ 漢', file=sys.stderr)\n"
        "    return 0\n"
    )
    code = (
        "import sys; from gns3server_copilot import cli; cli.COMMANDS['x'] = ('shower', ''); sys.exit(cli.main(['x']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=command_environment(tmp_path, PYTHONIOENCODING=encoding),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    shown = {
        "ascii": ("+ x - -> ... - ? ? ?\n", "x ?\n"),
        "latin-1": ("+ x - -> ... - é ? ?\n", "x ?\n"),
        "utf-8": ("✓ ✗ – → … ─ é 漢 ?\n", "✗ 漢\n"),
    }
    assert (done.stdout.decode(encoding), done.stderr.decode(encoding)) == shown[encoding]
    assert done.returncode == 0


FAKE_HOST = """
import sys
from gns3server_copilot import autoload
def main():
    print(sys.argv, any(isinstance(finder, autoload.ServerFinder) for finder in sys.meta_path))
"""


def test_run_arms_the_copilot_and_hands_its_arguments_to_gns3_server(tmp_path):
    package = tmp_path / "gns3server"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "main.py").write_text(FAKE_HOST)
    done = run_command(
        tmp_path,
        "run",
        "--host",
        "0.0.0.0",
        "--version",
        PYTHONPATH=f"{tmp_path}:{command_environment(tmp_path)['PYTHONPATH']}",
    )
    assert done.stdout == "['gns3server', '--host', '0.0.0.0', '--version'] True\n", done.stderr


def test_ctrl_c_reaches_gns3_server_under_run(tmp_path):
    package = tmp_path / "gns3server"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "main.py").write_text("import time\ndef main():\n    print('up', flush=True)\n    time.sleep(60)\n")
    environment = command_environment(tmp_path)
    environment["PYTHONPATH"] = f"{tmp_path}:{environment['PYTHONPATH']}"
    with subprocess.Popen(
        [sys.executable, "-m", "gns3server_copilot.cli", "run"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
        assert process.wait(30) == 130
