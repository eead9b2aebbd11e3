"""The search by linprog on tiny data: its losses, its costs, and that it ends at the same model."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import sparse_machines
from benchmarks.data import Trial, nonlinear
from benchmarks.sparse_machines import KERNELS, ByLinprog, LinprogSVC, primal, races
from entrolearn import CrossEntropySVC
from entrolearn.kernels import kernel_matrix
from entrolearn.sparse_svm.lp import class_margins, on_supports

GAUSSIAN = {"kernel": "rbf", "gamma": 0.5}


def _data():
    return nonlinear(50, 3, 2)


def losses(solutions) -> np.ndarray:
    return np.array([solution.loss for solution in solutions])


@pytest.fixture(scope="module")
def margins():
    X, y = _data()
    K = kernel_matrix(X, X, "rbf", {"gamma": 0.5, "degree": 3, "coef0": 1})
    return class_margins(K, 2.0 * y - 1, C=2.0)


@pytest.mark.parametrize(("used", "loss"), [((True, True), 0.0), ((True, False), 1.5), ((False, False), 2.0)])
def test_loss_of_two_rows_is_what_a_pencil_finds(used, loss):
    # Rows 1 and -1, a linear kernel: f(x) = w x + b, and w is the sum of the coefficients, each at most C.
    C = 0.25 if loss else 1.0
    two = class_margins(np.array([[1.0, -1], [-1, 1]]), np.array([1.0, -1]), C=C)
    coef, found = primal(two, np.array(used))
    assert found == pytest.approx(loss, abs=1e-9)
    assert not coef[~np.array(used)].any()


def test_linprog_finds_the_losses_of_the_programs_that_are_kept(margins):
    sets = np.random.default_rng(0).random((12, 50)) < 0.3
    found = [primal(margins, used) for used in sets]
    ours = list(on_supports(margins, sets))
    assert_allclose([loss for _, loss in found], losses(ours), rtol=1e-7)
    for (coef, loss), solution, used in zip(found, ours, sets, strict=True):
        assert not coef[~used].any()
        assert margins.losses(coef, solution.intercept).sum() >= loss - 1e-7  # no intercept does better
    assert np.ptp(losses(ours)) > 1  # sets that differ


def test_what_linprog_cannot_solve_has_no_cost(margins, monkeypatch):
    monkeypatch.setattr(sparse_machines, "linprog", lambda *some, **more: SimpleNamespace(success=False))
    costs, kept = ByLinprog(margins)(np.ones((2, 50), dtype=bool))
    assert np.isnan(costs).all()
    assert not kept.any()


def test_costs_by_linprog_are_coefficients_and_losses(margins):
    judge, sets = ByLinprog(margins), np.random.default_rng(1).random((5, 50)) < 0.2
    costs, kept = judge(sets)
    assert not (kept & ~sets).any()
    assert_allclose(costs, kept.sum(axis=1) + 2.0 * losses(on_supports(margins, sets)), rtol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_by_linprog_ends_at_the_same_machine(seed):
    X, y = _data()
    ours, theirs = (
        machine(C=2.0, **GAUSSIAN, random_state=seed) for machine in (CrossEntropySVC, LinprogSVC)
    )
    ours.fit(X, y)
    theirs.fit(X, y)
    assert theirs.objective_ == pytest.approx(ours.objective_, rel=1e-7)
    assert_array_equal(theirs.support_, ours.support_)
    assert [each.n_evaluations for each in theirs.history_] == [each.n_evaluations for each in ours.history_]


def test_races_are_on_standardised_rows_and_say_what_is_made():
    trials = (
        Trial("sklearn-wdbc", 40, 40, n_features=30, n_classes=2),
        Trial("in-no-catalog", 60, 30, n_features=5, n_classes=2),
    )
    found = list(races(trials))
    names = ("sklearn-wdbc", "in-no-catalog (made)")
    assert [race.what for race in found] == [f"{name}, {kernel}" for name in names for kernel in KERNELS]
    for race in found:
        for way in race.ways.values():
            _, _, split = way.args
            assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
            assert_allclose(split.X_train.std(axis=0), 1)
    ours, theirs = (way(0) for way in found[0].ways.values())
    assert theirs.value == pytest.approx(ours.value, rel=1e-7)
    assert min(ours.seconds, theirs.seconds) > 0
