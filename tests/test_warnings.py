"""Warnings point to the line of the user's call, whatever lies between: validation, pipelines, searches."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import entrolearn
from entrolearn import (
    MELM,
    RSVC,
    RSVR,
    CrossEntropyClustering,
    CrossEntropySVC,
    EEKMClassifier,
    EEMClassifier,
    InfomaxICA,
    KLClustering,
    MinimumEntropyClustering,
    gmean_score,
)
from entrolearn.cluster import CrossEntropyMethodClustering
from entrolearn.maxent import MaxEntClassifier
from entrolearn.measures import knn_mutual_information
from entrolearn.networks import SoftmaxRegression
from entrolearn.user_warnings import warn_user

rng = np.random.default_rng(0)
X = rng.uniform(size=(60, 3))
y = (X[:, 0] + rng.normal(scale=0.3, size=60) > 0.5).astype(int)
FEW = EEMClassifier(5, min_class_size=1000)
CALLS = {
    "fit, pooled covariances": lambda: FEW.fit(X, y),
    "fit, in a subclass of the machine": lambda: EEKMClassifier(5, min_class_size=1000).fit(X, y),
    "fit, equal class means": lambda: EEMClassifier(5, min_class_size=0).fit(np.ones((60, 3)), y),
    "fit, of a pipeline": lambda: make_pipeline(FEW).fit(X, y),
    "fits, of scikit-learn and joblib": lambda: cross_val_predict(FEW, X, y, cv=2),
    "partial_fit": lambda: EEMClassifier(5).partial_fit(X[:1], y[:1], classes=[0, 1]),
    "function": lambda: gmean_score([0, 0], [0, 1]),
    "measure": lambda: knn_mutual_information(X[:6, :2], X[:6, 2:]),
    **{
        f"fit, {type(learner).__name__}": lambda learner=learner: learner.fit(
            X, y if is_classifier(learner) or not hasattr(learner, "fit_predict") else None
        )
        for learner in [
            CrossEntropyClustering(3, max_iter=1, n_init=1, random_state=0),
            CrossEntropyMethodClustering(3, max_iter=1, random_state=0),
            CrossEntropySVC(max_iter=1, random_state=0),
            InfomaxICA(max_iter=1, tol=1e-12, random_state=0),
            KLClustering(3, max_iter=1, tol=0, n_init=1, random_state=0),
            MELM(n_init=1, max_iter=1, random_state=0),
            MaxEntClassifier(max_iter=1),
            MinimumEntropyClustering(3, max_iter=1),
            RSVC(max_iter=1),
            RSVR(max_iter=1),
            SoftmaxRegression(max_iter=1),
        ]
    },
}


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warnings_point_to_the_line_of_the_call(call):
    with pytest.warns((UserWarning, ConvergenceWarning)) as caught:
        call()
    lines = {(each.filename, each.lineno) for each in caught}
    assert {name for name, _ in lines} == {__file__}
    first = call.__code__.co_firstlineno
    assert all(first <= line <= first + 2 for _, line in lines)


def test_no_module_counts_the_frames_itself():
    """The number of frames changes with each decorator; only `warn_user` may issue a warning."""
    package = Path(entrolearn.__file__).parent
    own = Path(warn_user.__code__.co_filename)
    counted = [path for path in package.rglob("*.py") if "warnings.warn(" in path.read_text()]
    assert counted == [own]
