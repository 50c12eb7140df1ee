from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gns3server_copilot.demo.home import PREFIX, Home
from gns3server_copilot.demo.keeper import clear, processes_at_home

SLEEPER = [sys.executable, "-c", "print('up', flush=True); import time; time.sleep(60)"]


def test_clear_ends_only_what_lives_there(tmp_path: Path):
    home = Home(tmp_path / f"{PREFIX}x")
    home.path.mkdir()
    inside = subprocess.Popen(SLEEPER, env={"HOME": str(home.path)}, stdout=subprocess.PIPE)
    outside = subprocess.Popen(SLEEPER, env={"HOME": str(tmp_path)}, stdout=subprocess.PIPE)
    try:
        for process in (inside, outside):
            assert process.stdout and process.stdout.readline() == b"up\n"
        assert [process.pid for process in processes_at_home(home.path)] == [inside.pid]
        clear(home)
        assert processes_at_home(home.path) == []
        assert outside.poll() is None
        assert not home.path.exists()
    finally:
        for process in (inside, outside):
            process.kill()
            process.communicate()


def test_folder_of_somebody_else_is_never_cleared(tmp_path: Path):
    with pytest.raises(ValueError, match="no home of a demo"):
        clear(Home(tmp_path))
    assert tmp_path.exists()
