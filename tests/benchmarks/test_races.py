"""Races: who is measured, what is a ratio, what its interval."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from benchmarks.measure import Spent
from benchmarks.races import Race, compared, interval, run
from entrolab.io.limits import Limits

LIMITS = Limits(seconds=30)


def taking(*seconds: float, result: float = 1.0):
    """A way that says that it takes so long in each round."""
    return lambda number: Spent(seconds[number], 8.0, result)


def fails(number):
    if number:
        raise ValueError("not twice")
    return Spent(1.0, 0.0, None)


def absent(number):
    import no_such_package  # noqa: F401


def measured(race: Race, rounds: int) -> pd.DataFrame:
    return compared(pd.DataFrame(run([race], LIMITS, rounds)))


def test_ratios_are_paired_by_round_and_above_one_where_we_are_quicker():
    ways = {
        "ours": taking(1.0, 2.0, 4.0),
        "slow": taking(3.0, 6.0, 12.0, result=2.0),
        "quick": taking(0.5, 1.0, 4.0),
    }
    table = measured(Race("work", ways, "loss"), 3).set_index("peer")
    assert table.loc["slow", ["ratio", "low", "high"]].to_numpy(float) == pytest.approx(3)
    quick = table.loc["quick"]
    assert quick["ratio"] == pytest.approx(2 ** (-2 / 3))
    assert quick["low"] < 0.5 < quick["ratio"] < 1 < quick["high"]
    medians = table.loc["slow", ["our_spent", "peer_spent", "our_result", "peer_result"]]
    assert medians.tolist() == [2, 6, 1, 2]
    assert (table["rounds"] == 3).all()


def test_a_way_that_fails_has_its_reason_and_no_numbers():
    ways = {"ours": taking(1.0, 1.0), "fails": fails, "absent": absent}
    table = measured(Race("work", ways), 2).set_index("peer")
    assert table.loc["fails", "note"] == "fails: ValueError: not twice"
    assert "no_such_package" in table.loc["absent", "note"]
    assert table[["peer_spent", "peer_result", "ratio"]].isna().all(axis=None)
    assert (table["our_spent"] == 1).all()


def forever(number):
    while True:
        pass


def test_a_way_over_the_limit_of_processor_seconds_is_not_asked_again():
    rows = run([Race("work", {"busy": forever})], Limits(seconds=0.1), 3)
    assert [row["note"] for row in rows] == ["busy: over 0.1 s"]


def test_memory_is_compared_where_that_is_the_unit():
    ways = {"ours": lambda number: Spent(1.0, 4.0, None), "theirs": lambda number: Spent(9.0, 12.0, None)}
    (row,) = measured(Race("work", ways, unit="MiB"), 1).to_dict("records")
    assert (row["our_spent"], row["peer_spent"], row["ratio"]) == pytest.approx((4, 12, 3))
    assert math.isnan(row["low"])


def test_interval_is_that_of_a_t_test():
    values = np.random.default_rng(0).normal(1, 2, 7)
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert interval(values) == pytest.approx((values.mean(), low, high))
    assert np.isnan(interval([])).all()
