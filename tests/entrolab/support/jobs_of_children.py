"""Functions that children of the fork server run in tests."""

import os
import signal
import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_info

from entrolab.io.limits import Limits, hold_to


def nothing(job):
    """An empty job."""


def fail(job):
    raise ValueError(job.params["says"])


def kill_itself(job):
    os.kill(os.getpid(), signal.SIGKILL)


def compute_on(job):
    hold_to(Limits(seconds=0.01))
    sum(range(10**12))


def write_modules(job):
    threads = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    Path(job.output[0]).write_text(
        repr((sorted(sys.modules), sorted(threads), os.environ["OMP_NUM_THREADS"]))
    )


def write_on(job):
    """Write a line every hundredth of a second, the first with the ids of this process and of its server."""
    with open(job.output[0], "a") as file:
        print(os.getpid(), os.getppid(), file=file, flush=True)
        for number in range(6000):
            print(number, file=file, flush=True)
            time.sleep(0.01)
