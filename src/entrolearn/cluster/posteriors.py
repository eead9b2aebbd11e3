"""Posterior probabilities of the clusters for each row, updated while rows change their clusters.

``propose`` computes the posteriors after one row changed its cluster, for all affected rows. ``accept``
applies a proposal.
"""

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from entrolearn.kernels import check_memory

__all__ = ["VolumePosteriors", "WindowPosteriors", "neighbour_distance", "volume_posteriors", "window_counts"]

#: Distances in memory at once (32 MiB).
BLOCK_DISTANCES = 2**22

#: Number of rows to estimate the mean window size from.
SAMPLED_WINDOWS = 16

#: Bytes per pair of neighbours while the neighbour graph is made symmetric.
BYTES_OF_PAIR = 64

#: Distances below this share of the rows' largest norm lose half of their digits if they are computed by
#: inner products, as scikit-learn does in many dimensions.
NEAR = np.finfo(np.float64).eps ** 0.25

#: Factor for a radius that equals the distance of two rows, so that rounding does not decide membership.
LONGER = 1 + 1e-9


class WindowPosteriors:
    """Shares of the clusters among the rows within a radius of each row, itself included: equation (9).

    Windows are symmetric: if row i is in the window of row j, then j is in that of i. When a row changes its
    cluster, the posteriors of exactly the rows in its window change.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        Distinct rows.
    counts : ndarray of int, shape (n_samples,)
        How often each row occurs. Equal rows change their cluster together.
    labels : ndarray of int, shape (n_samples,)
        Clusters 0, …, n_clusters - 1, some of which may be empty.
    n_clusters : int
    radius : float

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        A copy, which :meth:`accept` updates.
    values : ndarray, shape (n_samples, n_clusters)
        The posteriors.

    Notes
    -----
    Memory is needed for all pairs of neighbours and for n_samples x n_clusters counts. The time of a proposal
    is proportional to the number of the row's neighbours times n_clusters.
    """

    def __init__(self, X: np.ndarray, counts: np.ndarray, labels: np.ndarray, n_clusters: int, radius: float):
        index = neighbour_index(X, radius)
        _check_windows(index, X, n_clusters)
        graph = csr_array(index.radius_neighbors_graph(X))
        # At the edge of a window rounding decides membership; make the graph symmetric.
        graph = graph.maximum(graph.T).maximum(eye_array(len(X))).tocsr()
        self.labels, self.counts = labels.copy(), counts
        self._first, self._neighbours = graph.indptr, graph.indices
        self._members = _members(graph, counts, labels, n_clusters)
        self._sizes = self._members.sum(axis=1, keepdims=True)
        self.values = self._members / self._sizes

    def propose(self, row: int, cluster: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows whose posteriors change if `row` moves to `cluster`, and their new posteriors."""
        rows = self._window(row)
        members = self._members[rows]
        members[:, self.labels[row]] -= self.counts[row]
        members[:, cluster] += self.counts[row]
        return rows, members / self._sizes[rows]

    def accept(self, row: int, cluster: int, rows: np.ndarray, values: np.ndarray) -> None:
        """Apply a proposal."""
        self._members[rows, self.labels[row]] -= self.counts[row]
        self._members[rows, cluster] += self.counts[row]
        self.labels[row] = cluster
        self.values[rows] = values

    def _window(self, row: int) -> np.ndarray:
        return self._neighbours[self._first[row] : self._first[row + 1]]


class VolumePosteriors:
    """Posteriors from the distances of the k nearest members of each cluster, equation (10) normalised.

    If the k-th nearest member of cluster j is at distance r_j from the row, the volume with k members is
    proportional to r_j^d in d dimensions, and the posterior to r_j^-d. The row itself is not counted as a
    member, because its distance zero would keep it in its cluster. If a cluster has fewer than k members, all
    of them are used, and the posterior is proportional to min(k, n_j) / r_j^d. That of an empty cluster is
    zero.

    Parameters
    ----------
    X, counts, labels, n_clusters
        As in :class:`WindowPosteriors`.
    n_neighbors : int
        k

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        A copy, which :meth:`accept` updates.
    values : ndarray, shape (n_samples, n_clusters)
        The posteriors.

    Notes
    -----
    For each row and cluster a list of the k + 2 smallest distances is stored, n_samples x n_clusters x (k +
    2) numbers in total. The two extra distances are for the row itself and for the next member if one leaves.
    A proposal computes the distances of one row to all others. Only an accepted proposal, and one that moves
    several equal rows, recomputes distances to a cluster's members, for the rows that had the leaving member
    in their lists. These are n_clusters x (k + 2) rows on average, because each row has that many members in
    its lists.
    """

    def __init__(
        self, X: np.ndarray, counts: np.ndarray, labels: np.ndarray, n_clusters: int, n_neighbors: int
    ):
        self.labels, self.counts = labels.copy(), counts
        self._X, self._k = X, n_neighbors
        self._sizes = np.bincount(labels, counts, n_clusters).astype(np.intp)
        # A proposal copies at most all lists, plus three copies of the lists of one cluster.
        n_numbers = len(X) * (n_neighbors + 2) * (2 * n_clusters + 3)
        check_memory(
            8 * (n_numbers + min(BLOCK_DISTANCES, len(X) ** 2) + 2 * X.size),
            f"{n_neighbors + 2} distances from {len(X)} rows to members of each of {n_clusters} clusters",
            "lower n_neighbors, or fit on a sample of the rows and predict the others",
        )
        self._near = np.empty((n_clusters, len(X), n_neighbors + 2))
        for c in range(n_clusters):
            self._near[c] = self._nearest_members(X, labels == c)
        self.values = _volume_shares(self._near, self._sizes, labels, n_neighbors, X.shape[1])

    def propose(self, row: int, cluster: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows whose posteriors change if `row` moves to `cluster`, and their new posteriors."""
        left, last = self.labels[row], self._k  # in its own cluster, the nearest member is the row itself
        distances = self._distances(row)
        rows = np.flatnonzero(
            (distances <= self._near[left, :, last]) | (distances < self._near[cluster, :, last])
        )
        near, labels, sizes = self._near[:, rows], self.labels[rows], self._sizes.copy()
        if self.counts[row] == 1:
            near[left] = _without(near[left], distances[rows, np.newaxis])
        else:
            rest = self.labels == left
            rest[row] = False
            near[left] = self._nearest_members(self._X[rows], rest)
        near[cluster] = self._joined(row, near[cluster], distances[rows, np.newaxis])
        labels[rows == row] = cluster
        sizes[left] -= self.counts[row]
        sizes[cluster] += self.counts[row]
        return rows, _volume_shares(near, sizes, labels, self._k, self._X.shape[1])

    def accept(self, row: int, cluster: int, rows: np.ndarray, values: np.ndarray) -> None:
        """Apply a proposal."""
        left, last = self.labels[row], self._k + 1
        distances = self._distances(row)
        self.labels[row] = cluster
        self._sizes[left] -= self.counts[row]
        self._sizes[cluster] += self.counts[row]
        gains = np.flatnonzero(distances < self._near[cluster, :, last])
        self._near[cluster, gains] = self._joined(
            row, self._near[cluster, gains], distances[gains, np.newaxis]
        )
        loses = np.flatnonzero(distances <= self._near[left, :, last])
        self._near[left, loses] = self._nearest_members(self._X[loses], self.labels == left)
        self.values[rows] = values

    def _nearest_members(self, Z: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Distances of Z to the nearest members, which are given by a mask."""
        length = self._k + 2
        repeats = np.minimum(self.counts[members], length)  # further copies do not fit into a list
        return _nearest(Z, np.repeat(self._X[members], repeats, axis=0), length)

    def _joined(self, row: int, near: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Insert the distances to `row`, as often as it occurs."""
        for _ in range(min(self.counts[row], near.shape[1])):
            near = _with(near, distances)
        return near

    def _distances(self, row: int) -> np.ndarray:
        return cdist(self._X, self._X[row : row + 1])[:, 0]


def window_counts(index: NearestNeighbors, labels: np.ndarray, n_clusters: int, Z: np.ndarray) -> np.ndarray:
    """Number of rows of each cluster in the windows of other rows.

    Parameters
    ----------
    index : NearestNeighbors
        Fitted index with the radius of the windows.
    labels : ndarray of int, shape (n_samples,)
        Clusters of the rows that the index was fitted on.
    n_clusters : int
    Z : ndarray, shape (n_rows, n_features)

    Returns
    -------
    ndarray of int, shape (n_rows, n_clusters)
    """
    blocks = gen_batches(len(Z), max(1, BLOCK_DISTANCES // len(labels)))
    graphs = (csr_array(index.radius_neighbors_graph(Z[rows])) for rows in blocks)
    return np.concatenate([_members(graph, np.ones_like(labels), labels, n_clusters) for graph in graphs])


def volume_posteriors(
    X: np.ndarray, labels: np.ndarray, n_clusters: int, n_neighbors: int, Z: np.ndarray
) -> np.ndarray:
    """Posteriors of the clusters for other rows, as in :class:`VolumePosteriors`.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    labels : ndarray of int, shape (n_samples,)
    n_clusters : int
    n_neighbors : int
    Z : ndarray, shape (n_rows, n_features)

    Returns
    -------
    ndarray, shape (n_rows, n_clusters)
    """
    near = np.stack([_nearest(Z, X[labels == c], n_neighbors) for c in range(n_clusters)])
    sizes = np.bincount(labels, minlength=n_clusters)
    return _volume_shares(near, sizes, np.full(len(Z), -1), n_neighbors, X.shape[1])


def _check_windows(index: NearestNeighbors, X: np.ndarray, n_clusters: int) -> None:
    """Raise if there is not enough memory for the windows, estimated from a sample of rows."""
    some = index.radius_neighbors(X[:: -(-len(X) // SAMPLED_WINDOWS)], return_distance=False)
    in_window = float(np.mean([len(rows) for rows in some]))
    check_memory(
        len(X) * (BYTES_OF_PAIR * in_window + 8 * (2 * X.shape[1] + 4 * n_clusters + 32)),
        f"a graph of {len(X)} rows with about {in_window:.0f} within the radius {index.radius:.3g} of each",
        "lower radius, or fit on a sample of the rows and predict the others",
    )


def neighbour_index(X: np.ndarray, radius: float, n_neighbors: int = 1) -> NearestNeighbors:
    """An index of the rows that is accurate for distances near `radius`, even far from the origin."""
    near = radius < NEAR * np.linalg.norm(X, axis=1).max()
    algorithm = "kd_tree" if near else "auto"
    return NearestNeighbors(n_neighbors=n_neighbors, radius=radius, algorithm=algorithm).fit(X)


def neighbour_distance(X: np.ndarray, n_neighbors: int) -> float:
    """Median over the rows of the distance to the n_neighbors-th nearest other row (or the farthest)."""
    n_neighbors = min(n_neighbors, len(X) - 1)
    radius = _median_distance(neighbour_index(X, np.inf, n_neighbors))
    index = neighbour_index(X, radius, n_neighbors)
    return LONGER * (_median_distance(index) if index.algorithm == "kd_tree" else radius)


def _median_distance(index: NearestNeighbors) -> float:
    """Median distance of the rows of an index to the last of their nearest neighbours."""
    distances, _ = index.kneighbors()
    return float(np.median(distances[:, -1]))


def _members(graph: csr_array, counts: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Number of neighbours in each cluster, for each row of a neighbour graph."""
    n_samples = len(labels)
    weights = counts.astype(np.float64)
    of_cluster = csr_array((weights, labels, np.arange(n_samples + 1)), (n_samples, n_clusters))
    return (graph @ of_cluster).toarray().astype(np.intp)


def _nearest(Z: np.ndarray, members: np.ndarray, count: int) -> np.ndarray:
    """Distances to the `count` nearest members, ascending; infinite if there are fewer members."""
    near = np.full((len(Z), count), np.inf)
    found = min(count, len(members))
    if found == 0:
        return near
    for rows in gen_batches(len(Z), max(1, BLOCK_DISTANCES // len(members))):
        # cdist uses differences, not inner products: the distance of a pair then does not depend on the other
        # rows, and is zero for equal rows.
        distances = cdist(Z[rows], members)
        distances.partition(found - 1, axis=1)
        near[rows, :found] = np.sort(distances[:, :found], axis=1)
    return near


def _without(near: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Remove one of the ascending distances; the last one is then unknown and set to infinity."""
    following = np.column_stack([near[:, 1:], np.full(len(near), np.inf)])
    return np.where(near < distances, near, following)


def _with(near: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Insert a distance into the ascending distances, and drop the last one."""
    previous = np.column_stack([np.full(len(near), -np.inf), near[:, :-1]])
    return np.minimum(near, np.maximum(previous, distances))


def _volume_shares(
    near: np.ndarray, sizes: np.ndarray, labels: np.ndarray, n_neighbors: int, n_features: int
) -> np.ndarray:
    """Posteriors, shape (n_rows, n_clusters), from the distances to the nearest members.

    `near` has shape (n_clusters, n_rows, at least n_neighbors + 1). In the cluster of its label, the first
    distance of a row is zero, that to itself.
    """
    own = labels == np.arange(len(sizes))[:, np.newaxis]
    counted = np.minimum(n_neighbors, sizes[:, np.newaxis] - own)
    radii = np.take_along_axis(near, (counted - 1 + own)[:, :, np.newaxis], axis=2)[:, :, 0]
    # If all members are equal to the row, the volume is zero; such clusters share the probability.
    radii = np.maximum(radii, np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):  # -inf for a cluster without members
        log_shares = np.log(counted) - n_features * np.log(radii)
    return softmax(log_shares, axis=0).T
