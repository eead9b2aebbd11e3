"""The races of reduced kernel machines on tiny data: who takes part, what is a ratio, what is a score."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import root_mean_squared_error

from benchmarks import reduced
from benchmarks.data import Trial
from benchmarks.reduced import RACERS, REFERENCE, Racer, Size, large, races, score, sparse, sparse_rows
from entrolab.fit.limits import Limits

LIMITS = Limits(seconds=60)
TRIALS = [
    (Trial("made-values", 300, 150, n_features=3), Size(40, sigma=2.0)),
    (Trial("made-classes", 300, 150, n_features=3, n_classes=3), Size(40, sigma=2.0)),
]


def test_every_racer_learns_values_and_classes():
    table = races(LIMITS, TRIALS).table
    assert [name for name, _ in table.index] == ["made-values (made)", "made-classes (made)"]
    scores = table[[f"{racer.name} score" for racer in RACERS]]
    assert (scores.iloc[0] < 0.15).all()  # the best constant has 0.2
    assert (scores.iloc[1] > 60).all()  # the best constant has 33
    assert (table[f"{REFERENCE} s"] > 0).all()


def test_seconds_are_ratios_to_the_reference(monkeypatch):
    seconds = {"1": 2.0, "2": 6.0}

    def measured(limits, work, machine, split):
        return {"fit s": seconds[machine.strategy], "score": 50.0}

    monkeypatch.setattr(reduced, "_measured", measured)
    racers = [
        Racer(name, None, lambda size, told=told: DummyClassifier(strategy=told))
        for name, told in ((REFERENCE, "1"), ("other", "2"))
    ]
    table = races(LIMITS, TRIALS[1:], racers).table
    assert table.iloc[0].to_dict() == {"RKELM s": 2, "other ×": 3, "RKELM score": 50, "other score": 50}


def test_a_racer_that_fails_is_a_dash():
    fails = Racer("fails", None, lambda size: DummyClassifier(strategy="none of those"))
    table = races(LIMITS, TRIALS[1:], [RACERS[0], fails]).table
    assert table[["fails ×", "fails score"]].isna().all(axis=None)
    assert table[f"{REFERENCE} score"].notna().all()


def test_scores_are_the_accuracy_in_percent_or_the_root_mean_square_error():
    y, predicted = np.array([0.0, 1, 1, 0]), np.array([0.0, 1, 0, 0])
    assert score(DummyClassifier(), y, predicted) == 75
    assert score(DummyRegressor(), y, predicted) == pytest.approx(root_mean_squared_error(y, predicted))


@pytest.mark.parametrize("density", [0.02, 0.5])
def test_sparse_rows_have_the_asked_density_and_two_equal_classes(density):
    X, y = sparse_rows(500, 200, density)
    assert issparse(X)
    assert X.shape == (500, 200)
    assert X.has_canonical_format
    assert X.nnz / 1e5 == pytest.approx(density, rel=0.1)
    assert_allclose(np.asarray((X != 0).mean(axis=0)).ravel().mean(), density, rtol=0.1)
    assert y.mean() == 0.5


def test_densities_that_make_too_many_numbers_are_left_out(monkeypatch):
    monkeypatch.setattr(reduced, "MOST_NUMBERS", 2000)
    table = sparse(LIMITS, dimensions=(100, 1000), densities=(0.5, 0.02), n_samples=60, n_units=10).table
    assert table.index.tolist() == [(100, 0.02), (1000, 0.02)]
    assert_allclose(table["ELM ×"], table["ELM s"] / table["RKELM s"])


def test_many_rows_are_fitted_by_all_whose_memory_grows_with_the_rows_alone():
    table = large(LIMITS, n_train=300, n_test=100, n_features=4, sizes=(5, 20)).table
    assert set(table.loc[5].index) == {racer.name for racer in RACERS} - {"KELM"}
    assert table.loc[20, "RMSE"].between(0, 0.2).all()
    assert (table["note"] == "").all()
