"""The races of reduced kernel machines on tiny data: who takes part, what is a ratio, what is a score."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import issparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import root_mean_squared_error

from benchmarks.reduced import score, sparse_rows


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
