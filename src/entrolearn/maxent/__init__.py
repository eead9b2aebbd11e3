"""Greatest entropy under constraints: distributions with given moments, and classification by features."""

from entrolearn.maxent.classifier import MaxEntClassifier
from entrolearn.maxent.distribution import MaximumEntropyDistribution

__all__ = ["MaxEntClassifier", "MaximumEntropyDistribution"]
