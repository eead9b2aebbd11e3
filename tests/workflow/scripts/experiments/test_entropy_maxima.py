"""Distributions of maximum entropy: rows of every one, and closed forms against known numbers."""

import math

import pytest
from measured_scripts import measured, script


def test_entropies_are_those_of_the_closed_forms():
    rows = measured("entropy_maxima", means=[3.5, 5.5], scales=[2])
    found = {(row["reading"], row["metric"]): row["value"] for row in rows}
    places = ["die_3.5", "die_5.5", "normal_2", "exponential_2", "laplace_2"]
    assert [*found] == [(place, metric) for place in places for metric in ("value", "exact", "difference")]
    assert max(found[place, "difference"] for place in places) < 1e-9
    exact = [found[place, "exact"] for place in places]
    assert exact[0] == pytest.approx(math.log(6))
    assert exact[2:] == pytest.approx(
        [0.5 * math.log(8 * math.pi * math.e), 1 + math.log(2), 1 + math.log(4)]
    )


def test_the_entropy_of_jaynes_die():
    """Of a die with mean 4.5, Jaynes (1978) gives 0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749."""
    p = [0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749]
    entropy = -sum(one * math.log(one) for one in p)
    assert script("entropy_maxima").entropy_of_die(4.5) == pytest.approx(entropy, abs=1e-4)
    assert script("entropy_maxima").entropy_of_die(2.5) == pytest.approx(entropy, abs=1e-4)  # by symmetry
