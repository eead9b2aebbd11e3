"""Climbs: they end at a maximum, in an orthonormal basis, whichever way they take."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from entrolearn.manifold.objective import ProjectedDivergence
from entrolearn.manifold.solvers import SOLVERS


def divergence_of(X, y, covariance="ledoit_wolf"):
    rows = [X[y == c] for c in np.unique(y)]
    return ProjectedDivergence.of_classes(rows, 2, bandwidth_scale=1.0, covariance=covariance)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return divergence_of(X[y > 0], y[y > 0])


@pytest.fixture(scope="module")
def climbs(iris):
    """Every solver's, from the same start."""
    start = np.random.default_rng(0).normal(size=(4, 2))
    return {name: climb(iris, start, max_iter=2000, tol=1e-9) for name, climb in SOLVERS.items()}


@pytest.mark.parametrize("solver", SOLVERS)
def test_climb_ends_at_a_maximum_in_an_orthonormal_basis(iris, climbs, solver):
    climb = climbs[solver]
    value, gradient = iris(climb.V)
    np.testing.assert_allclose(climb.V.T @ climb.V, np.eye(2), atol=1e-12)
    assert climb.objective == value
    assert np.abs(gradient).max() < 1e-2  # V'gradient is zero: there is nothing to project away
    rng = np.random.default_rng(1)
    around = [iris(climb.V + 0.05 * rng.normal(size=climb.V.shape))[0] for _ in range(20)]
    assert max(around) < value


@pytest.mark.parametrize("solver", SOLVERS)
def test_climb_goes_up_and_counts_its_steps(climbs, solver):
    climb = climbs[solver]
    assert climb.converged
    assert np.all(np.diff(climb.history) >= -1e-9)
    assert climb.n_evaluations >= climb.n_iter > 1
    assert climb.history[-1] == pytest.approx(climb.objective, abs=1e-6)


def test_all_solvers_find_the_same_maximum_from_some_start(iris):
    starts = np.random.default_rng(1).normal(size=(4, 4, 2))
    best = [
        max(climb(iris, start, max_iter=1000, tol=1e-9).objective for start in starts)
        for climb in SOLVERS.values()
    ]
    np.testing.assert_allclose(best, best[0], rtol=1e-4)


def test_climb_in_whitened_coordinates_does_not_depend_on_the_features_units():
    X, y = load_wine(return_X_y=True)
    start = np.random.default_rng(0).normal(size=(13, 2))
    scaled = StandardScaler().fit_transform(X)
    found = [
        SOLVERS["whitened"](divergence_of(rows, y, "empirical"), start, max_iter=1000, tol=1e-9).objective
        for rows in (X, scaled)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_penalty_of_a_basis_that_is_not_orthonormal_does_not_change_the_maximum(iris, climbs):
    """Equation (2): what it maximises is the divergence where V'V = I, and less elsewhere."""
    V = climbs["penalty"].V
    stretched = SOLVERS["penalty"](iris, 3 * V, max_iter=500, tol=1e-12)
    assert stretched.objective == pytest.approx(climbs["penalty"].objective, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_climb_that_is_cut_short_says_so(iris, solver):
    start = np.random.default_rng(0).normal(size=(4, 2))
    climb = SOLVERS[solver](iris, start, max_iter=2, tol=1e-12)
    assert not climb.converged
    assert climb.n_iter == 2


@dataclass(frozen=True)
class WithoutValue(ProjectedDivergence):
    """The divergence, but for one of its evaluations, where there is none."""

    seen: ClassVar[int]
    missing: ClassVar[int]

    def __call__(self, V):
        WithoutValue.seen += 1
        if WithoutValue.seen == self.missing:
            raise np.linalg.LinAlgError
        return super().__call__(V)


@pytest.mark.parametrize("missing", [2, 5])
@pytest.mark.parametrize("solver", SOLVERS)
def test_climb_ends_before_a_place_without_a_value_or_goes_round_it(iris, solver, missing):
    WithoutValue.seen, WithoutValue.missing = 0, missing
    edged = WithoutValue(iris.rows, iris.kernels)
    start = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))[0]
    climb = SOLVERS[solver](edged, start, max_iter=2000, tol=1e-9)
    assert climb.objective == iris(climb.V)[0]
    assert climb.converged
    assert np.all(np.diff(climb.history) >= -1e-9)
    assert len(climb.history) >= climb.n_iter
    WithoutValue.seen, WithoutValue.missing = 0, 1
    with pytest.raises(np.linalg.LinAlgError):
        SOLVERS[solver](edged, start, max_iter=2000, tol=1e-9)


def test_solver_whose_library_is_absent_says_how_to_get_it(iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymanopt", None)
    with pytest.raises(ImportError, match=r"pip install 'entrolearn\[stiefel\]'"):
        SOLVERS["stiefel"](iris, np.eye(4)[:, :2], max_iter=1, tol=1e-6)
