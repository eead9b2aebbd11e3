"""A tracking store that another program keeps locked, for tests of the tracker and of the workflow."""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLDS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_program(store: Path) -> Iterator[subprocess.Popen]:
    """Keep the store locked, until the program's input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        yield holder


def tracker_has_its_turn(store: Path) -> bool:
    """Whether a tracker has come to the store, and so waits for no other tracker."""
    with open(f"{store}.lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
