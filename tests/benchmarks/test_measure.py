"""Memory, threads and the process of one's own."""

import os
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks import measure
from benchmarks.measure import alone, measured, spend
from entrolab.io.limits import Limits

LIMITS = Limits(seconds=60)


def _blocks(mib: int) -> list[np.ndarray]:
    """Memory in pieces so small that the heap keeps them when they are freed."""
    return [np.ones(2**13) for _ in range(16 * mib)]


def _fill(mib: int) -> float:
    return spend(lambda: len(_blocks(mib))).mib


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the process starts without the parent's memory"
)
def test_memory_is_what_the_work_touches_whatever_this_process_has_freed():
    freed, kept = _blocks(100), np.ones(2**13)  # the last block keeps the heap from shrinking
    del freed
    assert alone(LIMITS, _fill, 64) == pytest.approx(64, abs=8)
    assert alone(LIMITS, _fill, 200) == pytest.approx(200, abs=8)
    assert kept.all()


def test_short_work_is_repeated_and_long_work_is_not(monkeypatch):
    calls = []
    spend(lambda: calls.append(0))
    assert len(calls) == 1
    monkeypatch.setattr(measure, "ENOUGH_SECONDS", 0.01)
    assert spend(lambda: calls.append(0)).seconds < 0.01
    assert len(calls) > 10


def _process_and_threads() -> tuple[int, set[int]]:
    return os.getpid(), {pool["num_threads"] for pool in threadpool_info()}


def test_work_has_a_process_and_one_thread_of_its_own():
    with threadpool_limits(2):
        process, threads = alone(LIMITS, _process_and_threads)
    assert process != os.getpid()
    assert threads == {1}


def _halves(number: float) -> dict:
    return {"half": number / 2, "note": "odd" if number % 2 else ""}


def _fails() -> dict:
    raise ValueError("too large")


def test_measured_values_are_the_works_and_what_is_missing_is_not_a_number():
    found = measured(LIMITS, ("half", "third"), _halves, 3)
    assert (found["half"], found["note"]) == (1.5, "odd")
    assert np.isnan(found["third"])


def test_work_that_fails_measures_nothing_and_says_why():
    found = measured(LIMITS, ("half",), _fails)
    assert np.isnan(found["half"])
    assert found["note"] == "ValueError: too large"
