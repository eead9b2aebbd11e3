"""Seconds and memory of one piece of work, in a process of its own on one thread."""

import contextlib
import ctypes
import logging
import math
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from entrolab.fit.limits import LimitError, Limits, within

logger = logging.getLogger(__name__)

# Short work is repeated until this many seconds are spent on it; its median counts.
ENOUGH_SECONDS = 0.2

# What ru_maxrss counts in.
RSS_UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


@dataclass(frozen=True)
class Spent:
    """What a piece of work took.

    Attributes
    ----------
    seconds : float
        Processor seconds; on one thread those are the seconds of a clock, less what other processes took.
    mib : float
        Peak of the resident memory during the first call, in MiB, beyond the peak before.
    value : object
        What the last call returned.
    """

    seconds: float
    mib: float
    value: object


def spend(work: Callable[[], object]) -> Spent:
    """Do the work, several times over where it is short, and say what one time takes.

    The memory is right in a process that has done nothing larger before: see :func:`alone`, which gives
    the work its data ready made.
    """
    before = _peak_mib()
    seconds, mib = [], 0.0
    while sum(seconds) < ENOUGH_SECONDS or not seconds:
        start = time.process_time()
        value = work()
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            mib = _peak_mib() - before
    return Spent(statistics.median(seconds), mib, value)


def alone(limits: Limits, work: Callable, *arguments):
    """The value of ``work(*arguments)``, from a process of its own that has one thread for BLAS and OpenMP.

    Raises
    ------
    LimitError
        If a limit is reached.
    RuntimeError
        If the work fails; the text says how.
    """
    _give_free_memory_back()
    (value,) = within(limits, _on_one_thread, work, arguments)
    return value


def measured(limits: Limits, columns: Iterable[str], work: Callable, *arguments) -> dict:
    """The values of ``work(*arguments)``, alone; NaN in all columns and the reason as a note where it fails.

    Parameters
    ----------
    limits : Limits
    columns : iterable of str
        What the work measures.
    work : callable
        Returns a dict of some of them, and may add a note.
    """
    nothing = dict.fromkeys(columns, math.nan)
    try:
        return nothing | {"note": ""} | alone(limits, work, *arguments)
    except (LimitError, RuntimeError) as error:
        logger.info("%s", error)
        return nothing | {"note": str(error)}


def _on_one_thread(work: Callable, arguments: tuple):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield work(*arguments)


def _give_free_memory_back() -> None:
    """What this process has freed but kept, its child would inherit and use: memory that nobody would see."""
    with contextlib.suppress(AttributeError):  # only glibc keeps much, and only glibc has the call
        ctypes.CDLL(None).malloc_trim(0)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / RSS_UNITS_PER_MIB
