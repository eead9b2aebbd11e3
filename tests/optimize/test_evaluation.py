"""How points are evaluated: in batches, on workers, once each, repaired, and checked."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.utils.parallel import Parallel

from entrolearn.optimize import Bernoulli, Gaussian, cross_entropy_method
from entrolearn.optimize import evaluation as evaluation_module
from entrolearn.optimize.evaluation import Evaluation

WEIGHTS = np.random.default_rng(4).integers(-9, 10, 8) / 4  # sums that doubles hold exactly, in any order
HALVES = Bernoulli(np.full(8, 0.5))


def linear(chosen: np.ndarray) -> np.ndarray:
    return chosen @ WEIGHTS


class Watched:
    """An objective that remembers the batches that it was given."""

    def __init__(self, objective):
        self.objective = objective
        self.batches = []

    def __call__(self, points):
        self.batches.append(points.copy())
        return self.objective(points)


def evaluation_of(objective, family=HALVES, **options) -> Evaluation:
    given = {"vectorized": True, "batch_size": 64} | options
    return Evaluation(objective, family, Parallel(n_jobs=1), **given)


def search(objective=linear, family=HALVES, **options):
    return cross_entropy_method(
        objective, family, **{"n_samples": 50, "vectorized": True, "random_state": 0} | options
    )


def same(one, other) -> bool:
    """Whether two searches went the same way, to the last bit."""
    return (
        one.history == other.history
        and one.x.tobytes() == other.x.tobytes()
        and vars(one.distribution).keys() == vars(other.distribution).keys()
        and all(
            np.array_equal(value, getattr(other.distribution, name))
            for name, value in vars(one.distribution).items()
        )
    )


def test_batches_are_cut_from_the_distinct_points_in_the_order_drawn():
    points = np.array([[1, 0], [0, 0], [1, 0], [1, 1], [0, 0], [0, 1]], dtype=bool)
    watched = Watched(lambda points: points.sum(axis=1))
    evaluate = evaluation_of(watched, Bernoulli([0.5, 0.5]), batch_size=3)
    values, seen = evaluate(points)
    assert_array_equal(values, [1, 0, 1, 2, 0, 1])
    assert_array_equal(seen, points)
    assert [batch.astype(int).tolist() for batch in watched.batches] == [[[1, 0], [0, 0], [1, 1]], [[0, 1]]]
    assert evaluate.n_evaluations == 4
    assert_array_equal(evaluate(points[::-1])[0], [1, 0, 2, 1, 0, 1])
    assert evaluate.n_evaluations == 4
    assert len(watched.batches) == 2


def test_every_continuous_point_is_evaluated():
    watched = Watched(lambda points: points.sum(axis=1))
    evaluate = evaluation_of(watched, Gaussian(np.zeros(8), 1.0), batch_size=4)
    assert_array_equal(evaluate(np.ones((10, 8)))[0], np.full(10, 8))
    assert [len(batch) for batch in watched.batches] == [4, 4, 2]
    assert evaluate.n_evaluations == 10


@dataclass(frozen=True, eq=False)
class Uncached(Bernoulli):
    """The same points, each evaluated every time that it is drawn."""

    discrete = False


def test_cache_changes_nothing_but_the_number_of_evaluations():
    watched = Watched(linear)
    cached, plain = search(watched), search(family=Uncached(HALVES.p), tol=0)
    assert_array_equal(cached.x, plain.x)
    assert_array_equal(cached.distribution.p, plain.distribution.p)
    assert [each.threshold for each in cached.history] == [each.threshold for each in plain.history]
    assert cached.n_samples == plain.n_samples == plain.n_evaluations
    evaluated = np.concatenate(watched.batches)
    assert len(np.unique(evaluated, axis=0)) == len(evaluated) == cached.n_evaluations < cached.n_samples


def test_one_point_at_a_time_is_the_same_as_many():
    assert same(search(), search(vectorized=False))


# Threads, which start at once; the processes of a sparse SVM's search are those of its own tests.


def test_any_number_of_workers_gives_the_same_search_to_the_last_bit():
    def warm_started(points):
        """Values that depend a little on what was solved before within the batch."""
        return points @ WEIGHTS + 1e-9 * np.cumsum(points.sum(axis=1) % 3)

    assert not same(search(warm_started, batch_size=7), search(warm_started, batch_size=8))
    with parallel_config("threading"):
        assert same(search(warm_started, batch_size=7), search(warm_started, batch_size=7, n_jobs=2))


def test_workers_take_repaired_points_and_points_one_by_one():
    def repaired(points):
        kept = points & (WEIGHTS < 0)
        return kept @ WEIGHTS, kept

    def of_one(point):
        return float(((point - 1) ** 2).sum())

    gaussian = Gaussian(np.zeros(2), 1.0)
    with parallel_config("threading"):
        assert same(search(repaired), search(repaired, n_jobs=2, batch_size=64))
        one, two = (search(of_one, gaussian, vectorized=False, max_iter=5, n_jobs=n) for n in (1, 2))
    assert same(one, two)


def test_repaired_points_are_what_the_update_and_the_result_see():
    useful = WEIGHTS < 0

    def repaired(points):
        kept = points & useful
        return kept @ WEIGHTS, kept

    for n in range(1, search(repaired, smoothing=1.0).n_iter + 1):
        found = search(repaired, smoothing=1.0, max_iter=n)
        assert not found.distribution.p[~useful].any()
    assert_array_equal(found.x, useful)
    assert found.fun == WEIGHTS[useful].sum()
    first = search(repaired, smoothing=1.0, max_iter=1)
    plain = search(lambda points: (points & useful) @ WEIGHTS, max_iter=1, smoothing=1.0)
    assert plain.history == first.history  # the same points were drawn, and are worth the same
    assert_array_equal(first.distribution.p, plain.distribution.p * useful)


def test_repair_may_be_written_in_integers():
    found = search(lambda points: (points @ WEIGHTS, points.astype(int)))
    assert same(found, search())
    assert found.x.dtype == bool


def test_two_values_in_a_tuple_are_no_repair():
    found = search(lambda points: tuple(points @ WEIGHTS), batch_size=2)
    assert same(found, search())


def test_points_cannot_be_changed_in_place():
    def careless(points):
        points[:] = False
        return points @ WEIGHTS

    for family in (HALVES, Uncached(HALVES.p)):
        with pytest.raises(ValueError, match="read-only"):
            search(careless, family)


@pytest.mark.parametrize(
    ("objective", "vectorized", "message"),
    [
        (lambda points: 0.0, True, r"must return values of shape \(50,\) for points of shape \(50, 8\), or"),
        (lambda points: points, True, r"got shape \(50, 8\) for 50 point"),
        (lambda points: linear(points)[:-1], True, r"got shape \(49,\) for 50 point"),
        (lambda points: None, True, r"got shape \(\) for 50 point|no array"),
        (lambda points: ["a"] * len(points), True, "it returned no array: could not convert string"),
        (lambda point: point, False, r"must return a number for one point; got shape \(50, 8\)"),
        (lambda point: "a", False, "must return a number for one point; it returned no array"),
        (lambda points: (linear(points), points[:-1]), True, r"points of shape \(49, 8\) for .* \(50, 8\)"),
        (lambda points: (linear(points), points * 2), True, "zeros and ones, got"),
    ],
)
def test_objective_that_does_not_answer_as_asked_is_told_what_is_wanted(objective, vectorized, message):
    with pytest.raises(ValueError, match=message):
        search(objective, Uncached(HALVES.p), vectorized=vectorized)


def test_error_in_an_objective_comes_through():
    def broken(points):
        raise ZeroDivisionError("mine")

    for n_jobs in (1, 2):
        # In threads: joblib ends processes in which an error occurs, and those of other tests with them.
        with parallel_config("threading"), pytest.raises(ZeroDivisionError, match="mine"):
            search(broken, n_jobs=n_jobs)


@pytest.mark.parametrize("adaptive", [False, True])
def test_samples_that_come_in_blocks_are_the_same_samples(adaptive, monkeypatch):
    """To the last bit, with points that have no value, ties, and points that are repaired."""

    def repaired(points):
        values = np.round((points**2).sum(axis=1), 1)
        values[points[:, 0] > 2.5] = np.nan
        return values, np.round(points, 2)

    def searched(numbers):
        monkeypatch.setattr(evaluation_module, "BLOCK_NUMBERS", numbers)
        return cross_entropy_method(
            repaired,
            Gaussian(np.zeros(3), 2.0),
            n_samples=500,
            adaptive=adaptive,
            max_iter=15,
            batch_size=16,
            vectorized=True,
            random_state=0,
        )

    whole = searched(10**6)
    for numbers in (1, 300):
        blocks = searched(numbers)
        assert same(blocks, whole)
        assert (blocks.reason, blocks.fun) == (whole.reason, whole.fun)


def test_a_sample_takes_the_memory_of_its_elite():
    """And of a few blocks; all of it would take 61 MiB."""
    n, d = 40_000, 200
    tracemalloc.start()
    cross_entropy_method(
        lambda points: np.abs(points).max(axis=1),
        Gaussian(np.zeros(d), 1.0),
        n_samples=n,
        elite_fraction=0.01,
        max_iter=1,
        vectorized=True,
        random_state=0,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * d / 2
