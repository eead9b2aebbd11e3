"""Work in a process of its own under limits of time and memory.

A numerical library cannot be interrupted while it computes: only a process can be ended at any moment, and
refused memory before the whole machine runs out of it.
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


@dataclass(frozen=True)
class Limits:
    """The wall-clock time and the memory that a piece of work may take; None: all memory."""

    seconds: float
    gib: float | None = None


# Signals by which others end a process.
FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


class LimitError(Told):
    """The work has reached a limit; `status` says which: "time limit" or "memory limit"."""

    def __init__(self, status: str, message: str):
        super().__init__(message)
        self.status = status


class KilledError(Told):
    """The process of the work was ended from outside."""


def within(limits: Limits, work: Callable[..., Iterable], *arguments) -> Iterator:
    """Yield what ``work(*arguments)`` yields, as long as it stays within limits.

    Parameters
    ----------
    limits : Limits
    work : callable
        Of a module, so that another process can find it. Its arguments and what it yields are copied.

    Raises
    ------
    LimitError
        When the time is up or memory is refused. Everything yielded so far has arrived.
    KilledError
        If its process was ended from outside.
    RuntimeError
        If the work raised any other error, or ended its process.
    """
    # A fork takes milliseconds, a new interpreter seconds; on Linux the libraries are safe to fork.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_all, args=(sender, limits.gib, work, arguments), daemon=True)
    deadline = time.monotonic() + limits.seconds
    process.start()
    sender.close()  # the process holds the other copy: when it ends, the pipe does
    try:
        while True:
            if not receiver.poll(max(0.0, deadline - time.monotonic())):
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
    except EOFError:
        process.join()
        code = process.exitcode
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        if -code in FROM_OUTSIDE:
            return "killed", (
                f"the process that computes was killed ({how}), as by a system that runs out of memory: run "
                "again, with fewer jobs at once (--cores) or a smaller limit_gib if that was it"
            )
        return "error", f"the process ended without a result ({how})"


def _send_all(sender: Connection, gib: float | None, work: Callable[..., Iterable], arguments: tuple) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Ctrl-C reaches this process too; the one that asked ends it, as whatever ends that one does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if gib is not None:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (int(gib * GIB), most))
    try:
        for value in work(*arguments):
            sender.send(("value", value))
        sender.send(("end", None))
    except MemoryError as error:
        sender.send(("memory", describe(error)))
    except Exception as error:  # noqa: BLE001  told to the process that asked
        sender.send(("error", describe(error)))


def _end_with_parent() -> None:
    """End this process when its parent has been killed."""
    multiprocessing.parent_process().join()
    os._exit(1)
