"""Mixed precision of extreme entropy machines: equal to fits of rounded rows, near fits in double."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

from entrolearn import EEMClassifier, streaming
from entrolearn.path import Partition, path

SETTINGS = [
    {},
    {"activation": "sigmoid", "covariance": "oas"},
    {"activation": "nsigmoid", "covariance": 0.1},
    {"gamma": "uniform", "feature_range": (0, 1)},
]


@pytest.fixture(params=[load_breast_cancer, load_wine], ids=["two classes", "three"])
def rows(request):
    X, y = request.param(return_X_y=True)
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("settings", SETTINGS)
def test_mixed_precision_is_that_of_rows_in_single_precision(rows, settings, container):
    X, y = rows
    mixed = EEMClassifier(40, **settings, precision="mixed", random_state=0).fit(container(X), y)
    rounded = container(X.astype(np.float32))
    single = EEMClassifier(40, **settings, random_state=0).fit(rounded, y)
    assert mixed.hidden_coef_.dtype == np.float32
    for name in ("hidden_coef_", "projected_variances_", "shrinkage_"):
        assert_array_equal(getattr(mixed, name), getattr(single, name))
    assert_array_equal(mixed.decision_function(container(X)), single.decision_function(rounded))
    assert_array_equal(mixed.input_gradient(container(X[:9])), single.input_gradient(rounded[:9]))


@pytest.mark.parametrize("settings", SETTINGS)
def test_log_odds_of_mixed_precision_are_near_those_of_double(rows, settings):
    """The square root of the precision bounds the error: half of the digits of a covariance remain."""
    X, y = rows
    machine = EEMClassifier(40, **settings, random_state=0)
    double = clone(machine).fit(X, y).decision_function(X)
    mixed = machine.set_params(precision="mixed").fit(X, y).decision_function(X)
    bound = np.finfo(np.float32).eps ** 0.5 * np.abs(double).max()
    assert 0 < np.abs(mixed - double).max() < bound


def test_a_covariance_without_digits_is_computed_in_double(rows):
    X, y = rows
    settings = {"activation": "nsigmoid", "covariance": "empirical", "random_state": 0}
    machine = EEMClassifier(400, **settings, precision="mixed").fit(X, y)
    assert machine.solver_info_["dtype"] == "float64"
    assert_array_equal(machine.predict(X), EEMClassifier(400, **settings).fit(X, y).predict(X))


def test_streamed_rows_are_rounded_too(rows):
    X, y = rows
    machine = EEMClassifier(40, precision="mixed", random_state=0)
    streamed = streaming.fit(clone(machine), streaming.rows(X, y, chunk_rows=50))
    whole = machine.fit(X, y)
    assert streamed.hidden_coef_.dtype == np.float32
    error = np.abs(streamed.decision_function(X) - whole.decision_function(X)).max()
    assert error < 1e-3 * np.abs(whole.decision_function(X)).max()
    chunk = clone(machine).partial_fit(X, y, classes=np.unique(y))
    assert chunk.hidden_coef_.dtype == np.float64


def test_paths_round_as_fits_do(rows):
    X, y = rows
    partition = Partition.cross_validation(np.arange(len(y)) % 3)
    machine = EEMClassifier(feature_range=(0, 1), random_state=0)
    sizes = [{"n_hidden": 10}, {"n_hidden": 20}]
    mixed = list(path(clone(machine).set_params(precision="mixed"), X, y, partition, sizes))
    single = list(path(machine, X.astype(np.float32), y, partition, sizes))
    for one, other in zip(mixed, single, strict=True):
        assert (one.left_out, one.params) == (other.left_out, other.params)
        assert_array_equal(one.prediction, other.prediction)
    if len(np.unique(y)) == 2:
        assert_array_equal(mixed[0].log_odds, single[0].log_odds)


def test_paths_over_precisions_are_those_of_each(rows):
    X, y = rows
    partition = Partition.cross_validation(np.arange(len(y)) % 3)
    machine = EEMClassifier(10, feature_range=(0, 1), random_state=0)
    both = list(path(machine, X, y, partition, [{"precision": "input"}, {"precision": "mixed"}]))
    for point in both:
        (alone,) = (
            each
            for each in path(clone(machine).set_params(**point.params), X, y, partition, [{}])
            if each.left_out == point.left_out
        )
        assert_array_equal(point.prediction, alone.prediction)


@pytest.mark.usefixtures("dispatch")
def test_arrays_of_other_libraries_are_rounded_where_they_are(place, rows):
    X, y = rows
    machine = EEMClassifier(40, precision="mixed", random_state=0)
    numpys, theirs = clone(machine).fit(X, y), clone(machine).fit(place(X), place(y))
    assert type(theirs.hidden_coef_) is type(place(X))
    assert place.numbers(theirs.hidden_coef_).dtype == np.float32
    expected = numpys.decision_function(X)
    found = place.numbers(theirs.decision_function(place(X)))
    assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()


def test_a_row_of_weight_two_is_two_rows(rows):
    X, y = rows
    weights = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weights)
    machine = EEMClassifier(20, feature_range=(0, 1), precision="mixed", random_state=0)
    weighted = clone(machine).fit(X, y, sample_weight=weights).decision_function(X)
    repeated = machine.fit(X[copies], y[copies]).decision_function(X)
    assert np.abs(weighted - repeated).max() < 1e-3 * np.abs(repeated).max()
