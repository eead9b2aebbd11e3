"""Clusterings: what rank-one changes save, and centroids by the cross-entropy method beside KMeans."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import alone, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import CrossEntropyMethodClustering
from entrolearn.cluster.gaussians import FullClusters
from entrolearn.cluster.hartigan import HartiganSearch

# --- moves of rows ------------------------------------------------------------------------------------

SIZES = (200, 500, 1000, 5000, 20_000)


def moves(
    limits: Limits,
    sizes: Sequence[int] = SIZES,
    n_features=5,
    n_clusters=5,
    most_refitted=2000,
) -> Section:
    """A search of cross-entropy clustering by rank-one changes, and by covariances computed anew."""
    rows = []
    for n in sizes:
        found = alone(limits, searched, FullClusters, n, n_features, n_clusters)
        row = {"N": n, **{name: found[name] for name in ("s", "passes", "clusters", "energy")}}
        if n <= most_refitted:
            twin = alone(limits, searched, RefittedClusters, n, n_features, n_clusters)
            row["refitted ×"] = twin["s"] / found["s"]
            row["energy: difference"] = abs(twin["energy"] - found["energy"])
            row["other labels"] = np.count_nonzero(twin["labels"] != found["labels"])
        quick = alone(limits, searched, FullClusters, n, n_features, n_clusters, True)
        row["together: share of s"] = quick["s"] / found["s"]
        row["together: energy"] = quick["energy"] - found["energy"]
        row["together: other rows"] = np.count_nonzero(quick["labels"] != found["labels"])
        rows.append(row)
    notes = [
        f"N rows of {n_clusters} Gaussians that overlap, in {n_features} dimensions; seconds of one search "
        "from labels of which half are random, on one thread. The refitted twin makes the same search, but "
        "computes the covariances and determinants of the clusters anew for each move that it judges; × are "
        f"multiples of our seconds, up to N = {most_refitted:,}.",
        "Together: the first passes make all moves that pay at once. Its energy less the other's, and the "
        "rows that are in another cluster.",
    ]
    return Section("Moves of rows between clusters", pd.DataFrame(rows).set_index("N"), notes)


def searched(
    clusters_of: Callable, n_samples: int, n_features: int, n_clusters: int, together: bool = False
) -> dict:
    """Seconds of a search, and where it ends."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_clusters, size=n_samples)
    shapes = rng.standard_normal((n_clusters, n_features, n_features))
    X = 2.0 * rng.standard_normal((n_clusters, n_features))[y]
    X += np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((n_samples, n_features)))
    # Half of the labels are right: enough to do, without a cluster that vanishes in the first pass.
    start = np.where(rng.random(n_samples) < 0.5, y, rng.integers(n_clusters, size=n_samples))

    def work() -> HartiganSearch:
        clusters = clusters_of(X, start, np.full(n_features, 1e-6 * n_samples))
        search = HartiganSearch(
            X, start.copy(), clusters, least_rows=n_features + 2, merge=True, together=together
        )
        return search.run(100, np.random.RandomState(0))

    spent = spend(work)
    search = spent.value
    return {
        "s": spent.seconds,
        "passes": len(search.energies),
        "clusters": search.clusters.n_clusters,
        "energy": search.energies[-1],
        "labels": search.labels,
    }


class RefittedClusters:
    """What :class:`~entrolearn.cluster.gaussians.FullClusters` is, from the rows of the clusters each time.

    Parameters
    ----------
    X, labels, prior : ndarray
        As there.
    """

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

# Rows and the number of centroids that are looked for.
SETS: dict[str, tuple[Callable[[], np.ndarray], int]] = {
    "iris": (lambda: load_iris().data, 3),
    "wine": (lambda: StandardScaler().fit_transform(load_wine().data), 3),
    "8 blobs": (lambda: make_blobs(1000, centers=8, random_state=0)[0], 8),
}
NEAR = 1e-3  # an inertia this much above the least, as a share of it, is as good
SURE = 0.99  # how surely some start of KMeans shall come that near


def centroids(limits: Limits, sets: Sequence[str] = tuple(SETS), n_starts=200, n_searches=5) -> Section:
    """The cross-entropy method, and as many starts of KMeans as come to the same inertia."""
    rows = [{"rows": name, **alone(limits, raced, name, n_starts, n_searches)} for name in sets]
    notes = [
        f"Least: the least inertia of all that follows. {n_searches} searches by the cross-entropy method "
        f"with its defaults, and {n_starts} starts of KMeans (k-means++, n_init=1), on one thread: seconds "
        "of one, the median of their inertias in percent above the least, and how many come within "
        f"{100 * NEAR:g} % of it.",
        f"Starts: how many of KMeans one of which does so in {100 * SURE:g} of 100 cases. ×: seconds of a "
        "search as a multiple of those of so many starts.",
    ]
    return Section("Centroids beside KMeans", pd.DataFrame(rows).set_index("rows"), notes)


def raced(name: str, n_starts: int, n_searches: int) -> dict:
    """What searches and starts take, and where they end."""
    load, n_clusters = SETS[name]
    X = load()
    search = spend(partial(inertias, CrossEntropyMethodClustering(n_clusters), X, n_searches))
    starts = spend(partial(inertias, KMeans(n_clusters, n_init=1), X, n_starts))
    least = min(*search.value, *starts.value)
    row = {"least": least}
    for peer, spent in (("CE", search), ("KMeans", starts)):
        above = np.array(spent.value) / least - 1
        row[f"{peer} s"] = spent.seconds / len(above)
        row[f"{peer}: above %"] = 100 * np.median(above)
        row[f"{peer}: near %"] = 100 * np.mean(above <= NEAR)
    row["starts"] = starts_for(row["KMeans: near %"] / 100)
    row["×"] = row["CE s"] / (row["starts"] * row["KMeans s"])
    return row


def inertias(clusterer, X: np.ndarray, n: int) -> list[float]:
    """Of fits with different seeds."""
    return [clusterer.set_params(random_state=seed).fit(X).inertia_ for seed in range(n)]


def starts_for(share: float) -> float:
    """How many starts, of which each succeeds with this probability, are :data:`SURE` to have a success.

    Examples
    --------
    >>> [starts_for(share) for share in (1.0, 0.9, 0.5, 0.0)]
    [1, 2, 7, inf]
    """
    if share in (0, 1):
        return 1 if share else math.inf
    return math.ceil(round(math.log(1 - SURE) / math.log1p(-share), 9))
