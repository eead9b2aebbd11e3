"""Work in a process of its own: what ends it, and what it ends with."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from entrolab.fit import limits
from entrolab.fit.limits import KilledError, LimitError, Limits, within


def ended_by(number):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
    yield os.getpid()
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_work_that_is_ended_from_outside_is_no_result(number):
    work = within(Limits(seconds=3600), ended_by, number)
    next(work)
    with pytest.raises(KilledError, match=rf"was killed \({number.name}\).*run again"):
        next(work)


def ended_while_sending():
    yield os.getpid()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()
    yield bytes(2**22)  # more than a pipe holds


def test_work_that_is_ended_while_it_sends_is_no_result():
    work = within(Limits(seconds=3600), ended_while_sending)
    working = psutil.Process(next(work))
    until = time.monotonic() + 60
    while working.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.02)
    with pytest.raises(KilledError, match="was killed"):
        next(work)


def test_a_limit_of_years_is_waited_for_in_parts(monkeypatch):
    assert list(within(Limits(seconds=1e9), lambda: [1])) == [1]
    monkeypatch.setattr(limits, "A_DAY", 0.1, raising=False)
    assert list(within(Limits(seconds=60), lambda: [time.sleep(0.5)])) == [None]
    with pytest.raises(LimitError, match=r"time limit of 0.5 s"):
        list(within(Limits(seconds=0.5), lambda: [time.sleep(60)]))


UNDER_A_HARD_LIMIT = """
import resource
from entrolab.fit.limits import Limits, within

resource.setrlimit(resource.RLIMIT_DATA, (4 * 2**30, 4 * 2**30))
print(list(within(Limits(seconds=3600, gib=8), lambda: [1])))
"""


def test_a_limit_of_memory_above_the_systems_own_is_that():
    done = subprocess.run([sys.executable, "-c", UNDER_A_HARD_LIMIT], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[1]\n", "")


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
    work = within(Limits(seconds=3600), ended_by, signal.SIGINT)
    next(work)
    assert list(work) == []
