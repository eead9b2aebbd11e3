"""The zero-norm machine: enumeration, the one-norm machine as a bound, any number of processes."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from entrolearn import CrossEntropySVC, CrossEntropySVR, OneNormSVC, OneNormSVR
from entrolearn.sparse_svm import cross_entropy
from entrolearn.sparse_svm.lp import class_margins, on_supports, value_margins


@pytest.fixture(scope="module")
def moons():
    return make_moons(60, noise=0.25, random_state=3)


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:100], y[:100]


def least_cost(margins, candidates: np.ndarray) -> float:
    """The minimum over all sets of candidates, one after the other."""
    sets = np.array(list(itertools.product([False, True], repeat=len(candidates))))
    solutions = on_supports(margins.among(candidates), sets)
    return min(used.sum() + margins.C * solution.loss for used, solution in zip(sets, solutions, strict=True))


THOROUGH = {"samples_per_candidate": 30}
SEEDS = 5


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_the_search_finds_the_best_of_all_sets(moons, kernel):
    X, y = moons
    machine = CrossEntropySVC(C=2.0, kernel=kernel, gamma=1.0, **THOROUGH)
    machines = [clone(machine).set_params(random_state=seed).fit(X, y) for seed in range(SEEDS)]
    candidates = machines[0].candidates_
    assert 2 <= len(candidates) <= 12
    gram = OneNormSVC(kernel=kernel, gamma=1.0).fit(X, y)._gram(X, len(y))
    best = least_cost(class_margins(gram, 2.0 * y - 1, 2.0), candidates)
    costs = np.array([machine.objective_ for machine in machines])
    assert (costs > best - 1e-4).all()
    assert (costs < best + 1e-4).all()


def test_regression_finds_the_best_of_all_sets():
    X = np.linspace(-3, 3, 40)[:, None]
    y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    machine = CrossEntropySVR(C=10.0, gamma=1.0, epsilon=0.1, **THOROUGH)
    machines = [clone(machine).set_params(random_state=seed).fit(X, y) for seed in range(SEEDS)]
    candidates = machines[0].candidates_
    assert 6 <= len(candidates) <= 12
    best = least_cost(value_margins(rbf_kernel(X, gamma=1.0), y, 0.1, 10.0), candidates)
    costs = np.array([machine.objective_ for machine in machines])
    assert (costs > best - 1e-4).all()
    assert (costs < best + 1e-4).all()


@pytest.mark.parametrize(("learner", "C"), [(CrossEntropySVC, 2.0), (CrossEntropySVR, 5.0)])
def test_no_candidate_that_is_added_or_dropped_lowers_the_cost(moons, learner, C):
    X, y = (each[:40] for each in moons)
    y = y if learner is CrossEntropySVC else 2.0 * y - 1 + X[:, 0]
    machine = learner(C, gamma=3.0, smoothing=1.0, elite_fraction=0.03, random_state=1).fit(X, y)
    gram = rbf_kernel(X, gamma=3.0)
    if learner is CrossEntropySVC:
        margins = class_margins(gram, 2.0 * y - 1, C)
    else:
        margins = value_margins(gram, y, 0.1, C)
    used = np.isin(machine.candidates_, machine.support_)
    flipped = used ^ np.eye(len(used), dtype=bool)
    solutions = on_supports(margins.among(machine.candidates_), flipped)
    costs = [some.sum() + C * each.loss for some, each in zip(flipped, solutions, strict=True)]
    assert min(costs) > machine.objective_ - 1e-3
    plain = clone(machine).set_params(local_search=False).fit(X, y)
    assert machine.objective_ < plain.objective_ - 1e-3  # of this seed, the search alone ends higher


@pytest.mark.parametrize("C", [0.3, 1.0, 4.0])
def test_candidates_are_the_one_norm_machines_and_the_cost_is_no_higher_than_theirs(wdbc, C):
    X, y = wdbc
    one, zero = OneNormSVC(C, gamma=0.03).fit(X, y), CrossEntropySVC(C, gamma=0.03, random_state=0).fit(X, y)
    assert_array_equal(zero.candidates_, one.support_)
    assert np.isin(zero.support_, one.support_).all()
    margins = class_margins(rbf_kernel(X, gamma=0.03), 2.0 * y - 1, C)
    (everything,) = on_supports(margins.among(one.support_), [np.ones(len(one.support_), dtype=bool)])
    assert zero.objective_ <= np.count_nonzero(everything.coef) + C * everything.loss + 1e-6
    hinge = np.maximum(1 - (2 * y - 1) * zero.decision_function(X), 0).sum()
    assert zero.objective_ == pytest.approx(len(zero.support_) + C * hinge, abs=1e-3)
    assert np.abs(zero.dual_coef_).max() <= C


def test_the_one_norm_problem_may_be_worth_less_than_the_zero_norm_problem():
    """For C = 1: α <= C gives 1'α <= C ||α||_0. Ten rows, so that all sets can be tried."""
    X, y = make_moons(10, noise=0.3, random_state=0)
    one = OneNormSVC(C=1.0, gamma=1.0).fit(X, y)
    hinge = np.maximum(1 - (2 * y - 1) * one.decision_function(X), 0).sum()
    margins = class_margins(rbf_kernel(X, gamma=1.0), 2.0 * y - 1, 1.0)
    assert np.abs(one.dual_coef_).sum() + hinge < least_cost(margins, np.arange(10)) - 0.1


def test_fewer_support_vectors_than_the_one_norm_machine(wdbc):
    X, y = wdbc
    one, zero = OneNormSVC(gamma=0.03).fit(X, y), CrossEntropySVC(gamma=0.03, random_state=0).fit(X, y)
    assert len(zero.support_) < 0.8 * len(one.support_)
    assert zero.score(X, y) > 0.95


def test_regression_keeps_fewer_than_the_one_norm_machine():
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X[:80]), scale(y[:80])
    one = OneNormSVR(C=2.0, gamma=0.05).fit(X, y)
    zero = CrossEntropySVR(C=2.0, gamma=0.05, random_state=0).fit(X, y)
    assert_array_equal(zero.candidates_, one.support_)
    assert len(zero.support_) < len(one.support_)
    losses = np.maximum(np.abs(y - zero.predict(X)) - 0.1, 0).sum()
    assert zero.objective_ == pytest.approx(len(zero.support_) + 2 * losses, abs=1e-3)


def test_the_machine_does_not_depend_on_the_processes(wdbc):
    X, y = wdbc
    one, two = (CrossEntropySVC(gamma=0.03, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2))
    assert_array_equal(one.support_, two.support_)
    assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert one.history_ == two.history_


def test_without_candidates_there_is_nothing_to_search(wdbc):
    X, y = wdbc
    machine = CrossEntropySVC(1e-4, gamma=0.03).fit(X, y)
    assert len(machine.candidates_) == len(machine.support_) == machine.n_iter_ == 0
    assert set(machine.predict(X)) == {np.bincount(y).argmax()}


def test_a_set_without_a_solution_is_left_alone(moons, monkeypatch):
    """Programs of one, four and seven candidates fail: the search goes on with the others."""
    real = on_supports

    def failing(margins, supports):
        for i, solution in enumerate(real(margins, supports)):
            yield None if supports[i].sum() % 3 == 1 else solution

    monkeypatch.setattr(cross_entropy, "on_supports", failing)
    X, y = moons
    machine = CrossEntropySVC(C=2.0, gamma=1.0, random_state=0).fit(X, y)
    assert 0 < len(machine.support_) <= len(machine.candidates_)
    assert machine.score(X, y) > 0.85


def test_history_tells_how_the_search_went(wdbc):
    """Sets repeat towards the end, and are then not evaluated again."""
    X, y = wdbc
    machine = CrossEntropySVC(gamma=0.03, random_state=0).fit(X, y)
    new = np.diff([each.n_evaluations for each in machine.history_]) / machine.history_[0].n_samples
    assert new[0] == 1
    assert not new[-3:].any()
    assert machine.history_[-1].n_evaluations < 0.6 * sum(each.n_samples for each in machine.history_)
    assert len(machine.history_) == machine.n_iter_ > 3
    assert all(each.n_samples == 5 * len(machine.candidates_) for each in machine.history_)
    *_, before, last = [each.threshold for each in machine.history_]
    assert before == last
    assert min(each.best for each in machine.history_) >= machine.objective_ - 1e-6


@pytest.mark.parametrize("machine", [CrossEntropySVC(), CrossEntropySVR()], ids=str)
def test_a_search_that_does_not_move_ends_and_says_so(wdbc, machine):
    """With next to no smoothing all sets are as likely for ever; the best of those drawn is kept."""
    X, y = wdbc
    machine = clone(machine).set_params(gamma=0.03, smoothing=1e-9, max_iter=5, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match="used up its 5 iterations: raise max_iter or smoothi"
    ) as told:
        machine.fit(X[:80], y[:80])
    assert told[0].filename == __file__
    assert machine.n_iter_ == len(machine.history_) == 5
    assert machine.objective_ <= min(each.best for each in machine.history_) + 1e-6
