"""Projections onto few dimensions that separate classes, and classification by densities there."""

from entrolearn.manifold.kde import KDEClassifier
from entrolearn.manifold.melm import MELM
from entrolearn.manifold.objective import melm_objective
from entrolearn.manifold.projections import GEM, ClassPCA, PerClassPCA, TwoEllipsoidPCA

__all__ = [
    "GEM",
    "MELM",
    "ClassPCA",
    "KDEClassifier",
    "PerClassPCA",
    "TwoEllipsoidPCA",
    "melm_objective",
]
