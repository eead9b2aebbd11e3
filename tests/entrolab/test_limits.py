"""Work in a process of its own: what ends it, and what it ends with."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from entrolab.fit.limits import KilledError, Limits, within


def ended_by(number):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
    yield os.getpid()
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_work_that_is_ended_from_outside_is_no_result(number):
    work = within(Limits(seconds=60), ended_by, number)
    next(work)
    with pytest.raises(KilledError, match=rf"was killed \({number.name}\).*run again"):
        next(work)


ASKING = """
import os, time
from entrolab.fit.limits import Limits, within

def work():
    yield os.getpid()
    time.sleep(1000)

for pid in within(Limits(seconds=1000), work):
    print(pid, flush=True)
"""


def test_work_ends_with_the_process_that_asked_for_it():
    asking = subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True)
    working = psutil.Process(int(asking.stdout.readline()))
    asking.kill()
    asking.communicate()
    until = time.monotonic() + 60
    while working.is_running() and working.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until, "it goes on, and nobody reads what it finds"
        time.sleep(0.02)


def test_an_interruption_is_left_to_the_process_that_asked():
    work = within(Limits(seconds=60), ended_by, signal.SIGINT)
    next(work)
    assert list(work) == []
