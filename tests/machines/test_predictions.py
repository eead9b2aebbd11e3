"""What a layer keeps between predictions changes no answer, is not written to files, and is made once."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

from entrolearn import EEKMClassifier, EEMClassifier, ELMClassifier, KELMClassifier, RKELMClassifier, kernels

FORMS = {"dense": np.asarray, "csr": csr_array}
MACHINES = {
    "EEM": EEMClassifier(9, random_state=0),
    "EEM in a box": EEMClassifier(9, bounds=(-1, 2), random_state=0),
    "EEM, nsigmoid": EEMClassifier(9, activation="nsigmoid", random_state=0),
    "ELM": ELMClassifier(9, alpha=1e-3, random_state=0),
    "EEKM": EEKMClassifier(9, random_state=0),
    "RKELM": RKELMClassifier(9, random_state=0),
    "RKELM, linear": RKELMClassifier(9, kernel="linear", random_state=0),
    "KELM": KELMClassifier(),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return random_array((60, 40), density=0.03, rng=rng).toarray(), np.arange(60) % 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MACHINES)
def test_a_layer_that_has_answered_gives_the_units_of_a_new_one(name, form, rows):
    X, y = FORMS[form](rows[0]), rows[1]
    layer = MACHINES[name].fit(X, y)._layer
    first = layer.units(X[:1])
    assert_array_equal(layer.units(X), replace(layer).units(X))
    assert_allclose(first, layer.units(X)[:1], atol=1e-14)
    for other in FORMS.values():  # rows of the other form find what was kept for these
        assert_allclose(layer.units(other(rows[0])), replace(layer).units(X), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MACHINES)
def test_a_prediction_changes_no_file(name, form, rows):
    X, y = FORMS[form](rows[0]), rows[1]
    machine = MACHINES[name].fit(X, y)
    before = pickle.dumps(machine)
    answers = machine.decision_function(X)
    assert pickle.dumps(machine) == before
    assert_array_equal(pickle.loads(before).decision_function(X), answers)


@pytest.mark.parametrize("form", FORMS)
def test_units_are_prepared_once(form, rows, monkeypatch):
    X, y = FORMS[form](rows[0]), rows[1]
    machine = EEMClassifier(9, random_state=0).fit(X, y)
    machine.predict(X[:1])
    kept = machine._layer._centres
    made = []
    monkeypatch.setattr(kernels, "_Distances", lambda *args: made.append(args))
    monkeypatch.setattr(kernels, "_Frame", lambda *args: made.append(args))
    monkeypatch.setattr(kernels, "row_norms", _counted(kernels.row_norms, made, len(kept.rows)))
    machine.predict(X)
    assert not made


def _counted(function, calls: list, n_rows: int):
    """The function, which notes that it was called for so many rows."""

    def called(rows, **kwargs):
        if rows.shape[0] == n_rows:
            calls.append(rows)
        return function(rows, **kwargs)

    return called


def test_transposes_too_large_to_keep_are_made_in_blocks(rows, monkeypatch):
    X, weights = csr_array(rows[0]), np.random.default_rng(1).random((7, 40))
    kept = kernels.Factor(weights)
    expected = kernels.inner_products(X, kept)
    assert "by_feature" in vars(kept)
    monkeypatch.setattr(kernels, "KEPT_NUMBERS", weights.size - 1)
    monkeypatch.setattr(kernels, "BLOCK", 2 * X.shape[1])
    factor = kernels.Factor(weights)
    assert_allclose(kernels.inner_products(X, factor), rows[0] @ weights.T, atol=1e-14)
    assert_array_equal(kernels.inner_products(X, factor), expected)
    assert "by_feature" not in vars(factor)
