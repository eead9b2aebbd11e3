"""Networks beside their peers on tiny data: that all did what is timed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from benchmarks import information
from benchmarks.data import Split, Trial, nonlinear
from benchmarks.information import (
    DESCENTS,
    DIGITS,
    PERCEPTRONS,
    SEPARATORS,
    Training,
    at_equal_loss,
    components,
    entropies,
    errors,
    in_precision,
    mixture,
    penalised_loss,
    perceptrons,
    softmax,
    trained,
)
from entrolab.fit.limits import Limits

LIMITS = Limits(seconds=60)
MADE = Trial("in-no-catalog", 120, 60, n_features=4, n_classes=3)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path):
    """Raw data go into a folder below the current one."""
    monkeypatch.chdir(tmp_path)


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


def test_binned_entropies_are_close_to_those_of_all_pairs():
    table = entropies(LIMITS, sizes=(150, 600), bandwidths=(0.5,)).table
    assert table.index.tolist() == [(n, order, 0.5) for n in (150, 600) for order in ("shannon", "renyi")]
    assert_allclose(table["faster"], table["all pairs ms"] / table["binned ms"])
    assert (table["value"] < 1e-5).all()
    assert (table["gradient"] < 1e-2).all()
    assert (table["gradient"] > 0).all()  # they are two ways


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


def test_descents_end_at_the_same_loss():
    table = softmax(LIMITS, [DIGITS, MADE], iterations=60).table
    assert table.index.tolist() == [
        (name, precision)
        for name in ("sklearn-digits", "in-no-catalog (made)")
        for precision in ("float64", "float32")
    ]
    ours, theirs = DESCENTS
    assert_allclose(table[f"{ours} loss"], table[f"{theirs} loss"], rtol=2e-3)
    assert (table.loc["sklearn-digits", [f"{ours} %", f"{theirs} %"]] > 90).all(axis=None)
    assert (table[[f"{ours} s", f"{theirs} ×"]] > 0).all(axis=None)
    assert (table[[f"{ours} iterations", f"{theirs} iterations"]] <= 60).all(axis=None)
    assert (table["note"] == "").all()


def test_at_equal_loss_only_the_iterations_until_then_count():
    ours = {"s": 3.0, "iterations": 3, "curve": [3.0, 2.0, 1.0]}
    assert at_equal_loss(ours, {"s": 4.0, "loss": 2.0}) == pytest.approx(2)
    assert at_equal_loss(ours, {"s": 4.0, "loss": 2.5}) == pytest.approx(2)
    assert at_equal_loss(ours, {"s": 4.0, "loss": 1.0}) == pytest.approx(4 / 3)
    assert np.isnan(at_equal_loss(ours, {"s": 4.0, "loss": 0.9}))
    assert np.isnan(at_equal_loss(ours, {"s": np.nan, "loss": np.nan}))


def test_a_peer_that_fails_is_a_dash_with_its_reason(monkeypatch):
    never = {
        "SoftmaxRegression": DESCENTS["SoftmaxRegression"],
        "LogisticRegression": lambda n, iterations: LogisticRegression(C=-1.0),
    }
    monkeypatch.setattr(information, "DESCENTS", never)
    row = softmax(LIMITS, [MADE], iterations=5, precisions=("float64",)).table.iloc[0]
    assert row[["LogisticRegression ×", "× at equal loss", "LogisticRegression loss"]].isna().all()
    assert row[["SoftmaxRegression s", "SoftmaxRegression loss"]].notna().all()
    assert "LogisticRegression: " in row["note"]
    assert "C" in row["note"]


def test_rows_are_cast_and_labels_are_not(split):
    cast = in_precision(split, "float32")
    assert cast.X_train.dtype == cast.X_test.dtype == np.float32
    assert_array_equal(cast.y_train, split.y_train)


# --- perceptrons --------------------------------------------------------------------------------------


def test_perceptrons_of_both_kinds_learn_in_batches_and_row_by_row():
    trainings = [(DIGITS, Training(30, 20, 15)), (MADE, Training(5, 1, 2, "float64"))]
    table = perceptrons(LIMITS, trainings).table
    assert table.index.tolist() == [
        ("sklearn-digits", 30, 20, "float32"),
        ("in-no-catalog (made)", 5, 1, "float64"),
    ]
    accuracies = table[[f"{name} %" for name in PERCEPTRONS]]
    assert (accuracies.iloc[0] > 80).all()
    assert (table[["MSEMLPClassifier s", "MLPClassifier ×"]] > 0).all(axis=None)
    assert table["epochs"].tolist() == [15, 2]


def test_a_training_that_ends_early_is_no_measurement(split):
    class Early:
        n_iter_ = 2

        def fit(self, X, y):
            return self

    with pytest.raises(RuntimeError, match="2 epochs instead of 3"):
        trained(Early(), split, 3)


# --- independent components ---------------------------------------------------------------------------


def test_mixtures_are_of_unit_sources_of_the_kinds_in_turn():
    X, mixing = mixture(("laplace", "uniform"), 4, 20_000, 0)
    sources = X @ np.linalg.inv(mixing).T
    assert_allclose(sources.std(axis=0), 1, rtol=1e-10)
    kurtosis = np.mean((sources - sources.mean(axis=0)) ** 4, axis=0)
    assert_allclose(kurtosis, [6, 1.8, 6, 1.8], rtol=0.2)


def test_all_recover_peaked_sources_and_two_of_them_flat_ones():
    table = components(
        LIMITS, [(("laplace",), 3, 3000), (("laplace", "uniform"), 4, 3000)], repetitions=3
    ).table
    assert table.index.tolist() == [("laplace", 3, 3000), ("laplace and uniform", 4, 3000)]
    index = table[[f"{name} index" for name in SEPARATORS]]
    assert (index.iloc[0] < 0.05).all()
    assert (index.iloc[1].drop("all logistic index") < 0.05).all()
    assert index.iloc[1]["all logistic index"] > 0.1
    assert (table[["InfomaxICA s", "all logistic ×", "FastICA ×"]] > 0).all(axis=None)
