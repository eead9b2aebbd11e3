"""Networks beside their peers on tiny data: that all did what is timed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from benchmarks import information
from benchmarks.data import Split, nonlinear
from benchmarks.information import Training, errors, in_precision, mixture, penalised_loss, trained


@pytest.fixture(scope="module")
def split():
    X, y = nonlinear(180, 4, 3)
    return Split(X[:120], y[:120], X[120:], y[120:])


# --- entropies of errors ------------------------------------------------------------------------------


def test_errors_are_those_of_targets_and_outputs_between_them():
    e = errors(5000)
    assert np.abs(e).max() < 2
    assert abs(e.mean()) < 0.05
    assert 0.7 < np.mean(np.abs(e) < 1) < 0.95  # most are on the right side


# --- softmax regression -------------------------------------------------------------------------------


def test_loss_is_what_scikit_learn_minimises(split):
    """No other weights have less, at the strength that it was told."""
    machine = LogisticRegression(C=1 / (120 * information.WEIGHT_DECAY), max_iter=2000, tol=1e-8)
    machine.fit(split.X_train, split.y_train)
    least = penalised_loss(machine, split)
    for size in (0.99, 1.01):
        machine.coef_ *= size
        assert penalised_loss(machine, split) > least
        machine.coef_ /= size
    assert penalised_loss(machine, split) == pytest.approx(least, rel=1e-12)


def test_rows_are_cast_and_labels_are_not(split):
    cast = in_precision(split, "float32")
    assert cast.X_train.dtype == cast.X_test.dtype == np.float32
    assert_array_equal(cast.y_train, split.y_train)


# --- perceptrons --------------------------------------------------------------------------------------


def test_a_training_that_ends_early_is_no_measurement(split, monkeypatch):
    class Early:
        n_iter_ = 2

        def fit(self, X, y):
            return self

    monkeypatch.setattr(information, "PERCEPTRONS", {"early": lambda training: Early()})
    with pytest.raises(RuntimeError, match="2 epochs instead of 3"):
        trained("early", Training(5, 1, 3), split, 0)


# --- independent components ---------------------------------------------------------------------------


def test_mixtures_are_of_unit_sources_of_the_kinds_in_turn():
    X, mixing = mixture(("laplace", "uniform"), 4, 20_000, 0)
    sources = X @ np.linalg.inv(mixing).T
    assert_allclose(sources.std(axis=0), 1, rtol=1e-10)
    kurtosis = np.mean((sources - sources.mean(axis=0)) ** 4, axis=0)
    assert_allclose(kurtosis, [6, 1.8, 6, 1.8], rtol=0.2)
