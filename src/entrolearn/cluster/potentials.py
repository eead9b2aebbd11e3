"""Kernel sums of clusters that grow row by row: what their quadratic Rényi entropies are made of.

With the unnormalised kernel k(x, z) = exp(-||x - z||² / (4 σ²)) everything here is free of the kernel's
constant
(4 π σ²)^(d/2), whose logarithm an entropy has besides; it cancels where entropies are compared.
"""

import math

import numpy as np
from scipy.special import logsumexp

__all__ = ["ClusterPotentials", "between_entropy", "entropy_increase", "separation"]


class ClusterPotentials:
    """Clusters of some rows, and the sums of their kernel values with every row.

    Parameters
    ----------
    exponents : ndarray, shape (n_samples, n_samples)
        Logarithms of the kernel values of all pairs of rows, symmetric, zero on the diagonal.
    n_clusters : int
        Clusters, all empty at first.

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        -1 for rows that are in no cluster.
    sizes : ndarray of int, shape (n_clusters,)
    log_sums : ndarray, shape (n_clusters, n_samples)
        Logarithms of the sums of each row's kernel values with the members of a cluster. Clusters only grow
        until they are released whole, so that nothing is ever subtracted; as logarithms, sums of clusters
        that are far apart do not vanish.
    within : ndarray, shape (n_clusters,)
        Sums of the kernel values of all ordered pairs of a cluster's members.
    """

    def __init__(self, exponents: np.ndarray, n_clusters: int):
        self.exponents = exponents
        self.labels = np.full(len(exponents), -1)
        self.sizes = np.zeros(n_clusters, dtype=np.intp)
        self.log_sums = np.full((n_clusters, len(exponents)), -np.inf)
        self.within = np.zeros(n_clusters)
        self._share = np.empty(len(exponents))

    def add(self, row: int, cluster: int) -> None:
        """Put a row that is in no cluster into one."""
        self.within[cluster] += 2 * math.exp(self.log_sums[cluster, row]) + 1
        sums, exponents = self.log_sums[cluster], self.exponents[row]
        # As np.logaddexp, whose numbers are computed one by one.
        share = np.abs(np.subtract(sums, exponents, out=self._share), out=self._share)
        np.negative(share, out=share)
        np.log1p(np.exp(share, out=share), out=share)
        np.maximum(sums, exponents, out=sums)
        sums += share
        self.sizes[cluster] += 1
        self.labels[row] = cluster

    def increases(self, row: int) -> np.ndarray:
        """By how much each cluster's entropy would grow with one more row, shape (n_clusters,)."""
        return entropy_increase(np.exp(self.log_sums[:, row]), self.sizes, self.within)

    def release(self, cluster: int) -> np.ndarray:
        """Give up a cluster: its rows, which are in none then. The numbers of later clusters fall by one."""
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
            of_members = self.log_sums[:, self.labels == c]
            largest = of_members.max(axis=1)
            of_members -= largest[:, np.newaxis]
            found[c] = np.log(np.exp(of_members, out=of_members).sum(axis=1)) + largest
        return found


def entropy_increase(sums: np.ndarray, sizes: np.ndarray, within: np.ndarray) -> np.ndarray:
    r"""By how much the entropy :math:`-\ln(W / N^2)` of a cluster grows with one more row.

    Parameters
    ----------
    sums : ndarray, shape (..., n_clusters)
        Sums of the row's kernel values with the members of each cluster.
    sizes, within : ndarray, shape (n_clusters,)
        N and W: the members, and the sum of the kernel values of all ordered pairs of them.

    Returns
    -------
    ndarray, shape (..., n_clusters)
        :math:`2 \ln(1 + 1/N) - \ln(1 + (2 s + 1) / W)`, in nats.
    """
    return 2 * np.log1p(1 / sizes) - np.log1p((2 * sums + 1) / within)


def between_entropy(log_pair_sums: np.ndarray, sizes: np.ndarray) -> float:
    r"""Between-cluster entropy :math:`-\ln\left(\frac{1}{2 \prod_k N_k} \sum_{k \ne l} B_{kl}\right)`.

    Parameters
    ----------
    log_pair_sums : ndarray, shape (n_clusters, n_clusters)
        Logarithms of B, whose diagonal does not count.
    sizes : ndarray, shape (n_clusters,)
        N, which are not multiplied: their logarithms are added up.

    Returns
    -------
    float
        In nats. Infinite for a single cluster, which has nothing between.
    """
    return float(math.log(2) + np.log(sizes).sum() - _log_sum_between(log_pair_sums))


def separation(log_pair_sums: np.ndarray, sizes: np.ndarray) -> float:
    """Minus the logarithm of the mean kernel value of two rows in different clusters.

    The between-cluster entropy of two clusters, and what compares with it for more of them: there the product
    of the sizes makes the entropy grow by about the logarithm of a size with each cluster.

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
    """Logarithm of the sum over all pairs of different clusters; -inf where there is no pair."""
    different = ~np.eye(len(log_pair_sums), dtype=bool)
    return float(logsumexp(log_pair_sums[different])) if different.any() else -math.inf
