"""Tridiagonal form: many shifts of one matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from entrolearn.machines.tridiagonal import Tridiagonal


@pytest.mark.parametrize("n", [2, 3, 70])
@pytest.mark.parametrize("n_columns", [1, 4])
def test_each_shift_solves_its_system(n, n_columns):
    rng = np.random.default_rng(n)
    A, right = rng.normal(size=(n, n)), rng.normal(size=(n, n_columns))
    A = np.asfortranarray(A @ A.T)
    shifts = [0.1, 1.0, 1e3]
    solutions = Tridiagonal(A.copy(order="F")).solve(right, shifts)
    for shift, solution in zip(shifts, solutions, strict=True):
        assert_allclose(solution, np.linalg.solve(A + shift * np.eye(n), right), rtol=1e-8, atol=1e-10)


def test_only_the_lower_triangle_is_read():
    A = np.asfortranarray(np.diag([3.0, 2.0, 4.0]) + np.tri(3, k=-1))
    whole = A + np.tril(A, -1).T
    (solution,) = Tridiagonal(A.copy(order="F")).solve(np.eye(3), [1.0])
    assert_allclose(solution, np.linalg.inv(whole + np.eye(3)), atol=1e-14)


def test_a_shift_that_is_too_small_gives_nothing_and_spoils_no_other():
    """Eigenvalues -1 and 3."""
    A = np.asfortranarray([[1.0, 2.0], [2.0, 1.0]])
    below, above = Tridiagonal(A.copy(order="F")).solve(np.eye(2), [0.5, 1.5])
    assert np.isnan(below).all()
    assert_allclose(above, np.linalg.inv(A + 1.5 * np.eye(2)), atol=1e-13)
