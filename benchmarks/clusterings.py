"""Clusterings: cross-entropy clustering, centroids compared with KMeans, known clusters with peers."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import CrossEntropyClustering
from entrolearn.cluster import CrossEntropyMethodClustering
from entrolearn.cluster.gaussians import FullClusters
from entrolearn.cluster.hartigan import HartiganSearch

# --- moves of rows ------------------------------------------------------------------------------------

SIZES = (200, 500, 1000, 5000, 20_000)


def moves(sizes: Sequence[int] = SIZES, n_features=5, n_clusters=5, most_refitted=2000) -> Iterator[Race]:
    """Searches of cross-entropy clustering: rank-one changes, passes that move many rows at once, and
    covariances computed again for each move.
    """
    for n in sizes:
        shape = (n, n_features, n_clusters)
        ways = {
            "moves at once": partial(search, FullClusters, *shape, True),
            "rank-one moves": partial(search, FullClusters, *shape, False),
        }
        if n <= most_refitted:
            ways["covariances anew"] = partial(search, RefittedClusters, *shape, False)
        yield Race(f"search, {n:,} rows, {n_features} features, {n_clusters} clusters", ways, "energy")


def search(clusters_of: Callable, *how) -> Spent:
    """Seconds of a search and its final energy; `how` are arguments of :func:`searched`."""
    spent = searched(clusters_of, *how)
    return Spent(spent.seconds, math.nan, spent.value.energies[-1])


def searched(
    clusters_of: Callable, n_samples: int, n_features: int, n_clusters: int, together=False, seed=0
) -> Spent:
    """Cost of a search, and the search."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_clusters, size=n_samples)
    shapes = rng.standard_normal((n_clusters, n_features, n_features))
    X = 2.0 * rng.standard_normal((n_clusters, n_features))[y]
    X += np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((n_samples, n_features)))
    # Half of the labels are right, so that moves are needed but no cluster vanishes in the first pass.
    start = np.where(rng.random(n_samples) < 0.5, y, rng.integers(n_clusters, size=n_samples))

    def work() -> HartiganSearch:
        clusters = clusters_of(X, start, np.full(n_features, 1e-6 * n_samples))
        search = HartiganSearch(
            X, start.copy(), clusters, least_rows=n_features + 2, merge=True, together=together
        )
        return search.run(100, np.random.RandomState(0))

    return spend(work)


class RefittedClusters:
    """:class:`~entrolearn.cluster.gaussians.FullClusters`, computed from the rows of clusters each time."""

    def __init__(self, X: np.ndarray, labels: np.ndarray, prior: np.ndarray):
        self.n_samples = len(X)
        self._prior = prior
        self.refit(X, labels)

    def refit(self, X: np.ndarray, labels: np.ndarray) -> None:
        self._rows = [X[labels == k] for k in range(labels.max() + 1)]

    @property
    def n_clusters(self) -> int:
        return len(self._rows)

    @property
    def counts(self) -> np.ndarray:
        return np.array([len(rows) for rows in self._rows])

    @property
    def means(self) -> np.ndarray:
        return np.array([rows.mean(axis=0) for rows in self._rows])

    @property
    def energy(self) -> float:
        return sum(map(self._energy, self._rows))

    def _energy(self, rows: np.ndarray) -> float:
        covariance = np.cov(rows.T, ddof=0) + np.diag(self._prior) / len(rows)
        entropy = 0.5 * np.linalg.slogdet(2 * math.pi * math.e * covariance)[1]
        share = len(rows) / self.n_samples
        return share * (entropy - math.log(share))

    def changes(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        changes = self.additions(X)
        for i, k in enumerate(labels):
            changes[:, i] += self._energy(self._without(X[i], k)) - self._energy(self._rows[k])
            changes[k, i] = 0.0
        return changes

    def changes_of_row(self, row: np.ndarray, label: int) -> np.ndarray:
        return self.changes(row[np.newaxis], np.array([label]))[:, 0]

    def additions(self, X: np.ndarray) -> np.ndarray:
        energies = np.array([[self._energy(np.vstack([rows, x])) for x in X] for rows in self._rows])
        return energies - np.array([[self._energy(rows)] for rows in self._rows])

    def mergers(self) -> np.ndarray:
        changes = np.full((self.n_clusters, self.n_clusters), np.inf)
        for pair in combinations(range(self.n_clusters), 2):
            one, other = (self._rows[k] for k in pair)
            changes[pair] = self._energy(np.vstack([one, other])) - self._energy(one) - self._energy(other)
        return changes

    def add(self, row: np.ndarray, k: int) -> None:
        self._rows[k] = np.vstack([self._rows[k], row])

    def remove(self, row: np.ndarray, k: int) -> None:
        self._rows[k] = self._without(row, k)

    def _without(self, row: np.ndarray, k: int) -> np.ndarray:
        (found, *_) = np.flatnonzero((self._rows[k] == row).all(axis=1))
        return np.delete(self._rows[k], found, axis=0)

    def drop(self, k: int) -> None:
        del self._rows[k]


# --- centroids ----------------------------------------------------------------------------------------

# Data set -> rows and number of centroids.
SETS: dict[str, tuple[Callable[[], np.ndarray], int]] = {
    "iris": (lambda: load_iris().data, 3),
    "wine": (lambda: StandardScaler().fit_transform(load_wine().data), 3),
    "8 blobs": (lambda: make_blobs(1000, centers=8, random_state=0)[0], 8),
}
NEAR = 1e-3  # relative tolerance within which inertias count as equal
SURE = 0.99  # required probability that some start of KMeans is within that tolerance


def centroids(sets: Sequence[str] = tuple(SETS), n_starts=200, n_searches=5) -> Iterator[Race]:
    """The cross-entropy method, and as many starts of KMeans as needed for the same inertia."""
    for name in sets:
        yield Race(
            f"{name}: centroids",
            {
                "CrossEntropyMethodClustering": partial(one_search, name, n_searches),
                "KMeans, as many starts as come as near": partial(enough_starts, name, n_starts),
            },
            "inertia",
        )


def one_search(name: str, n_searches: int, seed: int) -> Spent:
    """Seconds of a search, and the median inertia of several."""
    load, n_clusters = SETS[name]
    X = load()
    seeds = range(n_searches * seed, n_searches * (seed + 1))
    spent = spend(partial(inertias, CrossEntropyMethodClustering(n_clusters), X, seeds))
    return replace(spent, seconds=spent.seconds / n_searches, value=np.median(spent.value))


def enough_starts(name: str, n_starts: int, seed: int) -> Spent:
    """Seconds of the starts (k-means++, n_init=1) needed for an inertia within 0.1 % of the least."""
    load, n_clusters = SETS[name]
    X = load()
    seeds = range(n_starts * seed, n_starts * (seed + 1))
    spent = spend(partial(inertias, KMeans(n_clusters, n_init=1), X, seeds))
    least = min(spent.value)
    share = np.mean(np.array(spent.value) <= least * (1 + NEAR))
    return replace(spent, seconds=starts_for(share) * spent.seconds / n_starts, value=least)


def inertias(clusterer, X: np.ndarray, seeds: Sequence[int]) -> list[float]:
    """The inertias of fits with different seeds."""
    return [clusterer.set_params(random_state=seed).fit(X).inertia_ for seed in seeds]


def starts_for(share: float) -> float:
    """The number of starts, each successful with probability `share`, for one success with :data:`SURE`.

    Examples
    --------
    >>> [starts_for(share) for share in (1.0, 0.9, 0.5, 0.0)]
    [1, 2, 7, inf]
    """
    if share in (0, 1):
        return 1 if share else math.inf
    return math.ceil(round(math.log(1 - SURE) / math.log1p(-share), 9))


# --- known clusters -----------------------------------------------------------------------------------

# Rows, features, clusters, and the deviation of the means in units of that of the rows.
KNOWN = ((2000, 2, 4, 4.0), (10_000, 2, 4, 4.0), (10_000, 5, 5, 2.0), (20_000, 5, 5, 2.0))
MOST_CLUSTERS = 10


def known(sizes: Sequence[tuple] = KNOWN) -> Iterator[Race]:
    """Cross-entropy clustering, which finds the number of clusters, compared with scikit-learn."""
    for n, k, n_clusters, apart in sizes:
        ways = {name: partial(clustered, name, n, k, n_clusters, apart) for name in CLUSTERERS}
        yield Race(f"{n:,} rows, {k} features, {n_clusters} Gaussians", ways, "adjusted Rand index")


# Name -> function of the number of rows, the number of clusters and a seed.
CLUSTERERS: dict[str, Callable[[int, int, int], BaseEstimator]] = {
    "CrossEntropyClustering": lambda n, k, seed: CrossEntropyClustering(MOST_CLUSTERS, random_state=seed),
    "GaussianMixture, told the number, n_init=5": lambda n, k, seed: GaussianMixture(
        k, n_init=5, random_state=seed
    ),
    "GaussianMixture, told the number, n_init=1": lambda n, k, seed: GaussianMixture(k, random_state=seed),
    "GaussianMixture, the number by BIC, n_init=5": lambda n, k, seed: ByBIC(seed),
    "HDBSCAN, clusters of N / 50 rows": lambda n, k, seed: HDBSCAN(min_cluster_size=n // 50, copy=False),
}


@dataclass(frozen=True)
class ByBIC:
    """A Gaussian mixture with the number of components, up to that of cross-entropy clustering, by BIC."""

    seed: int

    def fit_predict(self, X: np.ndarray) -> np.ndarray:
        """The cluster of each row."""
        sizes = range(1, MOST_CLUSTERS + 1)
        mixtures = [GaussianMixture(k, n_init=5, random_state=self.seed).fit(X) for k in sizes]
        return min(mixtures, key=lambda mixture: mixture.bic(X)).predict(X)


def clustered(name: str, n: int, n_features: int, n_clusters: int, apart: float, seed: int) -> Spent:
    """Seconds of a clustering, and its adjusted Rand index with the true clusters."""
    X, y = gaussians(n, n_features, n_clusters, apart, seed)
    spent = spend(lambda: CLUSTERERS[name](n, n_clusters, seed).fit_predict(X))
    return replace(spent, value=adjusted_rand_score(y, spent.value))


def gaussians(n: int, n_features: int, n_clusters: int, apart: float, seed: int) -> tuple:
    """Rows of Gaussians with different covariances, and the Gaussian of each row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_clusters, size=n)
    shapes = rng.standard_normal((n_clusters, n_features, n_features))
    shapes /= np.linalg.norm(shapes, axis=(1, 2), keepdims=True) / np.sqrt(n_features)
    means = apart * rng.standard_normal((n_clusters, n_features))
    return means[y] + np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((n, n_features))), y
