"""Groups of rows by what they leave unknown: conditional, differential and cross entropies."""

from entrolearn.cluster.minimum_entropy import MinimumEntropyClustering
from entrolearn.cluster.renyi import RenyiEntropyClustering

__all__ = [
    "MinimumEntropyClustering",
    "RenyiEntropyClustering",
]
