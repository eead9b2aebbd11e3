"""Metrics of predictions and projections that the papers report and scikit-learn does not have."""

from entrolearn.metrics.gmean import gmean_score, gmean_scorer
from entrolearn.metrics.information import (
    information_scorer,
    information_scores,
    normalized_mutual_information_scorer,
    reject_least_certain,
)
from entrolearn.metrics.separability import (
    separability_classifiers,
    separability_scores,
    visual_separability,
)

__all__ = [
    "gmean_score",
    "gmean_scorer",
    "information_scorer",
    "information_scores",
    "normalized_mutual_information_scorer",
    "reject_least_certain",
    "separability_classifiers",
    "separability_scores",
    "visual_separability",
]
