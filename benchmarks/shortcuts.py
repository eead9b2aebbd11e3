"""Savings of shortcuts: the binned divergence, shrinkage from sums."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.covariance import ledoit_wolf

from benchmarks.data import uniform
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn.machines import ClassMoments
from entrolearn.measures import cauchy_schwarz_kde


def density(sizes: Sequence[int] = (10_000, 100_000, 1_000_000), most_exact=10_000) -> Iterator[Race]:
    """cauchy_schwarz_kde of two normal samples 2 apart, by binning and by all pairs of few points."""
    for n in sizes:
        methods = {"binned": "binned"} | ({"all pairs": "exact"} if n <= most_exact else {})
        ways = {name: partial(divergence, n, method) for name, method in methods.items()}
        yield Race(f"cauchy_schwarz_kde, 2 × {n:,} points", ways, "divergence")


def divergence(n: int, method: str, seed: int) -> Spent:
    """The divergence of two samples."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(n) - 1, rng.standard_normal(n) + 1
    return spend(lambda: cauchy_schwarz_kde(x, y, method=method))


def covariance(
    shapes: Sequence[tuple[int, int]] = ((10_000, 250), (10_000, 1000), (50_000, 1000)),
) -> Iterator[Race]:
    """Covariance and Ledoit-Wolf shrinkage of the same rows, from moments and by scikit-learn."""
    for n, h in shapes:
        ways = {
            name: partial(shrunk, estimate, n, h)
            for name, estimate in (("ClassMoments.ledoit_wolf", by_moments), ("ledoit_wolf", ledoit_wolf))
        }
        yield Race(f"Ledoit-Wolf, {n:,} × {h:,}", ways, "1000 × shrinkage")


def by_moments(H: np.ndarray) -> tuple[np.ndarray, float]:
    """The shrunk covariance of H and its shrinkage."""
    return ClassMoments.from_data(H).ledoit_wolf()


def shrunk(estimate: Callable, n: int, h: int, seed: int) -> Spent:
    """Cost of an estimate, after a small one has loaded the code, and its shrinkage."""
    H, _ = uniform(n, h, seed=seed)
    estimate(H[:100, :10])
    spent = spend(lambda: estimate(H))
    return replace(spent, value=1000 * spent.value[1])
