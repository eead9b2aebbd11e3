"""Savings of shortcuts: a path of fits, the binned divergence, shrinkage from sums."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.covariance import ledoit_wolf
from sklearn.model_selection import train_test_split

from benchmarks.data import uniform
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolab.fit.protocols import Folds
from entrolearn import EEMClassifier
from entrolearn.machines import ClassMoments
from entrolearn.measures import cauchy_schwarz_kde
from entrolearn.path import Partition, path

SIZES = (50, 100, 250, 500, 1000)


def grid_search(
    n_samples: Sequence[int] = (100_000, 200_000), n_features=54, sizes: Sequence[int] = SIZES, folds=10
) -> Iterator[Race]:
    """A cross-validation of several sizes by :func:`entrolearn.path.path`, one fit, and a loop of fits.

    The one fit is of the largest size to all rows. The loop's seconds are those of one fold times the folds.
    """
    for n in n_samples:
        yield Race(
            f"{folds} folds × {len(sizes)} sizes to {max(sizes):,}, {n:,} × {n_features}",
            {
                "path": partial(on_rows, path_seconds, n, n_features, sizes, folds),
                "one fit": partial(on_rows, one_fit, n, n_features, max(sizes)),
                "a loop of fits": partial(on_rows, loop, n, n_features, sizes, folds),
            },
        )


def on_rows(work: Callable, n_samples: int, n_features: int, *arguments) -> Spent:
    """Seconds of some work on drawn rows; the last argument is the seed."""
    *arguments, seed = arguments
    return Spent(work(*uniform(n_samples, n_features, seed=seed), *arguments), math.nan, None)


def one_fit(X, y, n_hidden: int) -> float:
    """Seconds of one fit."""
    return spend(lambda: EEMClassifier(n_hidden, random_state=0).fit(X, y)).seconds


def loop(X, y, sizes: Sequence[int], folds: int) -> float:
    """Seconds of a fit for each fold and size, and of predictions for the test rows."""
    return folds * sum(one_fold(X, y, size, folds) for size in sizes)


def path_seconds(X, y, sizes: Sequence[int], folds: int) -> float:
    """Seconds of all fits of the grid on all folds, and of their predictions."""
    partition = Partition.cross_validation(Folds(folds, repeats=1).draw(y, seed=0)[0])
    grid = [{"n_hidden": size} for size in sizes]

    def work():
        for point in path(EEMClassifier(feature_range=(0, 1), random_state=0), X, y, partition, grid):
            if point.error:
                raise RuntimeError(point.error)

    return spend(work).seconds


def one_fold(X, y, n_hidden: int, folds: int) -> float:
    """Seconds of a fit without one fold and of the predictions for that fold."""
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=1 / folds, stratify=y, random_state=0)
    machine = EEMClassifier(n_hidden, random_state=0)
    return spend(lambda: machine.fit(X_train, y_train).predict(X_test)).seconds


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
