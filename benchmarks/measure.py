"""Measure seconds and memory of work in a separate process on one thread."""

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

from entrolab.io.limits import LimitError, Limits, within

logger = logging.getLogger(__name__)

# Short work is repeated for at least this many seconds; the median is reported.
ENOUGH_SECONDS = 0.2

# Units of ru_maxrss per MiB.
RSS_UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


@dataclass(frozen=True)
class Spent:
    """The cost of a piece of work."""

    seconds: float  # of the processor; on one thread, wall-clock seconds without the time of other processes
    mib: float  # peak of the resident memory during the first call, in MiB, minus the peak before
    value: object  # the result of the last call


def spend(work: Callable[[], object]) -> Spent:
    """Run the work, several times if it is short, and return the cost of one call.

    The memory is only correct in a process that has not used more before, see :func:`alone`, which passes
    ready-made data to the work.
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


def wall_seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alone(limits: Limits, work: Callable, *arguments):
    """The value of ``work(*arguments)``, run in a separate process with one thread for BLAS and OpenMP.

    A reached limit raises `LimitError`; work that fails, a RuntimeError with the message of its error.
    """
    _give_free_memory_back()
    (value,) = within(limits, _on_one_thread, work, arguments)
    return value


def measured(limits: Limits, columns: Iterable[str], work: Callable, *arguments) -> dict:
    """The values of ``work(*arguments)`` by :func:`alone`; if it fails, NaN in all columns, and a note.

    The work returns a dict with some of the columns, and may add a note.
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
    """Return freed memory to the system, because a child process would reuse it unmeasured."""
    with contextlib.suppress(AttributeError):  # only glibc retains much memory, and only glibc has the call
        ctypes.CDLL(None).malloc_trim(0)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / RSS_UNITS_PER_MIB
