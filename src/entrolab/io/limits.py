"""Limits of time and memory of a process, and work in a separate process within them.

A numerical library cannot be interrupted while it computes. A process can be ended at any moment, and its
memory can be limited before the whole machine runs out of memory.
"""

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection

from entrolab.text import Told

GIB = 2**30
PR_SET_PDEATHSIG = 1  # of linux/prctl.h
PRCTL = getattr(ctypes.CDLL(None), "prctl", None)  # only Linux has it


@dataclass(frozen=True)
class Limits:
    """Limits of wall-clock time and memory; None: no limit of memory."""

    seconds: float
    gib: float | None = None

    @classmethod
    def of(cls, resources) -> "Limits":
        """The limits that are resources of a rule."""
        return cls(resources.limit_seconds, resources.limit_mebibytes / 1024)


# Signals with which other processes end a process.
FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


class LimitError(Told):
    """Raised if the work reaches a limit; `status` is "time limit" or "memory limit"."""

    def __init__(self, status: str, message: str):
        super().__init__(message)
        self.status = status


class KilledError(Told):
    """Raised if the process of the work was killed from outside."""


def hold_to(limits: Limits) -> None:
    """Limit this process: more memory raises MemoryError, and SIGALRM ends it when its time is up.

    On macOS, the system does not enforce the limit of memory.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, max(limits.seconds, 1e-6))  # with 0 it would never ring
    if limits.gib is not None:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = int(limits.gib * GIB)
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


def end_with(parent: int) -> None:
    """Let this process be killed when its parent ends, however that ends; `parent` is the parent's id.

    The kernel does so on Linux, at once and whatever this process computes; elsewhere, a thread watches.
    """
    if PRCTL is None:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
        return
    PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os.kill(os.getpid(), signal.SIGKILL)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def ending(code: int, seconds: float) -> Exception:
    """The error that says how a process with a time limit ended without a result, from its exit code."""
    if code == -signal.SIGALRM:
        return LimitError("time limit", f"time limit of {seconds:g} s")
    how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    if -code not in FROM_OUTSIDE:
        return RuntimeError(f"the process ended without a result ({how})")
    return KilledError(
        f"the computing process was killed ({how}), perhaps because the system ran out of memory: run again, "
        "in that case with fewer jobs at once (--cores) or a smaller limit_gib"
    )


def within(limits: Limits, work: Callable[..., Iterable], *arguments) -> Iterator:
    """Yield what ``work(*arguments)`` yields, as long as it stays within limits.

    `work` is a module-level function, so that another process can find it. Its arguments and results are
    copied.

    Raises
    ------
    LimitError
        If the time is up or memory is refused. Everything yielded before has been received.
    KilledError
        If the process was killed from outside.
    RuntimeError
        If the work raised any other error, or ended its process.
    """
    # A fork takes milliseconds, a new interpreter seconds; on Linux, forking is safe with these libraries.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (os.getpid(), sender, limits, work, arguments)
    process = context.Process(target=_send_all, args=arguments, daemon=True)
    process.start()
    sender.close()  # only the child holds a copy now: when it ends, the pipe is closed
    try:
        while True:
            try:
                what, value = receiver.recv()
            except (EOFError, OSError):  # at its end, or in the middle of a message
                process.join()
                raise ending(process.exitcode, limits.seconds) from None
            if what == "end":
                return
            if what == "memory":
                allowed = "" if limits.gib is None else f" of {limits.gib:g} GiB"
                raise LimitError("memory limit", f"memory limit{allowed}: {value}")
            if what == "error":
                raise RuntimeError(value)
            yield value
    finally:
        process.kill()
        process.join()
        receiver.close()


def _send_all(
    parent: int, sender: Connection, limits: Limits, work: Callable[..., Iterable], arguments: tuple
) -> None:
    from entrolearn.path import (
        describe,  # here, because it imports scikit-learn, which a workflow does not need
    )

    end_with(parent)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Ctrl-C reaches this process too, but the parent ends it, also when the parent itself ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hold_to(limits)
    try:
        for value in work(*arguments):
            sender.send(("value", value))
        sender.send(("end", None))
    except MemoryError as error:
        sender.send(("memory", describe(error)))
    except Exception as error:  # noqa: BLE001  sent to the parent
        sender.send(("error", describe(error)))
