"""The cross-entropy method: optimisation by sampling distributions that are fitted to their best samples."""

from entrolearn.optimize.cross_entropy import (
    CrossEntropyIteration,
    CrossEntropyResult,
    cross_entropy_method,
)
from entrolearn.optimize.families import Bernoulli, Family, Gaussian, MultivariateGaussian

__all__ = [
    "Bernoulli",
    "CrossEntropyIteration",
    "CrossEntropyResult",
    "Family",
    "Gaussian",
    "MultivariateGaussian",
    "cross_entropy_method",
]
