r"""Partitions into Gaussian clusters, and the change of the energy when a row changes its cluster.

The energy of a partition of N rows into clusters of n_k rows,

.. math:: E = \sum_k p_k \left(-\ln p_k + H^\times(X_k \| \mathcal{F})\right), \qquad p_k = n_k / N,

is the least code length of a row, in nats: that of its cluster's number, and that of the row by the best
density of the family for its cluster. Adding a row x to a cluster of mean m and scatter
:math:`S = \sum (x_i - m)(x_i - m)^\top` changes the scatter by a matrix of rank one,

.. math:: S' = S + a\, v v^\top, \qquad v = x - m, \qquad a = \frac{n}{n + 1},

and removing one does so with :math:`a = -n / (n - 1)`. By the determinant lemma
:math:`\ln\det S' = \ln\det S + \ln(1 + a\, v^\top S^{-1} v)`: the energies of all single moves of all rows
come from the Mahalanobis distances of the rows, without a matrix being decomposed.

Tabor and Spurek (2014), Cross-entropy clustering, Pattern Recognition 47, 3046-3059.
"""

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.linalg import LinAlgError

__all__ = [
    "DiagonalClusters",
    "FixedClusters",
    "FullClusters",
    "GaussianClusters",
    "SphericalClusters",
]

#: A row is not removed from a cluster if this would leave less than this share of the cluster's volume, which
#: would mostly be rounding error.
LEAST_RATIO = 1e-10


class GaussianClusters(ABC):
    """Gaussian clusters of one family, updated when rows are added and removed.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of int, shape (n_samples,)
        Cluster of each row, from 0 to n_clusters - 1; each has at least :meth:`least_rows` rows.
    prior : ndarray of shape (n_features,)
        Initial scatter of each cluster in each feature, before it has any row. It corresponds to a penalty
        ``prior / (2 n_samples)`` on the diagonal of the inverse covariance: the energies are then those with
        the penalty, and all that the module's docstring says still holds.

    Attributes
    ----------
    counts : ndarray of shape (n_clusters,)
        Rows of each cluster, as floats.
    means : ndarray of shape (n_clusters, n_features)
    energies : ndarray of shape (n_clusters,)
        Contribution of each cluster to the energy.
    """

    def __init__(self, X: np.ndarray, labels: np.ndarray, prior: np.ndarray):
        self.n_samples, self.n_features = X.shape
        self._prior = prior
        self.refit(X, labels)

    def refit(self, X: np.ndarray, labels: np.ndarray) -> None:
        """Recompute everything, which removes the rounding errors of the changes since the last time.

        Raises
        ------
        LinAlgError
            If a cluster has no volume, which is possible only with a prior of 0.
        """
        self.counts = np.bincount(labels).astype(float)
        rows = [X[labels == k] for k in range(len(self.counts))]
        self.means = np.array([each.mean(axis=0) for each in rows])
        self._refit_spreads([each - mean for each, mean in zip(rows, self.means, strict=True)])
        self.energies = self._energies_now(slice(None))

    @property
    def n_clusters(self) -> int:
        return len(self.counts)

    def _energies_now(self, which) -> np.ndarray:
        counts = self.counts[which]
        return self._energies(counts, self._entropies(which, counts, 0.0, 0.0))

    @property
    def energy(self) -> float:
        return float(self.energies.sum())

    def changes(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Changes of the energy if a row were moved to a cluster.

        Parameters
        ----------
        X : ndarray of shape (m, n_features)
            Rows.
        labels : ndarray of int, shape (m,)
            Their current clusters.

        Returns
        -------
        ndarray of shape (n_clusters, m)
            Changes for single moves. 0 for the row's own cluster, infinite if its own cluster would have no
            volume without it.
        """
        terms = self._terms(X - self.means[:, np.newaxis])
        column = np.arange(len(X))
        counts, energies = self.counts[labels], self.energies[labels]
        leaving = self._entropies(labels, counts - 1, terms[labels, column], -counts / (counts - 1))
        changes = self._additions(terms) + (self._energies(counts - 1, leaving) - energies)
        changes[labels, column] = 0.0
        return changes

    def changes_of_row(self, row: np.ndarray, label: int) -> np.ndarray:
        """:meth:`changes` of one row, shape (n_clusters,)."""
        terms = self._terms((row - self.means)[:, np.newaxis])[:, 0]
        step = np.ones(self.n_clusters)
        step[label] = -1
        counts = self.counts + step
        entropies = self._entropies(slice(None), counts, terms, step * self.counts / counts)
        changes = self._energies(counts, entropies) - self.energies
        changes += changes[label]
        changes[label] = 0.0
        return changes

    def additions(self, X: np.ndarray) -> np.ndarray:
        """Increases of each cluster's energy if a row that is in no cluster were added.

        Parameters
        ----------
        X : ndarray of shape (m, n_features)

        Returns
        -------
        ndarray of shape (n_clusters, m)
        """
        return self._additions(self._terms(X - self.means[:, np.newaxis]))

    def _additions(self, terms: np.ndarray) -> np.ndarray:
        every = np.arange(self.n_clusters)[:, np.newaxis]
        counts = self.counts[every]
        with_it = self._entropies(every, counts + 1, terms, counts / (counts + 1))
        return self._energies(counts + 1, with_it) - self.energies[every]

    def add(self, row: np.ndarray, k: int) -> None:
        """Add a row that is in no cluster to cluster k."""
        self._change(row, k, 1)

    def remove(self, row: np.ndarray, k: int) -> None:
        """Remove a row from cluster k."""
        self._change(row, k, -1)

    def _change(self, row: np.ndarray, k: int, sign: int) -> None:
        count, offset = self.counts[k], row - self.means[k]
        self._change_spread(k, offset, sign * count / (count + sign))
        self.counts[k] = count + sign
        self.means[k] += sign / (count + sign) * offset
        self.energies[k] = self._energies_now(k)

    def mergers(self) -> np.ndarray:
        """Changes of the energy if two clusters were merged.

        Returns
        -------
        ndarray of shape (n_clusters, n_clusters)
            For clusters k < l; infinite elsewhere.
        """
        changes = np.full((self.n_clusters, self.n_clusters), np.inf)
        energies = self.energies
        for k in range(self.n_clusters - 1):
            others = np.arange(k + 1, self.n_clusters)
            counts = self.counts[k] + self.counts[others]
            # The scatter of the union is the sum of both scatters and that of the two means.
            a = self.counts[k] * self.counts[others] / counts
            together = self._merged_entropies(k, others, counts, self.means[others] - self.means[k], a)
            changes[k, others] = self._energies(counts, together) - energies[k] - energies[others]
        return changes

    def drop(self, k: int) -> None:
        """Remove cluster k; later clusters move up by one."""
        self.counts = np.delete(self.counts, k)
        self.means = np.delete(self.means, k, axis=0)
        self.energies = np.delete(self.energies, k)
        self._drop_spread(k)

    def _energies(self, counts: np.ndarray, entropies: np.ndarray) -> np.ndarray:
        return counts / self.n_samples * (math.log(self.n_samples) - np.log(counts) + entropies)

    @staticmethod
    @abstractmethod
    def least_rows(n_features: int) -> int:
        """Least number of rows of a cluster that still has a volume after losing one row."""

    @property
    @abstractmethod
    def covariances(self) -> np.ndarray:
        """Covariance of the density of each cluster, shape (n_clusters, n_features, n_features)."""

    @abstractmethod
    def _refit_spreads(self, rows: list[np.ndarray]) -> None:
        """Compute the scatters from the rows of each cluster minus its mean."""

    @abstractmethod
    def _terms(self, offsets: np.ndarray) -> np.ndarray:
        """Terms of the offsets v from which :meth:`_entropies` computes the change of a scatter.

        Parameters
        ----------
        offsets : ndarray of shape (n_clusters, m, n_features)

        Returns
        -------
        ndarray of shape (n_clusters, m) or (n_clusters, m, n_features)
        """

    @abstractmethod
    def _entropies(self, which, counts: np.ndarray, terms, a) -> np.ndarray:
        """Cross-entropies of clusters after a change of their scatters by ``a v v'``.

        Parameters
        ----------
        which : ndarray of int
            The clusters.
        counts : ndarray
            Their rows after the change.
        terms : ndarray
            Terms of v, see :meth:`_terms`.
        a : ndarray

        Returns
        -------
        ndarray
            Shape of `terms` without the features.
        """

    @abstractmethod
    def _merged_entropies(
        self, k: int, others: np.ndarray, counts: np.ndarray, offsets: np.ndarray, a: np.ndarray
    ) -> np.ndarray:
        """Cross-entropies of the unions of cluster k and each of the others, shape (n_others,).

        Parameters
        ----------
        k : int
        others : ndarray of int, shape (n_others,)
        counts : ndarray of shape (n_others,)
            Rows of the unions.
        offsets : ndarray of shape (n_others, n_features)
            Differences v of the means.
        a : ndarray of shape (n_others,)
            The scatter of a union is the sum of both scatters and ``a v v'``.
        """

    @abstractmethod
    def _change_spread(self, k: int, offset: np.ndarray, a: float) -> None:
        """Change the scatter of cluster k by ``a v v'``."""

    @abstractmethod
    def _drop_spread(self, k: int) -> None:
        """Remove the spread of cluster k."""


class _ScatteredClusters(GaussianClusters):
    """A family whose cross-entropy is that of the normal density with the determinant of the scatter.

    Subclasses store the scatters in their own form: as matrices, diagonals or traces.
    """

    _scatters: np.ndarray
    _log_volumes: np.ndarray

    def _refit_spreads(self, rows):
        prior = self._of_diagonal(self._prior)
        self._scatters = np.array([self._scatter(each) + prior for each in rows])
        self._log_volumes = self._volumes(self._scatters)

    def _entropies(self, which, counts, terms, a):
        return self._normal_entropies(self._log_volumes[which] + self._growths(terms, a), counts)

    def _merged_entropies(self, k, others, counts, offsets, a):
        between = [self._scatter(np.sqrt(share) * v[np.newaxis]) for share, v in zip(a, offsets, strict=True)]
        # The sum of both scatters contains the prior twice.
        scatters = self._scatters[k] + self._scatters[others] - self._of_diagonal(self._prior)
        return self._normal_entropies(self._volumes(scatters + np.array(between)), counts)

    def _normal_entropies(self, log_volumes: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return 0.5 * (log_volumes + self.n_features * (math.log(2 * math.pi * math.e) - np.log(counts)))

    def _drop_spread(self, k):
        self._log_volumes = np.delete(self._log_volumes, k)
        self._scatters = np.delete(self._scatters, k, axis=0)

    @staticmethod
    @abstractmethod
    def _scatter(offsets: np.ndarray) -> np.ndarray:
        """The scatter of offsets from a mean, shape (m, n_features), in the family's form."""

    @staticmethod
    @abstractmethod
    def _of_diagonal(diagonal: np.ndarray) -> np.ndarray:
        """A diagonal matrix, given as its diagonal, in the family's form."""

    @abstractmethod
    def _volumes(self, scatters: np.ndarray) -> np.ndarray:
        """Log-determinants of the matrices that the scatters represent.

        Raises
        ------
        LinAlgError
            If one is singular.
        """

    @abstractmethod
    def _growths(self, terms, a) -> np.ndarray:
        """Increases of the log-determinants after a change of the scatters by ``a v v'``."""


class FullClusters(_ScatteredClusters):
    r"""Normal densities, any covariance: :math:`H^\times = \frac d2 \ln 2 \pi e + \frac12 \ln\det\Sigma`."""

    @staticmethod
    def least_rows(n_features):
        return n_features + 2

    @property
    def covariances(self):
        return self._scatters / self.counts[:, np.newaxis, np.newaxis]

    def _refit_spreads(self, rows):
        super()._refit_spreads(rows)
        self._inverses = np.linalg.inv(self._scatters)

    @staticmethod
    def _scatter(offsets):
        return offsets.T @ offsets

    @staticmethod
    def _of_diagonal(diagonal):
        return np.diag(diagonal)

    def _volumes(self, scatters):
        diagonals = np.linalg.cholesky(scatters).diagonal(axis1=-2, axis2=-1)
        return 2 * np.log(diagonals).sum(axis=-1)

    def _terms(self, offsets):
        return np.einsum("kmd,kmd->km", offsets @ self._inverses, offsets)

    def _growths(self, terms, a):
        return _log_ratios(a * terms)

    def _change_spread(self, k, offset, a):
        along = self._inverses[k] @ offset
        ratio = 1 + a * (offset @ along)
        self._scatters[k] += (a * offset)[:, np.newaxis] * offset
        self._inverses[k] -= (a / ratio * along)[:, np.newaxis] * along  # Sherman and Morrison's formula
        self._log_volumes[k] += math.log(ratio)

    def _drop_spread(self, k):
        super()._drop_spread(k)
        self._inverses = np.delete(self._inverses, k, axis=0)


class DiagonalClusters(_ScatteredClusters):
    r"""Normal densities with diagonal covariances: the sum of the cross-entropies of the features."""

    @staticmethod
    def least_rows(n_features):
        return 3

    @property
    def covariances(self):
        return np.array([np.diag(each) for each in self._scatters / self.counts[:, np.newaxis]])

    @staticmethod
    def _scatter(offsets):
        return (offsets**2).sum(axis=0)

    @staticmethod
    def _of_diagonal(diagonal):
        return diagonal

    def _volumes(self, scatters):
        return np.log(_positive(scatters)).sum(axis=-1)

    def _terms(self, offsets):
        with np.errstate(over="ignore"):  # infinite beside a scatter of next to nothing
            return offsets**2 / self._scatters[:, np.newaxis]

    def _growths(self, terms, a):
        return _log_ratios(np.expand_dims(a, -1) * terms).sum(axis=-1)

    def _change_spread(self, k, offset, a):
        self._scatters[k] += a * offset**2
        self._log_volumes[k] = np.log(self._scatters[k]).sum()


class SphericalClusters(_ScatteredClusters):
    r"""Round ones: :math:`H^\times = \frac d2 \ln\frac{2 \pi e}{d} + \frac d2 \ln\mathrm{tr}\,\Sigma`."""

    @staticmethod
    def least_rows(n_features):
        return 3

    @property
    def covariances(self):
        variances = self._scatters / (self.counts * self.n_features)
        return variances[:, np.newaxis, np.newaxis] * np.eye(self.n_features)

    @staticmethod
    def _scatter(offsets):
        return np.vdot(offsets, offsets)

    @staticmethod
    def _of_diagonal(diagonal):
        return diagonal.sum()

    def _volumes(self, scatters):
        return self.n_features * np.log(_positive(scatters) / self.n_features)

    def _terms(self, offsets):
        with np.errstate(over="ignore"):  # infinite beside a scatter of next to nothing
            return np.einsum("kmd,kmd->km", offsets, offsets) / self._scatters[:, np.newaxis]

    def _growths(self, terms, a):
        return self.n_features * _log_ratios(a * terms)

    def _change_spread(self, k, offset, a):
        self._scatters[k] += a * (offset @ offset)
        self._log_volumes[k] = self.n_features * math.log(self._scatters[k] / self.n_features)


class FixedClusters(GaussianClusters):
    r"""Densities of one covariance: :math:`H^\times = \frac12 (\mathrm{tr}\,C^{-1}\Sigma + \ln\det 2 \pi C)`.

    Parameters
    ----------
    X, labels : ndarray
        As for :class:`GaussianClusters`.
    covariance : ndarray of shape (n_features, n_features)
        C, positive definite. There is no prior, because every cluster has a volume.
    """

    def __init__(self, X: np.ndarray, labels: np.ndarray, covariance: np.ndarray):
        self._covariance = covariance
        self._precision = np.linalg.inv(covariance)
        self._log_det = np.linalg.slogdet(2 * math.pi * covariance)[1]
        super().__init__(X, labels, np.zeros(X.shape[1]))

    @staticmethod
    def least_rows(n_features):
        return 2

    @property
    def covariances(self):
        return np.tile(self._covariance, (self.n_clusters, 1, 1))

    def _refit_spreads(self, rows):
        self._traces = np.array([self._squares(each).sum() for each in rows])

    def _squares(self, offsets: np.ndarray) -> np.ndarray:
        """Squared Mahalanobis distances."""
        return np.einsum("...d,...d", offsets @ self._precision, offsets)

    def _terms(self, offsets):
        return self._squares(offsets)

    def _entropies(self, which, counts, terms, a):
        return 0.5 * ((self._traces[which] + a * terms) / counts + self._log_det)

    def _merged_entropies(self, k, others, counts, offsets, a):
        traces = self._traces[k] + self._traces[others] + a * self._squares(offsets)
        return 0.5 * (traces / counts + self._log_det)

    def _change_spread(self, k, offset, a):
        self._traces[k] += a * self._squares(offset)

    def _drop_spread(self, k):
        self._traces = np.delete(self._traces, k)


def _positive(scatters: np.ndarray) -> np.ndarray:
    if np.min(scatters) <= 0:
        raise LinAlgError("a cluster without scatter has no volume")
    return scatters


def _log_ratios(changes: np.ndarray) -> np.ndarray:
    """ln(1 + change); infinite where 1 + change is at most `LEAST_RATIO`."""
    ratios = 1 + np.asarray(changes)
    if ratios.min() > LEAST_RATIO:
        return np.log(ratios)
    return np.log(ratios, out=np.full(ratios.shape, np.inf), where=ratios > LEAST_RATIO)
