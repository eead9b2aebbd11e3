"""Estimators of mutual information on tiny draws, and the tasks: that the truth is what it is said to be."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.integrate import quad
from scipy.stats import multivariate_normal, multivariate_t, poisson
from scipy.stats import t as student

from benchmarks import mutual_information
from benchmarks.known_information import (
    equal,
    mixture,
    of_gaussian,
    of_inflated_poisson,
    of_student,
    of_uniform_noise,
    pairs,
    tasks,
)
from benchmarks.mutual_information import errors, independence, ours, seconds
from entrolab.fit.limits import Limits

LIMITS = Limits(seconds=60)
TASKS = {task.name: task for task in tasks()}


@pytest.fixture(autouse=True)
def _without_peers(monkeypatch, tmp_path):
    monkeypatch.setattr(mutual_information, "PEERS", tmp_path / "python")


def test_there_are_tasks_enough_of_all_kinds_of_variables():
    assert len(TASKS) == len(tasks()) >= 40
    assert {task.rows(2, 0)[0].shape[1:] for task in TASKS.values()} >= {(), (1,), (25,)}
    assert all(task.information >= 0 for task in TASKS.values())


@pytest.mark.parametrize("name", TASKS)
def test_rows_of_a_task_repeat_themselves_and_differ_by_seed(name):
    first, again, other = (TASKS[name].rows(30, seed) for seed in (0, 0, 1))
    for a, b, c in zip(first, again, other, strict=True):
        assert len(a) == 30
        assert_array_equal(a, b)
        assert (a != c).any()


def test_truth_of_gaussian_tasks_is_that_of_their_correlations():
    assert of_gaussian(pairs(3, 0.8, 0.5), 3) == pytest.approx(
        -0.5 * math.log(1 - 0.64) - 0.5 * math.log(0.75)
    )
    assert of_gaussian(equal(1, 0.5), 1) == pytest.approx(-0.5 * math.log(0.75))


def test_truth_of_students_tasks_is_a_mean_over_their_rows():
    joint, single = multivariate_t([0, 0], pairs(1, 0.6), df=3), student(3)
    X, Y = TASKS["t, 3 degrees, 1+1"].rows(40_000, 0)
    values = joint.logpdf(np.hstack([X, Y])) - (single.logpdf(X) + single.logpdf(Y))[:, 0]
    assert of_student(1, 3, pairs(1, 0.6)) == pytest.approx(values.mean(), abs=4 * values.std() / 200)


@pytest.mark.parametrize("width", [0.1, 0.5, 0.75])
def test_truth_of_uniform_noise_is_the_integral(width):
    def density(y):  # of the sum
        return max(0.0, min(1.0, y + width) - max(0.0, y - width)) / (2 * width)

    def integrand(y):
        return -density(y) * math.log(density(y)) if density(y) > 0 else 0.0

    kinks = sorted({width, 1 - width})
    entropy, _ = quad(integrand, -width, 1 + width, points=kinks, limit=200)
    assert of_uniform_noise(width) == pytest.approx(entropy - math.log(2 * width), abs=1e-7)


def test_truth_of_a_mixture_is_a_mean_over_its_rows():
    means, rho = np.array([[-1.0, 0.0], [1.0, 1.0]]), np.array([0.7, -0.3])
    truth, draw = mixture(means, rho, 0.8)
    X, Y = draw(np.random.default_rng(0), 40_000)
    parts = [
        multivariate_normal(mean, 0.64 * np.array([[1, r], [r, 1]]))
        for mean, r in zip(means, rho, strict=True)
    ]
    joint = np.mean([part.pdf(np.hstack([X, Y])) for part in parts], axis=0)
    single = [
        np.mean([multivariate_normal(m, 0.64).pdf(each[:, 0]) for m in means[:, i]], axis=0)
        for i, each in enumerate((X, Y))
    ]
    values = np.log(joint / (single[0] * single[1]))
    assert truth == pytest.approx(values.mean(), abs=4 * values.std() / 200)


def test_truth_of_the_inflated_poisson_is_a_mean_over_its_rows():
    x, y = TASKS["inflated Poisson"].rows(40_000, 0)
    given = 0.85 * poisson(x).pmf(y) + 0.15 * (y == 0)
    alone = 0.85 * 0.5 ** (y + 1) + 0.15 * (y == 0)
    values = np.log(given / alone)
    assert of_inflated_poisson() == pytest.approx(values.mean(), abs=4 * values.std() / 200)


@pytest.mark.parametrize(
    ("name", "estimator", "bound"),
    [
        ("wiggly", "knn", 0.08),
        ("spiral 2+2", "knn", 0.2),
        ("noise of 0.003", "knn, local", 0.3),
        ("two groups", "knn", 0.08),
        ("3 classes, 1 columns", "ross", 0.08),
        ("5 overlapping steps", "mixed", 0.08),
        ("ten values, noise", "discrete, grassberger", 0.1),
        ("coupled, one Z", "knn", 0.08),
        ("coupled, half-cube", "copula", 0.05),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_an_estimator_made_for_it_finds_the_truth_of_a_task(name, estimator, bound):
    rows = TASKS[name].rows(1500, 0)
    assert ours(*rows)[estimator]() == pytest.approx(TASKS[name].information, abs=bound)


def test_table_has_the_mean_absolute_error_of_each_kind():
    known = [TASKS[name] for name in ("wiggly", "half-cube", "channel of two signs", "chain, one Z")]
    section = errors(LIMITS, sizes=(60,), known=known)
    table = section.table
    assert table.index.tolist()[:3] == [
        ("monotonic maps", "1+1", 60),
        ("discrete", "1+1", 60),
        ("conditional", "1+1", 60),
    ]
    assert table["discrete"].notna().tolist() == [False, True, False]
    by_hand = np.mean(
        [
            abs(ours(*task.rows(60, seed))["gaussian"]() - task.information)
            for task in known[:2]
            for seed in range(4)
        ]
    )
    assert table["gaussian"].iloc[0] == pytest.approx(by_hand)
    assert "make peers PEERS=information" in section.notes[-1]


def test_seconds_are_those_of_each_estimator():
    table = seconds(LIMITS, sizes=(200,), dimensions=(1, 5)).table
    assert table.index.tolist() == [("1+1", 200), ("5+5", 200)]
    assert (table[["knn", "gaussian", "kde"]] > 0).all(axis=None)
    assert table["scikit-learn"].notna().tolist() == [True, False]


def test_false_positives_and_power_are_in_percent_of_draws():
    table = independence(LIMITS, n_draws=10, sizes=(40,), methods=("gaussian",)).table
    assert len(table) == len(mutual_information.SETTINGS)
    assert table.loc["X, Y", "power, strong %"].iloc[0] > table.loc["X, Y", "false %"].iloc[0]
