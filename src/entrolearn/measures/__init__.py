"""What is measured: entropies and divergences, as functions on arrays."""

from entrolearn.measures.counts import (
    counts_from_samples,
    entropy_from_counts,
    mutual_information_from_counts,
    probabilities_from_counts,
)
from entrolearn.measures.density import silverman_bandwidth, silverman_factor
from entrolearn.measures.differential import gaussian_entropy, kde_entropy, knn_entropy
from entrolearn.measures.divergence import (
    cauchy_schwarz_gaussian,
    cauchy_schwarz_kde,
    quadratic_cross_entropy_gaussian,
    quadratic_cross_entropy_kde,
    quadratic_entropy_gaussian,
    quadratic_entropy_kde,
)
from entrolearn.measures.errors import error_entropy
from entrolearn.measures.information import (
    conditional_entropy,
    cross_entropy,
    entropy,
    havrda_charvat_entropy,
    joint_entropy,
    kl_divergence,
    mutual_information,
    renyi_entropy,
)
from entrolearn.measures.order_statistics import expected_maximum

__all__ = [
    "cauchy_schwarz_gaussian",
    "cauchy_schwarz_kde",
    "conditional_entropy",
    "counts_from_samples",
    "cross_entropy",
    "entropy",
    "entropy_from_counts",
    "error_entropy",
    "expected_maximum",
    "gaussian_entropy",
    "havrda_charvat_entropy",
    "joint_entropy",
    "kde_entropy",
    "kl_divergence",
    "knn_entropy",
    "mutual_information",
    "mutual_information_from_counts",
    "probabilities_from_counts",
    "quadratic_cross_entropy_gaussian",
    "quadratic_cross_entropy_kde",
    "quadratic_entropy_gaussian",
    "quadratic_entropy_kde",
    "renyi_entropy",
    "silverman_bandwidth",
    "silverman_factor",
]
