"""Run work in a separate process with limits of time and memory.

A numerical library cannot be interrupted while it computes. A process can be ended at any moment, and its
memory can be limited before the whole machine runs out of memory.
"""

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
from entrolearn.path import describe

GIB = 2**30
A_DAY = 86_400.0  # seconds; the operating system waits for weeks at most


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
    process = context.Process(target=_send_all, args=(sender, limits.gib, work, arguments), daemon=True)
    deadline = time.monotonic() + limits.seconds
    process.start()
    sender.close()  # only the child holds a copy now: when it ends, the pipe is closed
    try:
        while True:
            while not receiver.poll(min(A_DAY, max(0.0, deadline - time.monotonic()))):
                if time.monotonic() >= deadline:
                    raise LimitError("time limit", f"time limit of {limits.seconds:g} s")
            what, value = _receive(receiver, process)
            if what == "end":
                return
            if what == "memory":
                allowed = "" if limits.gib is None else f" of {limits.gib:g} GiB"
                raise LimitError("memory limit", f"memory limit{allowed}: {value}")
            if what == "killed":
                raise KilledError(value)
            if what == "error":
                raise RuntimeError(value)
            yield value
    finally:
        process.kill()
        process.join()
        receiver.close()


def _receive(receiver: Connection, process) -> tuple:
    try:
        return receiver.recv()
    except (EOFError, OSError):  # at its end, or in the middle of a message
        process.join()
        code = process.exitcode
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        if -code in FROM_OUTSIDE:
            return "killed", (
                f"the computing process was killed ({how}), perhaps because the system ran out of memory: "
                "run again, in that case with fewer jobs at once (--cores) or a smaller limit_gib"
            )
        return "error", f"the process ended without a result ({how})"


def _send_all(sender: Connection, gib: float | None, work: Callable[..., Iterable], arguments: tuple) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Ctrl-C reaches this process too, but the parent ends it, also when the parent itself ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if gib is not None:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = int(gib * GIB)
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))
    try:
        for value in work(*arguments):
            sender.send(("value", value))
        sender.send(("end", None))
    except MemoryError as error:
        sender.send(("memory", describe(error)))
    except Exception as error:  # noqa: BLE001  sent to the parent
        sender.send(("error", describe(error)))


def _end_with_parent() -> None:
    """End this process when its parent has been killed."""
    multiprocessing.parent_process().join()
    os._exit(1)
