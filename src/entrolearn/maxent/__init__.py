"""Greatest entropy under constraints: distributions with given moments, and classification by features."""

from entrolearn.maxent.distribution import MaximumEntropyDistribution

__all__ = ["MaximumEntropyDistribution"]
