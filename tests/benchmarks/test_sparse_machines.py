"""Sparse machines on tiny data: what linprog finds, what is kept, who takes part."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks import sparse_machines
from benchmarks.data import Trial, nonlinear
from benchmarks.peers import why_absent
from benchmarks.sparse_machines import (
    KEPT,
    KERNELS,
    ONE_NORM,
    RIVALS,
    SET,
    ZERO_NORM,
    ByLinprog,
    LinprogSVC,
    RecordedSVC,
    count_support,
    primal,
    problems,
    processes,
    programs,
    same,
    support,
)
from entrolab.fit.limits import Limits
from entrolearn import CrossEntropySVC, OneNormSVC
from entrolearn.kernels import kernel_matrix
from entrolearn.sparse_svm.lp import class_margins, on_supports

LIMITS = Limits(seconds=60)
TRIALS = (Trial("sklearn-wdbc", 60, 400, n_features=30, n_classes=2),)
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


def test_a_recorded_machine_is_the_same_and_has_all_that_it_judged():
    X, y = _data()
    plain, recorded = (
        machine(C=2.0, **GAUSSIAN, local_search=False, random_state=0).fit(X, y)
        for machine in (CrossEntropySVC, RecordedSVC)
    )
    assert same(recorded, plain)
    batches = recorded.recorder_.batches
    # The last is the set of all candidates, which the machine judges after its search.
    assert sum(map(len, batches)) == plain.history_[-1].n_evaluations + 1
    assert batches[-1].all()
    assert not same(plain, CrossEntropySVC(C=2.0, **GAUSSIAN, random_state=1).fit(X, y))


@pytest.mark.parametrize("name", KEPT)
def test_programs_kept_and_built_anew_have_the_same_losses(margins, name):
    batches = list(np.random.default_rng(2).random((3, 5, 50)) < 0.2)
    naive = [primal(margins, used)[1] for sets in batches for used in sets]
    assert_allclose(losses(KEPT[name](margins, batches)), naive, rtol=1e-7)


def test_problems_are_standardised_and_say_what_is_made():
    made = Trial("in-no-catalog", 60, 30, n_features=5, n_classes=2)
    found = list(problems([*TRIALS, made], mirror=None))
    assert [names["kernel"] for names, _, _ in found] == [*KERNELS, *KERNELS]
    assert [names["data set"] for names, _, _ in found[::3]] == ["sklearn-wdbc", "in-no-catalog (made)"]
    for _, _, split in found:
        assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
        assert_allclose(split.X_train.std(axis=0), 1)


def test_a_machine_without_candidates_is_a_row_without_seconds(monkeypatch):
    # A kernel of a single value tells no rows apart: the best machine is a constant.
    monkeypatch.setattr(sparse_machines, "KERNELS", {"constant": {"kernel": "poly", "degree": 0}})
    assert programs(LIMITS, TRIALS).table[f"{SET} ×"].isna().tolist() == [True]


def test_table_of_programs_has_a_row_for_each_kernel():
    table = programs(LIMITS, TRIALS).table
    assert (table > 0).all(axis=None)
    assert len(table) == len(KERNELS)


def test_two_processes_make_the_same_machine():
    table = processes(LIMITS, n_samples=60, n_features=3, repetitions=1).table
    assert table.index.tolist() == [1, 2]
    assert (table["same machine"] == "yes").all()
    assert_allclose(table["speed-up"], table["fit s"].iloc[0] / table["fit s"])


def test_rivals_that_are_installed_learn():
    table = support(LIMITS, TRIALS).table.droplevel("data set")
    for name in RIVALS:
        rows = table.xs(name, level="machine")
        if name.startswith("abess") and why_absent("abess"):
            assert rows["note"].str.contains("'abess'").all()
            continue
        assert (rows["error %"] < 25).all()  # the larger class alone errs in 37
        assert rows["support %"].between(1, 100).all()
    ratios = table[f"× {ONE_NORM}"].xs(ONE_NORM, level="machine")
    assert (ratios == 1).all()


def test_rivals_that_cannot_take_part_say_why(monkeypatch):
    def fails(n):
        raise ValueError("not today")

    rivals = {ONE_NORM: RIVALS[ONE_NORM], ZERO_NORM: fails, "abess": sparse_machines.best_subset}
    monkeypatch.setattr(sparse_machines, "RIVALS", rivals)
    monkeypatch.setattr(sparse_machines, "KERNELS", {"Gaussian": GAUSSIAN})
    table = support(LIMITS, TRIALS).table
    assert table["note"].tolist() == [
        "",
        "ValueError: not today",
        f"ValueError: {ZERO_NORM} has no support vectors to go by",
    ]
    assert table["fit s"].isna().tolist() == [False, True, True]


def test_support_vectors_are_rows_or_columns_with_a_coefficient():
    X, y = _data()
    svc = SVC().fit(X, y)
    assert count_support(svc) == len(svc.support_)
    sparse = OneNormSVC().fit(X, y)
    assert count_support(sparse) == len(sparse.support_)
    scaled = make_pipeline(StandardScaler(), LinearSVC(C=0.05, penalty="l1", dual=False)).fit(X, y)
    assert count_support(scaled) == np.count_nonzero(scaled[-1].coef_)
