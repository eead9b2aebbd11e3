"""Classifiers of this library and peers: similar classifiers, or classifiers for the same data.

All weight the classes equally, as GMEAN does. All have the same number of hidden units, landmarks or random
features, if they have any. Other parameters have default values.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
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

from benchmarks.data import GENERATED, Split, load
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolab.data.dataset import DataUnavailable
from entrolearn import EEKMClassifier, EEMClassifier
from entrolearn.metrics import gmean_score

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Peer:
    """A classifier to compare."""

    name: str
    build: Callable[[int, float, int], BaseEstimator]  # from the number of units, a kernel's gamma and a seed
    n_hidden: int | None = None  # its own number of units, if it differs from the common one


def why_absent(package: str) -> str:
    """The reason why a package cannot be imported; empty if it can."""
    return "" if find_spec(package) else f"{package} is not installed"


class HPELM(ClassifierMixin, BaseEstimator):
    """Weighted classification by hpelm's ELM, with random weights like its own, but from a seed."""

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


# h: number of hidden units; g: gamma of a kernel; r: seed.
PEERS = (
    Peer("EEM", lambda h, g, r: EEMClassifier(h, random_state=r)),
    Peer(
        'EEM, unit_scale="uniform" (the paper)',
        lambda h, g, r: EEMClassifier(h, unit_scale="uniform", bounds=None, random_state=r),
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
    Peer("hpelm, weighted", lambda h, g, r: make_pipeline(StandardScaler(), HPELM(h, r))),
    Peer("SVC", lambda h, g, r: SVC(gamma=g, class_weight="balanced")),
    Peer("LinearSVC", lambda h, g, r: LinearSVC(class_weight="balanced", random_state=r)),
    Peer(
        "HistGradientBoosting",
        lambda h, g, r: HistGradientBoostingClassifier(class_weight="balanced", random_state=r),
    ),
)

SETS = ("german-numer", "mammography", "forest-cover", GENERATED)
MANY_ROWS, UNITS = 50_000, (250, 1000)  # training sets with at least so many rows get the larger layer


def races(names: Sequence[str] = SETS, mirror=None) -> Iterator[Race]:
    """The fit of every peer to each data set, and the GMEAN of its predictions."""
    for name in names:
        try:
            split = load(name, mirror)
        except DataUnavailable as absence:
            logger.warning("%s is left out: %s", name, absence)
            continue
        n_rows, n_features = split.X_train.shape
        h = UNITS[n_rows >= MANY_ROWS]
        # A peer whose own number equals the common one would be a duplicate.
        ways = {peer.name: partial(fitted, peer, split, h) for peer in PEERS if peer.n_hidden != h}
        yield Race(f"fit {name}, {n_rows:,} × {n_features}, {h} units", ways, "GMEAN %")


def fitted(peer: Peer, split: Split, n_hidden: int, seed: int) -> Spent:
    """Cost of a fit, after a small fit has loaded the code, and the GMEAN on test rows."""
    gamma = 1 / (split.X_train.shape[1] * split.X_train.var())  # "scale" of SVC
    machine, small = (peer.build(h, gamma, seed) for h in (peer.n_hidden or n_hidden, 10))
    X, X_test = split.X_train, split.X_test
    few = np.concatenate([np.flatnonzero(split.y_train == label)[:50] for label in np.unique(split.y_train)])
    small.fit(X[few], split.y_train[few])
    spent = spend(lambda: machine.fit(X, split.y_train))
    return replace(spent, value=100 * gmean_score(split.y_test, machine.predict(X_test)))
