from __future__ import annotations

import signal
import subprocess
import sys

CHILD = """
import time
from gns3server_copilot.demo.devices.lifetime import live_with_parent
live_with_parent()
print("alive", flush=True)
time.sleep(60)
"""
PARENT = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_child_ends_when_its_parent_is_killed():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    assert int(parent.stdout.readline())
    assert parent.stdout.readline() == "alive\n"
    parent.kill()
    parent.wait()
    # The child holds the pipe's other end: the pipe ends when the child has ended.
    assert parent.stdout.read() == ""
    parent.stdout.close()


def test_sigterm_ends_it_at_once():
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    assert child.stdout.readline() == "alive\n"
    child.send_signal(signal.SIGTERM)
    assert child.wait(5) == 0
    child.stdout.close()
