"""What the shortcuts save: a path of fits, the binned divergence, shrinkage from sums."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from sklearn.covariance import ledoit_wolf
from sklearn.model_selection import train_test_split

from benchmarks.data import uniform
from benchmarks.measure import Spent, alone, spend
from benchmarks.report import Section
from benchmarks.scaling import one_fit
from entrolab.fit.limits import Limits
from entrolab.fit.protocols import Folds
from entrolearn import EEMClassifier
from entrolearn.machines import ClassMoments
from entrolearn.measures import cauchy_schwarz_kde
from entrolearn.path import Partition, path

SIZES = (50, 100, 250, 500, 1000)


def grid_search(
    limits: Limits, n_samples: Sequence[int] = (100_000, 200_000), n_features=54, sizes=SIZES, folds=10
) -> Section:
    """A cross-validation of several sizes by :func:`entrolearn.path.path`, one fit, and a loop of fits."""
    rows = []
    for n in n_samples:
        X, y = uniform(n, n_features)
        one = alone(limits, one_fit, X, y, max(sizes)).seconds
        shared = alone(limits, path_seconds, X, y, sizes, folds)
        loop = folds * sum(alone(limits, one_fold, X, y, size, folds) for size in sizes)
        rows.append(
            {
                "N": n,
                "one fit s": one,
                "path s": shared,
                "path / one fit": shared / one,
                "loop s": loop,
                "loop / path": loop / shared,
            }
        )
    notes = [
        f"{folds} folds × {len(sizes)} sizes ({', '.join(map(str, sizes))}), d = {n_features}; one fit: the "
        f"largest size on all rows. The loop's seconds are {folds} times those of one fold, which fits each "
        "size and predicts the rows left out; the path also predicts the rows that it has seen.",
    ]
    return Section("Grid × folds", pd.DataFrame(rows).set_index("N"), notes)


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


def density(
    limits: Limits, sizes: Sequence[int] = (10_000, 100_000, 1_000_000), most_exact=10_000
) -> Section:
    """The divergence of kernel density estimates by binning, and by all pairs where these are few enough."""
    rows = [{"n": n, **alone(limits, divergence, n, n <= most_exact)} for n in sizes]
    notes = [
        "cauchy_schwarz_kde of two normal samples of n points each, means 2 apart; the error is the relative "
        f"difference from the sum over all pairs, made up to n = {most_exact:,}."
    ]
    return Section("Divergence of densities", pd.DataFrame(rows).set_index("n"), notes)


def divergence(n: int, exact: bool) -> dict:
    """Milliseconds with and without binning, and the relative difference."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(n) - 1, rng.standard_normal(n) + 1
    binned = spend(lambda: cauchy_schwarz_kde(x, y, method="binned"))
    row = {"binned ms": 1e3 * binned.seconds, "all pairs ms": np.nan, "error": np.nan}
    if exact:
        pairs = spend(lambda: cauchy_schwarz_kde(x, y, method="exact"))
        error = abs(binned.value / pairs.value - 1)
        row |= {"all pairs ms": 1e3 * pairs.seconds, "error": error}
    return row


def covariance(
    limits: Limits, shapes: Sequence[tuple[int, int]] = ((10_000, 250), (10_000, 1000), (50_000, 1000))
) -> Section:
    """Covariance and Ledoit-Wolf shrinkage of the same rows, from moments and by scikit-learn."""
    rows = []
    for n, h in shapes:
        H, _ = uniform(n, h)
        ours, theirs = (alone(limits, spent_on, estimate, H) for estimate in (by_moments, ledoit_wolf))
        (ours_shrunk, _), (theirs_shrunk, _) = ours.value, theirs.value
        largest = abs(theirs_shrunk).max()
        rows.append(
            {
                "N": n,
                "h": h,
                "moments s": ours.seconds,
                "scikit-learn s": theirs.seconds,
                "ratio": theirs.seconds / ours.seconds,
                "moments MiB": ours.mib,
                "scikit-learn MiB": theirs.mib,
                "error": abs(ours_shrunk - theirs_shrunk).max() / largest,
            }
        )
    notes = [
        "ClassMoments.from_data(H).ledoit_wolf() and sklearn.covariance.ledoit_wolf(H). Memory beyond that "
        "of H; the error is the largest difference of an entry over the largest entry."
    ]
    return Section("Covariance and shrinkage", pd.DataFrame(rows).set_index(["N", "h"]), notes)


def by_moments(H: np.ndarray) -> tuple[np.ndarray, float]:
    """The shrunk covariance of H and its shrinkage."""
    return ClassMoments.from_data(H).ledoit_wolf()


def spent_on(estimate: Callable, H: np.ndarray) -> Spent:
    """What an estimate takes, after a small one has brought in the code."""
    estimate(H[:100, :10])
    return spend(lambda: estimate(H))
