"""Who is compared: our machines, and other ways to a classifier of the same kind or for the same data.

GMEAN weighs the classes alike, so everyone is told to. Where there are hidden units, landmarks or random
features, all have the same number of them. Every other setting is the default.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from entrolearn import EEKMClassifier, EEMClassifier

REFERENCE = "EEM"  # the peer whose fit is the unit of the ratios


@dataclass(frozen=True)
class Peer:
    """Someone to compare.

    Attributes
    ----------
    name : str
    build : callable
        Of the number of hidden units, the gamma of a Gaussian kernel and a seed: the unfitted classifier.
    dtype : type
        Precision of the features that it is given.
    n_hidden : int, optional
        Its own number of units, where that is not everyone's.
    package : str
        What has to be installed.
    """

    name: str
    build: Callable[[int, float, int], BaseEstimator]
    dtype: type = np.float64
    n_hidden: int | None = None
    package: str = "sklearn"

    def absence(self) -> str:
        """Why it cannot take part; empty if it can."""
        return why_absent(self.package)


def why_absent(package: str) -> str:
    """Why a package cannot be imported; empty if it can."""
    return "" if find_spec(package) else f"{package} is not installed"


class HPELM(ClassifierMixin, BaseEstimator):
    """Weighted classification by hpelm's ELM; its weights as it draws them itself, but from a seed."""

    def __init__(self, n_hidden: int, random_state: int):
        self.n_hidden = n_hidden
        self.random_state = random_state

    def fit(self, X, y):
        """Fit on standardised rows."""
        from hpelm import ELM

        self.classes_, codes = np.unique(y, return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        weights = rng.standard_normal((X.shape[1], self.n_hidden)) * 3 / np.sqrt(X.shape[1])
        self.machine_ = ELM(X.shape[1], len(self.classes_))
        self.machine_.add_neurons(self.n_hidden, "sigm", weights, rng.standard_normal(self.n_hidden))
        self.machine_.train(X, np.eye(len(self.classes_))[codes], "wc")
        return self

    def predict(self, X):
        """The class of the largest output."""
        return self.classes_[self.machine_.predict(X).argmax(axis=1)]


# h hidden units, g the gamma of a kernel, r a seed.
PEERS = (
    Peer(REFERENCE, lambda h, g, r: EEMClassifier(h, random_state=r)),
    Peer('EEM, precision="mixed"', lambda h, g, r: EEMClassifier(h, precision="mixed", random_state=r)),
    Peer(
        'EEM, gamma="uniform" (the paper)',
        lambda h, g, r: EEMClassifier(h, gamma="uniform", feature_range=None, random_state=r),
    ),
    Peer("EEM, 250 units (the default)", lambda h, g, r: EEMClassifier(h, random_state=r), n_hidden=250),
    Peer("EEKM", lambda h, g, r: EEKMClassifier(h, gamma=g, random_state=r)),
    Peer(
        "EEM by scikit-learn's LedoitWolf",
        lambda h, g, r: EEMClassifier(h, covariance=LedoitWolf(store_precision=False), random_state=r),
    ),
    Peer(
        "Nystroem + LDA, shrinkage",
        lambda h, g, r: make_pipeline(
            Nystroem(gamma=g, n_components=h, random_state=r),
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[0.5, 0.5]),
        ),
    ),
    Peer(
        "RBFSampler + RidgeClassifier",
        lambda h, g, r: make_pipeline(
            RBFSampler(gamma=g, n_components=h, random_state=r), RidgeClassifier(class_weight="balanced")
        ),
    ),
    Peer("hpelm, weighted", lambda h, g, r: make_pipeline(StandardScaler(), HPELM(h, r)), package="hpelm"),
    Peer("SVC", lambda h, g, r: SVC(gamma=g, class_weight="balanced")),
    Peer("LinearSVC", lambda h, g, r: LinearSVC(class_weight="balanced", random_state=r)),
    Peer(
        "HistGradientBoosting",
        lambda h, g, r: HistGradientBoostingClassifier(class_weight="balanced", random_state=r),
    ),
)
