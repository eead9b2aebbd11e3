"""Posterior probabilities of clusters at each row, kept up to date while rows change their clusters.

Each estimate proposes what the posteriors would be if one row changed its cluster, for all rows where that
changes anything, and takes the proposal over when told to.
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

#: Rows whose windows tell how large all are.
SAMPLED_WINDOWS = 16

#: Bytes that two rows in one window take while the graph of all is made symmetric.
BYTES_OF_PAIR = 64

#: Distances of a smaller share of the rows' largest norm lose half of their digits where they are computed by
#: inner products, as scikit-learn does in many dimensions.
NEAR = np.finfo(np.float64).eps ** 0.25

#: A radius that is the distance of two rows is so much longer, or rounding decides who is within.
LONGER = 1 + 1e-9


class WindowPosteriors:
    """Shares of the clusters among the rows within a radius of each row, itself included: equation (9).

    A row lies in the windows of exactly the rows that lie in its own: they are the ones whose posteriors
    change with its cluster.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    labels : ndarray of int, shape (n_samples,)
        Clusters 0, …, n_clusters - 1, some of which may be empty.
    n_clusters : int
    radius : float

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        A copy, which :meth:`accept` changes.
    values : ndarray, shape (n_samples, n_clusters)
        The posteriors.

    Notes
    -----
    Takes memory for the pairs of neighbours and for n_samples x n_clusters counts; a proposal takes time with
    the row's neighbours times n_clusters.
    """

    def __init__(self, X: np.ndarray, labels: np.ndarray, n_clusters: int, radius: float):
        index = neighbour_index(X, radius)
        _check_windows(index, X, n_clusters)
        graph = csr_array(index.radius_neighbors_graph(X))
        # On the rim of a window rounding decides, which it must not do for one row of a pair only.
        graph = graph.maximum(graph.T).maximum(eye_array(len(X))).tocsr()
        self.labels = labels.copy()
        self._first, self._neighbours = graph.indptr, graph.indices
        self._sizes = np.diff(graph.indptr)[:, np.newaxis]
        self._counts = _members(graph, labels, n_clusters)
        self.values = self._counts / self._sizes

    def propose(self, row: int, cluster: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that would change if `row` went to `cluster`, and what their posteriors would be."""
        rows = self._window(row)
        counts = self._counts[rows]
        counts[:, self.labels[row]] -= 1
        counts[:, cluster] += 1
        return rows, counts / self._sizes[rows]

    def accept(self, row: int, cluster: int, rows: np.ndarray, values: np.ndarray) -> None:
        """Take over what was proposed."""
        self._counts[rows, self.labels[row]] -= 1
        self._counts[rows, cluster] += 1
        self.labels[row] = cluster
        self.values[rows] = values

    def _window(self, row: int) -> np.ndarray:
        return self._neighbours[self._first[row] : self._first[row + 1]]


class VolumePosteriors:
    """Posteriors from the volumes that hold the nearest members of each cluster, equation (10) normalised.

    The k-th nearest member of cluster j is at the distance r_j from the row, so that the volume which holds k
    members is proportional to r_j^d in d dimensions, and the posterior to r_j^-d. The row itself is no
    member: at distance zero it would say that it stays where it is. A cluster of fewer members counts with
    all of them, the posterior being proportional to min(k, n_j) / r_j^d, and one of none has none.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    labels : ndarray of int, shape (n_samples,)
        Clusters 0, …, n_clusters - 1, some of which may be empty.
    n_clusters : int
    n_neighbors : int
        k

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        A copy, which :meth:`accept` changes.
    values : ndarray, shape (n_samples, n_clusters)
        The posteriors.

    Notes
    -----
    The k + 2 nearest distances of each cluster are kept for each row, in n_samples x n_clusters x (k + 2)
    numbers: for the row itself, and for the one that becomes the k-th where a member leaves. A proposal takes
    the distances of one row to all others. Only what is accepted has distances to a cluster's members
    computed anew, for the rows that had the leaving member on their lists; these are n_clusters x (k + 2) on
    average, since each row has that many members on its lists.
    """

    def __init__(self, X: np.ndarray, labels: np.ndarray, n_clusters: int, n_neighbors: int):
        self.labels = labels.copy()
        self._X, self._k = X, n_neighbors
        self._sizes = np.bincount(labels, minlength=n_clusters)
        # A proposal copies all lists where all change, and has three more of those of one cluster.
        n_numbers = len(X) * (n_neighbors + 2) * (2 * n_clusters + 3)
        check_memory(
            8 * (n_numbers + min(BLOCK_DISTANCES, len(X) ** 2) + 2 * X.size),
            f"{n_neighbors + 2} distances from {len(X)} rows to members of each of {n_clusters} clusters",
            "lower n_neighbors, or fit on a sample of the rows and predict the others",
        )
        self._near = np.empty((n_clusters, len(X), n_neighbors + 2))
        for c in range(n_clusters):
            self._near[c] = _nearest(X, X[labels == c], n_neighbors + 2)
        self.values = _volume_shares(self._near, self._sizes, labels, n_neighbors, X.shape[1])

    def propose(self, row: int, cluster: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that would change if `row` went to `cluster`, and what their posteriors would be."""
        left, last = self.labels[row], self._k  # of a row's own cluster, the row being its first
        distances = self._distances(row)
        rows = np.flatnonzero(
            (distances <= self._near[left, :, last]) | (distances < self._near[cluster, :, last])
        )
        near, labels, sizes = self._near[:, rows], self.labels[rows], self._sizes.copy()
        near[left] = _without(near[left], distances[rows, np.newaxis])
        near[cluster] = _with(near[cluster], distances[rows, np.newaxis])
        labels[rows == row] = cluster
        sizes[left] -= 1
        sizes[cluster] += 1
        return rows, _volume_shares(near, sizes, labels, self._k, self._X.shape[1])

    def accept(self, row: int, cluster: int, rows: np.ndarray, values: np.ndarray) -> None:
        """Take over what was proposed."""
        left, last = self.labels[row], self._k + 1
        distances = self._distances(row)
        self.labels[row] = cluster
        self._sizes[left] -= 1
        self._sizes[cluster] += 1
        gains = np.flatnonzero(distances < self._near[cluster, :, last])
        self._near[cluster, gains] = _with(self._near[cluster, gains], distances[gains, np.newaxis])
        loses = np.flatnonzero(distances <= self._near[left, :, last])
        self._near[left, loses] = _nearest(self._X[loses], self._X[self.labels == left], last + 1)
        self.values[rows] = values

    def _distances(self, row: int) -> np.ndarray:
        return cdist(self._X, self._X[row : row + 1])[:, 0]


def window_counts(index: NearestNeighbors, labels: np.ndarray, n_clusters: int, Z: np.ndarray) -> np.ndarray:
    """How many rows of each cluster lie in the windows around other rows.

    Parameters
    ----------
    index : NearestNeighbors
        Fitted, with the windows' radius.
    labels : ndarray of int, shape (n_samples,)
        Clusters of the rows that it was fitted on.
    n_clusters : int
    Z : ndarray, shape (n_rows, n_features)

    Returns
    -------
    ndarray of int, shape (n_rows, n_clusters)
    """
    blocks = gen_batches(len(Z), max(1, BLOCK_DISTANCES // len(labels)))
    graphs = (csr_array(index.radius_neighbors_graph(Z[rows])) for rows in blocks)
    return np.concatenate([_members(graph, labels, n_clusters) for graph in graphs])


def volume_posteriors(
    X: np.ndarray, labels: np.ndarray, n_clusters: int, n_neighbors: int, Z: np.ndarray
) -> np.ndarray:
    """Posteriors of clusters at other rows, as in :class:`VolumePosteriors`.

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
    """Refuse windows that hold more rows than there is memory for, by those of a few rows among all."""
    some = index.radius_neighbors(X[:: -(-len(X) // SAMPLED_WINDOWS)], return_distance=False)
    in_window = float(np.mean([len(rows) for rows in some]))
    check_memory(
        len(X) * (BYTES_OF_PAIR * in_window + 8 * (2 * X.shape[1] + 4 * n_clusters + 32)),
        f"a graph of {len(X)} rows with about {in_window:.0f} within the radius {index.radius:.3g} of each",
        "lower radius, or fit on a sample of the rows and predict the others",
    )


def neighbour_index(X: np.ndarray, radius: float, n_neighbors: int = 1) -> NearestNeighbors:
    """An index of rows that tells apart distances of about some radius, wherever the rows are."""
    near = radius < NEAR * np.linalg.norm(X, axis=1).max()
    algorithm = "kd_tree" if near else "auto"
    return NearestNeighbors(n_neighbors=n_neighbors, radius=radius, algorithm=algorithm).fit(X)


def neighbour_distance(X: np.ndarray, n_neighbors: int) -> float:
    """Median over the rows of the distance within which the so many nearest others are, or all there are."""
    n_neighbors = min(n_neighbors, len(X) - 1)
    radius = _median_distance(neighbour_index(X, np.inf, n_neighbors))
    index = neighbour_index(X, radius, n_neighbors)
    return LONGER * (_median_distance(index) if index.algorithm == "kd_tree" else radius)


def _median_distance(index: NearestNeighbors) -> float:
    """Median distance of the rows of an index to the last of the nearest others."""
    distances, _ = index.kneighbors()
    return float(np.median(distances[:, -1]))


def _members(graph: csr_array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Neighbours in each cluster, of each row of a graph that says who is whose."""
    n_samples = len(labels)
    of_cluster = csr_array((np.ones(n_samples), labels, np.arange(n_samples + 1)), (n_samples, n_clusters))
    return (graph @ of_cluster).toarray().astype(np.intp)


def _nearest(Z: np.ndarray, members: np.ndarray, count: int) -> np.ndarray:
    """Distances of the `count` nearest members, ascending; infinite where there are no more members."""
    near = np.full((len(Z), count), np.inf)
    found = min(count, len(members))
    if found == 0:
        return near
    for rows in gen_batches(len(Z), max(1, BLOCK_DISTANCES // len(members))):
        # By differences, not by inner products: the distance of a pair is then the same number whatever else
        # is computed along with it, and zero for equal rows.
        distances = cdist(Z[rows], members)
        distances.partition(found - 1, axis=1)
        near[rows, :found] = np.sort(distances[:, :found], axis=1)
    return near


def _without(near: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Ascending distances less one of them; the last is unknown then, and infinite here."""
    following = np.column_stack([near[:, 1:], np.full(len(near), np.inf)])
    return np.where(near < distances, near, following)


def _with(near: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Ascending distances with one more among them, the last of them left out."""
    previous = np.column_stack([np.full(len(near), -np.inf), near[:, :-1]])
    return np.minimum(near, np.maximum(previous, distances))


def _volume_shares(
    near: np.ndarray, sizes: np.ndarray, labels: np.ndarray, n_neighbors: int, n_features: int
) -> np.ndarray:
    """Posteriors, shape (n_rows, n_clusters).

    From distances of the nearest members, shape (n_clusters, n_rows, at least n_neighbors + 1), among them
    the distance zero of each row to itself in the cluster that it is labelled with.
    """
    own = labels == np.arange(len(sizes))[:, np.newaxis]
    counted = np.minimum(n_neighbors, sizes[:, np.newaxis] - own)
    radii = np.take_along_axis(near, (counted - 1 + own)[:, :, np.newaxis], axis=2)[:, :, 0]
    # No volume holds members that are all equal to the row: such clusters share what there is.
    radii = np.maximum(radii, np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):  # a cluster without members has the logarithm -inf, which is right
        log_shares = np.log(counted) - n_features * np.log(radii)
    return softmax(log_shares, axis=0).T
