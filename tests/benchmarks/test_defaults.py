"""The table of all learners at their defaults."""

import os
import resource
import signal

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.datasets import load_iris, make_regression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.defaults import LEARNERS, auc, measured, summary
from entrolearn import KDEClassifier, OneNormSVC

X, y = load_iris(return_X_y=True)


class Endless(ClassifierMixin, BaseEstimator):
    """A fit that never ends: the system's signal comes at once, if there is a limit of one second."""

    def fit(self, X, y):
        assert resource.getrlimit(resource.RLIMIT_CPU)[0] == 1
        os.kill(os.getpid(), signal.SIGXCPU)


def test_scores():
    found = measured(KNeighborsClassifier(), X * [1, 1e3, 1, 1], y, False, 20)
    scaled = measured(KNeighborsClassifier(), X * [1, 1e3, 1, 1], y, True, 20)
    assert scaled["score"] > found["score"] + 0.05  # a feature in other units drowns the others
    assert scaled["auc"] > 0.95
    line = make_regression(100, 3, random_state=0)
    assert measured(LinearRegression(), *line, False, 20)["score"] == pytest.approx(1)


def test_auc_is_scikit_learns():
    model = KNeighborsClassifier().fit(X, y)
    assert auc(model, X, y) == pytest.approx(roc_auc_score(y, model.predict_proba(X), multi_class="ovr"))


@pytest.mark.parametrize(
    ("learner", "rows", "reason"),
    [
        (Endless(), X, "over 1 s"),
        (OneNormSVC(), X, "two classes only"),
        (KDEClassifier(), csr_array(np.repeat(X, 300, axis=1)), "dense rows only"),
        (KNeighborsClassifier(1000), X, "ValueError"),
    ],
)
def test_reasons(learner, rows, reason):
    assert measured(learner, rows, y, False, 1)["reason"].startswith(reason)


def test_means_are_over_sets_with_both_ways():
    rows = [
        ("a", "`SVC`", "raw", 0.5, 0.6, None),
        ("a", "`SVC`", "scaled", 0.7, 0.8, None),
        ("b", "`SVC`", "raw", 0.9, 0.9, None),
        ("b", "`SVC`", "scaled", None, None, "over 20 s"),
        ("a", "EEMClassifier", "raw", 0.8, 0.9, None),
        ("a", "EEMClassifier", "scaled", 0.8, 0.9, None),
    ]
    columns = ["set", "learner", "features", "score", "auc", "reason"]
    lines = summary(pd.DataFrame(rows, columns=columns).assign(seconds=0.1), is_classifier).splitlines()
    assert lines[2] == "| {class}`~entrolearn.EEMClassifier` | 80.0 | 80.0 | +0.0 | 90.0 | 90.0 | 1 | – |"
    assert lines[3] == "| `SVC` | 50.0 | 70.0 | −20.0 | 60.0 | 80.0 | 1 | 1 |"
    assert len(LEARNERS) == 35
