"""Kernel sums of clusters that grow row by row, from which their quadratic Rényi entropies are computed.

The kernel k(x, z) = exp(-||x - z||² / (4 σ²)) is unnormalised. Entropies are therefore without the logarithm
of its constant (4 π σ²)^(d/2), which cancels when entropies are compared.
"""

import math

import numpy as np
from scipy.special import logsumexp

__all__ = ["ClusterPotentials", "between_entropy", "entropy_increase", "separation"]


class ClusterPotentials:
    """Clusters and the sums of the kernel values of their members with every row.

    Parameters
    ----------
    exponents : ndarray, shape (n_samples, n_samples)
        Logarithms of the kernel values of all pairs of distinct rows, symmetric, zero on the diagonal.
    n_clusters : int
        Number of clusters, which are empty at first.
    counts : ndarray of int, shape (n_samples,)
        How often each row occurs. Equal rows join and leave a cluster together.

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        Cluster of each row; -1 for rows that are in no cluster.
    sizes : ndarray of int, shape (n_clusters,)
        Number of members of each cluster, with repetitions.
    log_sums : ndarray, shape (n_clusters, n_samples)
        Logarithms of the sums of each row's kernel values with the members of a cluster. Clusters only grow
        until they are released as a whole, so sums are never subtracted. Logarithms avoid underflow for
        clusters that are far apart.
    within : ndarray, shape (n_clusters,)
        Sums of the kernel values over all ordered pairs of a cluster's members.
    """

    def __init__(self, exponents: np.ndarray, n_clusters: int, counts: np.ndarray):
        self.exponents, self.counts = exponents, counts
        self._log_counts = np.log(counts)
        self.labels = np.full(len(exponents), -1)
        self.sizes = np.zeros(n_clusters, dtype=np.intp)
        self.log_sums = np.full((n_clusters, len(exponents)), -np.inf)
        self.within = np.zeros(n_clusters)
        self._share = np.empty(len(exponents))

    def add(self, row: int, cluster: int) -> None:
        """Add a row that is in no cluster to a cluster."""
        count = self.counts[row]
        self.within[cluster] += 2 * count * math.exp(self.log_sums[cluster, row]) + count**2
        sums, exponents = self.log_sums[cluster], self.exponents[row] + self._log_counts[row]
        # Same as np.logaddexp, which is slower because it is not vectorised.
        share = np.abs(np.subtract(sums, exponents, out=self._share), out=self._share)
        np.negative(share, out=share)
        np.log1p(np.exp(share, out=share), out=share)
        np.maximum(sums, exponents, out=sums)
        sums += share
        self.sizes[cluster] += count
        self.labels[row] = cluster

    def increases(self, row: int) -> np.ndarray:
        """Increase of each cluster's entropy if the row were added to it, shape (n_clusters,)."""
        return entropy_increase(np.exp(self.log_sums[:, row]), self.sizes, self.within, self.counts[row])

    def release(self, cluster: int) -> np.ndarray:
        """Remove a cluster and return its rows, which are then in none. Later clusters move up by one."""
        rows = np.flatnonzero(self.labels == cluster)
        self.labels[rows] = -1
        self.labels[self.labels > cluster] -= 1
        self.sizes = np.delete(self.sizes, cluster)
        self.log_sums = np.delete(self.log_sums, cluster, axis=0)
        self.within = np.delete(self.within, cluster)
        return rows

    def log_pair_sums(self) -> np.ndarray:
        """Logarithms of the kernel sums between all pairs of clusters, shape (n_clusters, n_clusters)."""
        found = np.empty((len(self.sizes), len(self.sizes)))
        for c in range(len(found)):
            members = self.labels == c
            of_members = self.log_sums[:, members]
            largest = of_members.max(axis=1)
            of_members -= largest[:, np.newaxis]
            np.exp(of_members, out=of_members)
            of_members *= self.counts[members]
            found[c] = np.log(of_members.sum(axis=1)) + largest
        return found


def entropy_increase(sums: np.ndarray, sizes: np.ndarray, within: np.ndarray, count: int = 1) -> np.ndarray:
    r"""Increase of the entropy :math:`-\ln(W / N^2)` of a cluster by `count` equal rows.

    Parameters
    ----------
    sums : ndarray, shape (..., n_clusters)
        Sums of one such row's kernel values with the members of each cluster.
    sizes, within : ndarray, shape (n_clusters,)
        N and W: the number of members, and the sum of the kernel values over all ordered pairs of them.
    count : int, default=1
        m

    Returns
    -------
    ndarray, shape (..., n_clusters)
        :math:`2 \ln(1 + m/N) - \ln(1 + (2 m s + m^2) / W)`, in nats.
    """
    return 2 * np.log1p(count / sizes) - np.log1p((2 * count * sums + count**2) / within)


def between_entropy(log_pair_sums: np.ndarray, sizes: np.ndarray) -> float:
    r"""Between-cluster entropy :math:`-\ln\left(\frac{1}{2 \prod_k N_k} \sum_{k \ne l} B_{kl}\right)`.

    Parameters
    ----------
    log_pair_sums : ndarray, shape (n_clusters, n_clusters)
        Logarithms of B; the diagonal is ignored.
    sizes : ndarray, shape (n_clusters,)
        N. Their logarithms are summed, so the product does not overflow.

    Returns
    -------
    float
        In nats. Infinite for a single cluster.
    """
    return float(math.log(2) + np.log(sizes).sum() - _log_sum_between(log_pair_sums))


def separation(log_pair_sums: np.ndarray, sizes: np.ndarray) -> float:
    """Minus the logarithm of the mean kernel value of two rows in different clusters.

    For two clusters it equals the between-cluster entropy. For more clusters it remains comparable, whereas
    the product of the sizes in the between-cluster entropy adds about the logarithm of a size with each
    cluster.

    Parameters
    ----------
    log_pair_sums : ndarray, shape (n_clusters, n_clusters)
        As in :func:`between_entropy`.
    sizes : ndarray, shape (n_clusters,)

    Returns
    -------
    float
        In nats. Infinite for a single cluster.
    """
    n_pairs = sizes.sum() ** 2 - np.sum(sizes**2)
    if n_pairs == 0:
        return math.inf
    return float(math.log(n_pairs) - _log_sum_between(log_pair_sums))


def _log_sum_between(log_pair_sums: np.ndarray) -> float:
    """Logarithm of the sum over all pairs of different clusters; -inf if there is no pair."""
    different = ~np.eye(len(log_pair_sums), dtype=bool)
    return float(logsumexp(log_pair_sums[different])) if different.any() else -math.inf
