"""Limits of a process, work in a process of its own: what ends it, and what it ends with."""

import os
import resource
import signal
import threading
import time

import psutil
import pytest

from entrolab.io import limits
from entrolab.io.limits import KilledError, LimitError, Limits, hold_to, within


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


def test_a_limit_may_be_of_years():
    assert list(within(Limits(seconds=1e9), lambda: [1])) == [1]


def computes_on(numbers):
    yield from numbers
    signal.setitimer(signal.ITIMER_REAL, 0.01)  # of an hour, so much is left
    sum(range(10**12))  # holds the interpreter: no handler of Python would be called


def test_work_ends_when_its_time_is_up_and_what_it_yielded_before_is_kept():
    found = within(Limits(seconds=3600), computes_on, [1, 2])
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(LimitError, match="^time limit of 3600 s$") as caught:
        next(found)
    assert caught.value.status == "time limit"


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_may_be_left(seconds):
    with pytest.raises(LimitError, match=f"^time limit of {seconds} s$"):
        list(within(Limits(seconds), lambda: [time.sleep(600)]))


def memory_allowed(own):
    resource.setrlimit(resource.RLIMIT_DATA, (own, own))
    hold_to(Limits(seconds=3600, gib=8))
    yield resource.getrlimit(resource.RLIMIT_DATA)


def test_a_limit_of_memory_above_the_systems_own_is_that():
    own = 4 * 2**30
    assert list(within(Limits(seconds=3600), memory_allowed, own)) == [(own, own)]


@pytest.mark.parametrize("prctl", [limits.PRCTL, None], ids=["the kernel ends it", "a thread ends it"])
@pytest.mark.parametrize("ends", ["after", "before"])
def test_a_process_ends_with_its_parent(monkeypatch, prctl, ends):
    """Whether the parent is killed before or after the process asks for it; as without Linux's prctl."""
    monkeypatch.setattr(limits, "PRCTL", prctl)
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        parent = os.getpid()
        if os.fork() == 0:
            if ends == "before":
                os.kill(parent, signal.SIGKILL)
            limits.end_with(parent)
            os.write(writer, b"begun")
            time.sleep(600)
        signal.pause()
    os.close(writer)
    if ends == "after":
        assert os.read(reader, 5) == b"begun"
        os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    while os.read(reader, 5):  # to its end: nobody holds the other one any more
        pass
    os.close(reader)


def test_an_interruption_is_left_to_the_process_that_asked():
    work = within(Limits(seconds=3600), ended_by, signal.SIGINT)
    next(work)
    assert list(work) == []
