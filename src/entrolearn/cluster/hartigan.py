"""Hartigan's search for a partition of lowest energy, which moves single rows and removes clusters."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from entrolearn.cluster.gaussians import GaussianClusters

__all__ = ["HartiganSearch"]

#: Least decrease of the energy by a move, in nats: smaller ones may be rounding errors and repeat for ever.
LEAST_GAIN = 1e-12

#: Numbers in memory at once while all moves of a block of rows are evaluated (8 MiB).
BLOCK_NUMBERS = 2**20

#: Number of moves above which they are made at once: such a pass takes the time of this many single moves.
MANY_MOVES = 100

#: Number of moves after which everything is recomputed, so that rounding errors do not accumulate.
REFIT_AFTER = 1000


@dataclass(eq=False)
class HartiganSearch:
    """Search that improves a partition row by row.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    labels : ndarray of int, shape (n_samples,)
        Cluster of each row; changed in place.
    clusters : GaussianClusters
        The clusters of the current labels.
    least_rows : int
        A cluster with fewer rows is removed.
    merge : bool
        Whether two clusters may be merged when no move lowers the energy.
    together : bool
        Whether the search begins with passes that move many rows at once.
    energies, numbers : list
        Energy and number of clusters after each pass.
    converged : bool
        Whether the last pass changed nothing.
    """

    X: np.ndarray
    labels: np.ndarray
    clusters: GaussianClusters
    least_rows: int
    merge: bool
    together: bool = False
    energies: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    converged: bool = False
    _n_moves: int = 0

    def run(self, max_iter: int, random: np.random.RandomState) -> Self:
        """Pass over all rows, each time in a new random order, until nothing changes."""
        if self.together:
            while len(self.energies) < max_iter and self._move_together():
                continue
        while not self.converged and len(self.energies) < max_iter:
            self._pass_over(random.permutation(len(self.X)))
        return self

    def _move_together(self) -> bool:
        """Make all moves that lower the energy on their own at once; undo them if together they raise it."""
        if self.clusters.n_clusters == 1:
            return False
        size = max(1, BLOCK_NUMBERS // self.clusters.means.size)
        blocks = [slice(start, start + size) for start in range(0, len(self.X), size)]
        changes = np.hstack([self.clusters.changes(self.X[b], self.labels[b]) for b in blocks])
        pays = changes.min(axis=0) < -LEAST_GAIN
        labels = np.where(pays, changes.argmin(axis=0), self.labels)
        large = np.flatnonzero(np.bincount(labels, minlength=len(changes)) >= self.least_rows)
        if np.count_nonzero(pays) < MANY_MOVES or not len(large):
            return False
        homeless = ~np.isin(labels, large)
        labels[homeless] = large[changes[large][:, homeless].argmin(axis=0)]
        before = self.clusters.energy
        self.clusters.refit(self.X, np.searchsorted(large, labels))
        if len(large) == len(changes) and not self.clusters.energy < before:
            self.clusters.refit(self.X, self.labels)
            return False
        self.labels[:] = np.searchsorted(large, labels)
        self._note()
        return True

    def _note(self) -> None:
        self.energies.append(self.clusters.energy)
        self.numbers.append(self.clusters.n_clusters)

    def _pass_over(self, rows: np.ndarray) -> None:
        """Evaluate all moves of the rows, in this order, and make those that lower the energy."""
        before = self._n_moves
        size = max(1, BLOCK_NUMBERS // self.clusters.means.size)
        for start in range(0, len(rows), size):
            self._move_what_pays(rows[start : start + size])
        self.converged = self._n_moves == before and not (self.merge and self._merge_what_pays_most())
        self.clusters.refit(self.X, self.labels)
        self._note()

    def _move_what_pays(self, rows: np.ndarray) -> None:
        if self.clusters.n_clusters == 1:
            return
        changes = self.clusters.changes(self.X[rows], self.labels[rows])
        # Each move changes two clusters, so later moves are evaluated again.
        for row in rows[changes.min(axis=0) < -LEAST_GAIN]:
            changes = self.clusters.changes_of_row(self.X[row], self.labels[row])
            target = int(changes.argmin())
            if changes[target] < -LEAST_GAIN:
                self._move(row, target)

    def _move(self, row: int, target: int) -> None:
        source = self.labels[row]
        self.clusters.remove(self.X[row], source)
        self._put(row, target)
        if self.clusters.counts[source] < self.least_rows:
            self._dissolve(source)
        self._n_moves += 1
        if self._n_moves % REFIT_AFTER == 0:
            self.clusters.refit(self.X, self.labels)

    def _dissolve(self, k: int) -> None:
        """Remove a cluster; its rows join, one after the other, the cluster where they cost least."""
        rows = np.flatnonzero(self.labels == k)
        self.clusters.drop(k)
        self.labels -= self.labels > k
        for row in rows.tolist():
            self._put(row, int(self.clusters.additions(self.X[row, np.newaxis])[:, 0].argmin()))

    def _merge_what_pays_most(self) -> bool:
        changes = self.clusters.mergers()
        k, other = np.unravel_index(changes.argmin(), changes.shape)
        if not changes[k, other] < -LEAST_GAIN:
            return False
        self.labels[self.labels == other] = k
        self.labels -= self.labels > other
        return True

    def _put(self, row: int, k: int) -> None:
        self.clusters.add(self.X[row], k)
        self.labels[row] = k
