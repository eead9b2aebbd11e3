"""The cross-entropy method: optimisation by a distribution that learns from its own best samples."""

from entrolearn.optimize.families import Bernoulli, Categorical, Family, Gaussian, MultivariateGaussian

__all__ = ["Bernoulli", "Categorical", "Family", "Gaussian", "MultivariateGaussian"]
