"""What comes after a fit: partial_fit from its sums, and no weights of features to select by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE, SelectFromModel

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    streaming,
)

STREAMED = [
    EEMClassifier(20, random_state=0),
    EEMClassifier(20, activation="sigmoid", covariance="oas", random_state=0),
    EEKMClassifier(20, gamma=0.5, random_state=0),
    WELMClassifier(20, solver="cholesky", alpha=1e-3, random_state=0),
    ELMClassifier(20, alpha=1e-3, random_state=0),
    ELMRegressor(20, alpha=1e-3, random_state=0),
    RKELMClassifier(20, alpha=1e-3, random_state=0),
    RKELMRegressor(20, alpha=1e-3, random_state=0),
]
streamed = pytest.mark.parametrize("machine", STREAMED, ids=lambda each: type(each).__name__)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def target(machine, y):
    return y if is_classifier(machine) else np.column_stack([y, y**2]).astype(float)


@streamed
@pytest.mark.parametrize("how", ["fit", "single precision", "stream"])
def test_a_stream_goes_on_from_a_fit_that_kept_its_sums(machine, wine, how):
    """It equals the fit to all rows with the units of the first fit, which a stream of both halves has."""
    X, y = wine[0].astype(np.float32).astype(float), target(machine, wine[1])
    first, last = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1
    kept = clone(machine).set_params(store_sums=True)
    if how == "stream":
        streaming.fit(kept, streaming.rows(X[first], y[first], chunk_rows=20))
    else:
        kept.fit(X[first].astype(np.float32) if how == "single precision" else X[first], y[first])
    plain = clone(machine).fit(X[first], y[first])
    assert_allclose(kept.hidden_coef_, plain.hidden_coef_, rtol=1e-5, atol=1e-9)
    kept.partial_fit(X[last], y[last])
    classes = {"classes": np.unique(y)} if is_classifier(machine) else {}
    stream = clone(machine).partial_fit(X[first], y[first], **classes).partial_fit(X[last], y[last])
    expected = stream.predict_proba(X) if hasattr(stream, "predict_proba") else stream.predict(X)
    found = kept.predict_proba(X) if hasattr(kept, "predict_proba") else kept.predict(X)
    assert_allclose(found, expected, atol=1e-5)


@streamed
def test_by_default_sums_are_kept_while_they_are_small_and_exact(machine, wine, monkeypatch):
    X, y = wine[0], target(machine, wine[1])
    kept = clone(machine).fit(X, y)
    size = kept._stream.nbytes
    assert size < 64_000_000
    single = clone(machine).fit(X.astype(np.float32), y)  # EEM computes in single precision
    assert hasattr(single, "_stream") == (not isinstance(machine, EEMClassifier))
    monkeypatch.setattr("entrolearn.machines.additive.STORED_BYTES", size)
    assert not hasattr(clone(machine).fit(X, y), "_stream")
    assert hasattr(clone(machine).set_params(store_sums=True).fit(X, y), "_stream")


@streamed
def test_a_fit_without_its_sums_is_not_forgotten_in_silence(machine, wine):
    X, y = wine[0], target(machine, wine[1])
    machine, name = clone(machine).set_params(store_sums=False), type(machine).__name__
    fitted = clone(machine).fit(X, y)
    before = fitted.predict(X)
    classes = {"classes": np.unique(y)} if is_classifier(machine) else {}
    for fit in (lambda: fitted, lambda: streaming.fit(clone(machine), X, y)):
        with pytest.raises(ValueError, match=f"{name} was fitted .*store_sums=True"):
            fit().partial_fit(X, y, **classes)
    assert_array_equal(fitted.predict(X), before)


@pytest.mark.parametrize(
    "machine", [ELMRegressor(20, alpha=[0.1, 1.0]), RKELMRegressor(20, alpha=[0.1, 1.0])]
)
def test_sums_are_not_kept_of_several_ridges(machine, wine):
    with pytest.raises(ValueError, match=r"alpha=\[0.1, 1.0\]: .* one number"):
        machine.set_params(store_sums=True).fit(wine[0], wine[0][:, 0])


@pytest.mark.parametrize("machine", [*STREAMED, WELMClassifier(20)])
def test_coefficients_of_hidden_units_are_none_of_features(machine, wine):
    X, y = wine
    for selection in (SelectFromModel(machine), RFE(machine)):
        with pytest.raises((ValueError, AttributeError), match="coef_` or `feature_importances_"):
            selection.fit(X, y).get_support()
