"""Clusterings by entropies: of Gaussian codes, of distributions, and by the cross-entropy method."""

from entrolearn.cluster.cec import CrossEntropyClustering
from entrolearn.cluster.centroids import CrossEntropyMethodClustering
from entrolearn.cluster.kl import KLClustering

__all__ = [
    "CrossEntropyClustering",
    "CrossEntropyMethodClustering",
    "KLClustering",
]
