"""Run a command and print its wall-clock seconds and the processor seconds of all its processes.

    python -m tools.processor_seconds make demo

`time` misses processes that their parent does not wait for, such as the children of a server. On Linux, this
process adopts them (PR_SET_CHILD_SUBREAPER), ends those that outlive the command, and waits for each.
"""

import argparse
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


class Seconds(NamedTuple):
    """Seconds of a command: by the clock, and of processors in all its processes."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, {self.processor:.1f} processor seconds"


def run(
    command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> tuple[int, Seconds]:
    """Run a command to its end; return its exit status and seconds."""
    _adopt_orphans()
    started, before = time.monotonic(), _processor_seconds()
    process = subprocess.Popen(command, cwd=cwd, env=env)
    ended = 0
    while ended != process.pid:  # orphans are waited for as they end: somebody may watch for their end
        ended, status = os.wait()
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - started
    _end_orphans()
    return process.returncode, Seconds(wall, _processor_seconds() - before)


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _end_orphans() -> None:
    """End and wait for the processes that the command has left; each that ends may leave further ones."""
    while True:
        try:
            os.waitpid(-1, os.WNOHANG)
            for child in _children():
                os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)
        except ProcessLookupError:
            continue
        except ChildProcessError:
            return


def _children() -> list[int]:
    lists = Path("/proc/self/task").glob("*/children")
    return [int(child) for file in lists for child in file.read_text().split()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    status, seconds = run(parser.parse_args().command)
    print(seconds, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
