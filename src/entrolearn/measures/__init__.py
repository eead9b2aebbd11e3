"""Entropies, divergences and mutual information, as functions on arrays."""

from entrolearn.measures.counts import (
    discrete_mutual_information,
    entropy_from_counts,
    mutual_information_from_counts,
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
from entrolearn.measures.estimators import (
    MUTUAL_INFORMATION_METHODS,
    mutual_information_estimator,
    mutual_information_from_samples,
)
from entrolearn.measures.gaussian import copula_mutual_information, gaussian_mutual_information
from entrolearn.measures.gradients import average_gradient_outer_product
from entrolearn.measures.independence import (
    IndependenceTest,
    MutualInformationInterval,
    independence_test,
    mutual_information_interval,
)
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
from entrolearn.measures.kernel_information import kde_mutual_information, quadratic_mutual_information
from entrolearn.measures.neighbors import (
    knn_mutual_information,
    mixed_mutual_information,
    ross_mutual_information,
)
from entrolearn.measures.order_statistics import expected_maximum
from entrolearn.measures.reliability import UnreliableEstimateWarning

__all__ = [
    "MUTUAL_INFORMATION_METHODS",
    "IndependenceTest",
    "MutualInformationInterval",
    "UnreliableEstimateWarning",
    "average_gradient_outer_product",
    "cauchy_schwarz_gaussian",
    "cauchy_schwarz_kde",
    "conditional_entropy",
    "copula_mutual_information",
    "cross_entropy",
    "discrete_mutual_information",
    "entropy",
    "entropy_from_counts",
    "error_entropy",
    "expected_maximum",
    "gaussian_entropy",
    "gaussian_mutual_information",
    "havrda_charvat_entropy",
    "independence_test",
    "joint_entropy",
    "kde_entropy",
    "kde_mutual_information",
    "kl_divergence",
    "knn_entropy",
    "knn_mutual_information",
    "mixed_mutual_information",
    "mutual_information",
    "mutual_information_estimator",
    "mutual_information_from_counts",
    "mutual_information_from_samples",
    "mutual_information_interval",
    "quadratic_cross_entropy_gaussian",
    "quadratic_cross_entropy_kde",
    "quadratic_entropy_gaussian",
    "quadratic_entropy_kde",
    "quadratic_mutual_information",
    "renyi_entropy",
    "ross_mutual_information",
    "silverman_bandwidth",
    "silverman_factor",
]
