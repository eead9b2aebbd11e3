"""Values of parameters that are refused by a learner's source alone."""

import numpy as np
import pytest
from public_estimators import ESTIMATORS
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from entrolab.jobs.source_analysis import UnknownEstimatorError, constraints_of
from entrolab.study.constraints import check_values

VALUES = [None, True, -1, 0, 1, 2, 0.0, 0.5, 1.5, -0.5, 1e9, "auto", "rbf", "no such word", [1.0], {"a": 1}]
OTHERS = [
    GaussianMixture(),
    KMeans(),
    KNeighborsClassifier(),
    LinearDiscriminantAnalysis(),
    LogisticRegression(),
    MLPClassifier(),
    NuSVC(),
    PCA(),
    Perceptron(),
    RandomForestClassifier(),
    Ridge(),
    SVC(),
    SVR(),
    StandardScaler(),
]


def import_path(estimator) -> str:
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def is_refused(estimator, name: str, value) -> bool:
    try:
        check_values(import_path(estimator), name, [value], what="here")
    except UnknownEstimatorError:
        return True
    return False


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *OTHERS], ids=lambda estimator: type(estimator).__name__)
def test_what_the_source_rules_out_is_what_fit_would_refuse(estimator):
    """The oracle is scikit-learn's own reading of the constraints, when the class has been imported."""
    for name, default in estimator.get_params(deep=False).items():
        assert not is_refused(estimator, name, default), f"{name} = {default!r}"
        for value in VALUES:
            if is_refused(estimator, name, value):
                with pytest.raises(ValueError, match=f"The '{name}' parameter"):
                    clone(estimator).set_params(**{name: value})._validate_params()


@pytest.mark.parametrize(
    ("estimator", "name", "value", "line"),
    [
        (SVC(), "C", 0, "sklearn.svm._classes.SVC takes no C = 0 (here); accepted: a number above 0"),
        (
            SVC(),
            "kernel",
            "rbff",
            "(here), did you mean 'rbf'?; accepted: linear, poly, precomputed, rbf, sigmoid",
        ),
        (SVC(), "gamma", -1, "accepted: auto, scale or a number from 0"),
        (SVC(), "break_ties", "yes", "accepted: true or false"),
        (NuSVC(), "nu", 1.5, "accepted: a number above 0 to 1"),
        (KNeighborsClassifier(), "n_neighbors", 1.5, "accepted: a whole number from 1 or null"),
        (
            KNeighborsClassifier(),
            "weights",
            "uniforn",
            "did you mean 'uniform'?; accepted: distance, uniform",
        ),
        (RandomForestClassifier(), "max_depth", 0, "accepted: a whole number from 1 or null"),
        (Perceptron(), "penalty", "l3", "accepted: elasticnet, l1, l2 or null"),
        (
            ESTIMATORS[0],
            "n_hidden",
            "many",
            "takes no n_hidden = 'many' (here); accepted: a whole number from 1",
        ),
    ],
)
def test_a_value_that_is_ruled_out_is_told_with_what_is_accepted(estimator, name, value, line):
    with pytest.raises(UnknownEstimatorError) as caught:
        check_values(import_path(estimator), name, [value], what="here")
    assert line in str(caught.value)


@pytest.mark.parametrize("name", ["C", "class_weight", "no_such_parameter"])
def test_what_the_source_does_not_say_is_not_refused(tmp_path, monkeypatch, name):
    (tmp_path / "of_a_person.py").write_text(
        "from sklearn.svm import SVC\n"
        "class Plain:\n    def __init__(self, C=1): ...\n"
        "class Computed(SVC):\n    _parameter_constraints = dict(C=[None])\n"
        "class Changed(SVC):\n    _parameter_constraints = {}\n    _parameter_constraints.update(**x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for learner in ("Plain", "Computed", "Changed", "Absent"):
        assert constraints_of(f"of_a_person.{learner}", name) is None
        check_values(f"of_a_person.{learner}", name, [np.nan, "x", None], what="here")
