"""Kernel densities in one and two dimensions: by interpolation, by all pairs, and by scikit-learn's trees."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.covariance import ledoit_wolf
from sklearn.neighbors import KernelDensity

from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import KDEClassifier
from entrolearn.measures import kde_entropy, silverman_bandwidth, silverman_factor

WAYS = {"binned": "binned", "all pairs": "exact"}
TREE = "KernelDensity, a tree, rtol=1e-6"


def races(sizes: Sequence[int] = (2000, 20_000)) -> Iterator[Race]:
    """The entropy of a sample, and a classifier's log odds of as many rows as it was fitted to."""
    for n in sizes:
        ways = {name: partial(entropy, n, method) for name, method in WAYS.items()}
        yield Race(f"kde_entropy, {n:,} rows", ways | {TREE: partial(tree_entropy, n)}, "nats")
        for k in (1, 2):
            ways = {name: partial(classifier, n, k, method) for name, method in WAYS.items()}
            ways[TREE] = partial(tree_classifier, n, k)
            yield Race(f"KDEClassifier, {n:,} rows, {k} feature{'s' * (k > 1)}", ways, "accuracy %")


def entropy(n: int, method: str, seed: int) -> Spent:
    """The entropy of a Gaussian sample."""
    x = np.random.default_rng(seed).normal(size=n)
    return spend(lambda: kde_entropy(x, method=method))


def tree_entropy(n: int, seed: int) -> Spent:
    """The same by scikit-learn; as in ours, a row's own kernel is removed from its density."""
    x = np.random.default_rng(seed).normal(size=(n, 1))
    h = silverman_bandwidth(x[:, 0])
    spent = spend(lambda: log_density(x, x, h))
    own = 1 / (np.sqrt(2 * np.pi) * h)
    return replace(spent, value=-np.log((n * np.exp(spent.value) - own) / (n - 1)).mean())


def two_classes(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, labels and test rows of two Gaussian classes with means one apart in each feature."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X, Z = (rng.normal(size=(n, k)) + y[:, None] for _ in range(2))
    return X, y, Z


def classifier(n: int, k: int, method: str, seed: int) -> Spent:
    """Log odds of n rows."""
    X, y, Z = two_classes(n, k, seed)
    machine = KDEClassifier(method=method).fit(X, y)
    spent = spend(lambda: machine.decision_function(Z))
    return replace(spent, value=100 * np.mean((spent.value > 0) == y))


def tree_classifier(n: int, k: int, seed: int) -> Spent:
    """The same rule by scikit-learn's density of each class."""
    X, y, Z = two_classes(n, k, seed)
    spent = spend(lambda: whitened(X[y == 1], Z) - whitened(X[y == 0], Z))
    return replace(spent, value=100 * np.mean((spent.value > 0) == y))


def whitened(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Log density at Z, with a kernel shaped like the covariance of X."""
    factor = np.linalg.cholesky(ledoit_wolf(X)[0])
    X, Z = (solve_triangular(factor, rows.T, lower=True).T for rows in (X, Z))
    return log_density(X, Z, silverman_factor(*X.shape)) - np.log(np.diag(factor)).sum()


def log_density(X: np.ndarray, Z: np.ndarray, bandwidth: float) -> np.ndarray:
    """Log density at Z with a round kernel, by scikit-learn's tree."""
    return KernelDensity(bandwidth=bandwidth, rtol=1e-6).fit(X).score_samples(Z)
