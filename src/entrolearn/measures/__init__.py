"""What is measured: entropies and divergences, as functions on arrays."""

from entrolearn.measures.density import silverman_bandwidth, silverman_factor
from entrolearn.measures.divergence import (
    cauchy_schwarz_gaussian,
    cauchy_schwarz_kde,
    quadratic_cross_entropy_gaussian,
    quadratic_cross_entropy_kde,
    quadratic_entropy_gaussian,
    quadratic_entropy_kde,
)
from entrolearn.measures.errors import error_entropy
from entrolearn.measures.order_statistics import expected_maximum

__all__ = [
    "cauchy_schwarz_gaussian",
    "cauchy_schwarz_kde",
    "error_entropy",
    "expected_maximum",
    "quadratic_cross_entropy_gaussian",
    "quadratic_cross_entropy_kde",
    "quadratic_entropy_gaussian",
    "quadratic_entropy_kde",
    "silverman_bandwidth",
    "silverman_factor",
]
