"""Mixed precision beside double: errors and labels of sets that come with scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from benchmarks.data import catalog
from benchmarks.precision import changed, classifications, log_odds, precision
from entrolab.fit.limits import Limits
from entrolearn import EEMClassifier


def test_errors_are_those_of_two_fits():
    X, y = load_breast_cancer(return_X_y=True)
    found = changed(X, y, n_hidden=20)
    assert found["rows"] == 569
    assert found["predicted"] == 285
    assert found["computed in"] == "float32"
    assert 0 < found["median error"] < found["largest error"] < 0.1


def test_log_odds_of_three_classes_are_those_of_the_probabilities():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)) + np.arange(3).repeat(30)[:, None], np.arange(3).repeat(30)
    machine = EEMClassifier(10, random_state=0).fit(X, y)
    p = machine.predict_log_proba(X)
    assert log_odds(machine, X) == pytest.approx(p[:, 1:] - p[:, :1])


def test_table_has_a_row_for_each_set():
    section = precision(Limits(seconds=60), sets=["sklearn-wdbc"], n_hidden=20)
    assert section.table.index.tolist() == ["sklearn-wdbc"]
    assert f"of {section.table['predicted'].sum():.0f} labels" in section.notes[1]
    assert "sklearn-wdbc" in classifications()
    assert all(catalog()[name]["task"] != "regression" for name in classifications())
