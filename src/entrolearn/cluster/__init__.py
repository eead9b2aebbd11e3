"""Clustering with entropies: conditional entropy, Rényi's entropy, cross-entropy and divergences."""

from entrolearn.cluster.cec import CrossEntropyClustering
from entrolearn.cluster.centroids import CrossEntropyMethodClustering
from entrolearn.cluster.kl import KLClustering
from entrolearn.cluster.minimum_entropy import MinimumEntropyClustering
from entrolearn.cluster.renyi import RenyiEntropyClustering

__all__ = [
    "CrossEntropyClustering",
    "CrossEntropyMethodClustering",
    "KLClustering",
    "MinimumEntropyClustering",
    "RenyiEntropyClustering",
]
