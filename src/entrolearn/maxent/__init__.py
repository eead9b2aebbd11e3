"""Maximum entropy under constraints: distributions with given moments, and a maximum entropy classifier."""

from entrolearn.maxent.classifier import MaxEntClassifier
from entrolearn.maxent.distribution import MaximumEntropyDistribution

__all__ = ["MaxEntClassifier", "MaximumEntropyDistribution"]
