"""Processor seconds of a command with all its processes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A process that its parent does not wait for burns half a processor second, says so, and lives on.
ORPHAN = """
import os, time
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        while time.process_time() < 0.5: pass
        os.write(writing, b"done")
        time.sleep(600)
    os._exit(0)
os.wait()
os.read(reading, 4)
raise SystemExit(3)
"""


# A process that its parent does not wait for ends, and a third one sees that it is gone.
WATCHED = """
import os, time
reading, writing = os.pipe()
if os.fork() == 0:
    orphan = os.fork()
    if orphan:
        os.write(writing, str(orphan).encode())
    os._exit(0)
os.wait()
orphan = int(os.read(reading, 20))
while os.path.exists(f"/proc/{orphan}"):
    time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_orphans_that_end_are_gone_before_the_command_ends():
    command = [sys.executable, "-m", "tools.processor_seconds", sys.executable, "-c", WATCHED]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_seconds_of_a_process_without_a_parent_count():
    command = [sys.executable, "-m", "tools.processor_seconds", sys.executable, "-c", ORPHAN]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    wall, processor = (float(part.split()[0]) for part in done.stderr.split(", "))
    assert processor >= 0.5
    assert wall < 600
