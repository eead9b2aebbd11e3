"""The cross-entropy method: the algorithm as printed, known optima, laws, and every way to end."""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import rosen
from scipy.stats import special_ortho_group

from entrolearn.optimize import Bernoulli, Gaussian, MultivariateGaussian, cross_entropy_method
from entrolearn.optimize.cross_entropy import elite_size

HALVES = Bernoulli(np.full(12, 0.5))
WEIGHTS = np.random.default_rng(4).integers(-9, 10, 12) / 4  # sums that doubles hold exactly, in any order


def linear(chosen: np.ndarray) -> np.ndarray:
    """Separable, with many ties; minimal where the chosen are those of negative weight."""
    return chosen @ WEIGHTS


def bowl(points: np.ndarray) -> np.ndarray:
    return ((points - [1.0, -2.0, 0.5]) ** 2).sum(axis=-1)


minimised = partial(cross_entropy_method, linear, HALVES, n_samples=60, vectorized=True)


# The algorithm as printed.


def algorithm_2_1(objective, p, n_samples, rho, beta, d, rng):
    """Algorithm 2.1 for Bernoulli variables, step by step; thresholds and distributions of all iterations."""
    gammas, ps = [], [p]
    while len(gammas) <= d or len(set(gammas[-d - 1 :])) > 1:
        Z = rng.random((n_samples, len(p))) < ps[-1]
        S = [objective(z) for z in Z]
        gammas.append(sorted(S)[int(np.ceil(rho * n_samples)) - 1])
        counts, of_ones = 0, np.zeros(len(p))
        for z, s in zip(Z, S, strict=True):
            if s <= gammas[-1]:
                counts += 1
                of_ones += z
        ps.append(beta * of_ones / counts + (1 - beta) * ps[-1])
    return gammas, ps[1:]


@pytest.mark.parametrize(("rho", "beta", "d"), [(0.1, 0.7, 5), (0.03, 0.7, 3), (0.25, 1.0, 1), (0.5, 0.4, 2)])
@pytest.mark.parametrize("seed", range(2))
def test_search_is_algorithm_2_1_step_by_step(rho, beta, d, seed):
    search = partial(minimised, elite_fraction=rho, smoothing=beta, n_iter_no_change=d, tol=0)
    gammas, ps = algorithm_2_1(linear, HALVES.p, 60, rho, beta, d, np.random.default_rng(seed))
    for n, p in enumerate(ps, 1):
        found = search(max_iter=n, random_state=np.random.default_rng(seed))
        assert_allclose(found.distribution.p, p, rtol=1e-12, atol=1e-15)
    assert [each.threshold for each in found.history] == gammas
    assert found.reason == "threshold"


def test_gaussian_search_is_the_same_algorithm_with_moments():
    mean, std, rng, gammas = np.zeros(3), np.full(3, 2.0), np.random.default_rng(8), []
    found = cross_entropy_method(
        bowl, Gaussian(mean, std), n_samples=50, max_iter=12, random_state=np.random.default_rng(8)
    )
    for _ in range(12):
        points = mean + std * rng.standard_normal((50, 3))
        elite = points[np.argsort(bowl(points))[:5]]
        gammas.append(bowl(elite[-1]))
        mean = 0.7 * elite.mean(axis=0) + 0.3 * mean
        std = 0.7 * elite.std(axis=0) + 0.3 * std
    assert_allclose([each.threshold for each in found.history], gammas, rtol=1e-9)
    assert_allclose(found.distribution.mean, mean, rtol=1e-12)
    assert_allclose(found.distribution.std, std, rtol=1e-12)
    assert found.reason == "iterations"


@pytest.mark.parametrize(
    ("n_samples", "elite_fraction", "expected"),
    [(100, 0.07, 7), (100, 0.071, 8), (10, 0.03, 1), (30, 0.1, 3), (750, 0.03, 23), (7, 0.5, 4)],
)
def test_elite_has_the_rank_that_is_printed(n_samples, elite_fraction, expected):
    """ceil(rho N); in doubles 0.07 * 100 is 7.000000000000001."""
    assert elite_size(n_samples, elite_fraction) == expected


def test_ties_at_the_threshold_are_elite():
    found = cross_entropy_method(
        lambda z: 3.0, HALVES, n_samples=40, smoothing=1.0, max_iter=1, random_state=2
    )
    assert_array_equal(found.distribution.p, HALVES.sample(40, np.random.RandomState(2)).mean(axis=0))
    assert found.history[0].n_elite == 40


# Known optima.


EVERY_SUBSET = np.array(list(product([False, True], repeat=15)))


def knapsack(rng):
    worth, weight = rng.integers(1, 30, (2, 15))
    return lambda chosen: np.where(chosen @ weight <= weight.sum() / 2, -(chosen @ worth), np.inf)


def planted_cut(rng):
    """The synthetic max-cut of de Boer et al.: two groups, light edges within them, heavy ones between."""
    group = rng.permutation(15) < 8
    weight = np.triu(rng.integers(0, 16, (15, 15)), 1)
    weight = np.where(group[:, None] != group, 16, weight + weight.T)
    return lambda side: -((side @ weight) * ~side).sum(axis=1)


@pytest.mark.parametrize("problem", [knapsack, planted_cut])
def test_best_subset_is_that_of_an_enumeration_in_19_of_20_searches(problem):
    found = 0
    for seed in range(20):
        objective = problem(np.random.default_rng(seed))
        result = cross_entropy_method(
            objective,
            Bernoulli(np.full(15, 0.5)),
            n_samples=300,
            vectorized=True,
            random_state=seed,
        )
        found += result.fun == objective(EVERY_SUBSET).min()
        assert result.n_evaluations < len(EVERY_SUBSET) / 10
    assert found >= 19


def optima_found(**options) -> int:
    """Of 20 knapsacks, the number of those whose best subset the search finds."""
    found = 0
    for seed in range(20):
        objective = knapsack(np.random.default_rng(seed))
        halves = Bernoulli(np.full(15, 0.5))
        result = cross_entropy_method(objective, halves, vectorized=True, random_state=seed, **options)
        found += result.fun == objective(EVERY_SUBSET).min()
    return found


def test_larger_samples_find_the_best_subset_more_often():
    assert optima_found(n_samples=10) < optima_found(n_samples=30) < optima_found(n_samples=100)


def test_without_smoothing_more_searches_freeze_at_a_subset_that_is_not_the_best():
    assert optima_found(n_samples=100, smoothing=0.7) >= optima_found(n_samples=100, smoothing=1.0) + 4


@pytest.mark.parametrize("seed", range(3))
def test_minimum_of_a_quadratic_is_found_to_the_tolerance_of_the_distribution(seed):
    found = cross_entropy_method(
        bowl, Gaussian(np.zeros(3), 5.0), n_samples=100, vectorized=True, random_state=seed
    )
    assert found.reason == "degenerate"
    assert np.diff(
        [each.threshold for each in found.history]
    ).all()  # the rule of equal thresholds never applies
    assert_allclose(found.x, [1.0, -2.0, 0.5], atol=1e-6)
    assert_allclose(found.distribution.mean, found.x, atol=1e-6)


def test_full_covariance_follows_a_narrow_rotated_valley():
    axes = special_ortho_group(6, seed=3).rvs()
    curvature = axes @ np.diag(np.logspace(0, 4, 6)) @ axes.T

    def objective(points):
        return np.einsum("ni,ij,nj->n", points - 1, curvature, points - 1)

    found = cross_entropy_method(
        objective,
        MultivariateGaussian(np.zeros(6), 4 * np.eye(6)),
        n_samples=400,
        vectorized=True,
        random_state=0,
    )
    assert found.reason == "degenerate"
    assert_allclose(found.x, 1, atol=1e-6)


def test_minimum_of_rosenbrocks_function_is_found_with_a_full_covariance_and_little_smoothing():
    found = cross_entropy_method(
        lambda points: rosen(points.T),
        MultivariateGaussian([-1.0, -1.0], 4 * np.eye(2)),
        n_samples=1000,
        smoothing=0.3,
        vectorized=True,
        random_state=0,
    )
    assert found.success
    assert_allclose(found.x, 1, atol=1e-6)


@dataclass(frozen=True, eq=False)
class Poisson:
    """A family that the package has not."""

    rate: np.ndarray
    discrete = True
    min_elite = 1
    n_variables = 2
    degenerate = False

    def sample(self, n, rng):
        return rng.poisson(self.rate, (n, 2))

    def check(self, points):
        return np.asarray(points)

    def fit(self, elite):
        return Poisson(np.mean(elite, axis=0))

    def smooth(self, fit, smoothing):
        return Poisson(smoothing * fit.rate + (1 - smoothing) * self.rate)


def test_family_of_ones_own_serves_as_well():
    found = cross_entropy_method(
        lambda counts: abs(counts - [3, 70]).sum(),
        Poisson(np.array([20.0, 20.0])),
        n_samples=200,
        random_state=0,
    )
    assert_array_equal(found.x, [3, 70])
    assert found.reason == "threshold"
    assert found.n_evaluations < found.n_samples


# Laws.


def trajectory(result):
    return [(each.n_samples, each.n_elite, each.n_evaluations) for each in result.history]


def test_only_the_order_of_the_values_matters():
    plain = minimised(random_state=1)
    bent = cross_entropy_method(
        lambda chosen: np.exp(3 * linear(chosen)) - 7, HALVES, n_samples=60, vectorized=True, random_state=1
    )
    assert_array_equal(plain.x, bent.x)
    assert_array_equal(plain.distribution.p, bent.distribution.p)
    assert trajectory(plain) == trajectory(bent)


def test_units_of_a_continuous_objective_do_not_matter():
    plain, scaled = (
        cross_entropy_method(
            lambda points, unit=unit: unit * (1 + bowl(points)),
            Gaussian(np.zeros(3), 3.0, tolerance=0),
            n_samples=50,
            vectorized=True,
            random_state=1,
        )
        for unit in (1.0, 2.0**-40)
    )
    assert plain.reason == scaled.reason == "threshold"
    assert trajectory(plain) == trajectory(scaled)
    assert_array_equal(plain.distribution.std, scaled.distribution.std)


def test_units_of_the_points_do_not_matter():
    metres, millimetres = (
        cross_entropy_method(
            lambda points, unit=unit: bowl(points / unit),
            Gaussian(np.zeros(3), 4.0 * unit, tolerance=1e-6 * unit),
            n_samples=50,
            vectorized=True,
            random_state=1,
        )
        for unit in (1.0, 1024.0)
    )
    assert_array_equal(1024 * metres.x, millimetres.x)
    assert trajectory(metres) == trajectory(millimetres)


def test_one_variable_has_no_correlations():
    """Without smoothing, for the two smooth another number: a standard deviation, a variance."""
    search = partial(
        cross_entropy_method, lambda x: np.cosh(x[:, 0] - 3), n_samples=40, smoothing=1.0, vectorized=True
    )
    one = search(Gaussian([0.0], 2.0), random_state=0, max_iter=6)
    full = search(MultivariateGaussian([0.0], [[4.0]]), random_state=0, max_iter=6)
    assert_allclose(np.abs(one.x - 3), np.abs(full.x - 3), rtol=1e-6)
    assert_allclose(one.distribution.std**2, full.distribution.cov[0], rtol=1e-6)


def test_best_point_is_the_best_of_all_samples_not_of_the_last():
    values = iter([5.0, 4.0, 1.0, 8.0] + [9.0, 7.0, 3.0, 6.0] * 20)
    line = Gaussian([0.0], 1.0)
    found = cross_entropy_method(
        lambda x: next(values), line, n_samples=4, elite_fraction=0.5, max_iter=20, random_state=0
    )
    assert found.fun == 1.0
    assert_array_equal(found.x, line.sample(4, np.random.RandomState(0))[2])
    assert [each.best for each in found.history[:3]] == [1.0, 3.0, 3.0]
    assert [each.threshold for each in found.history[:3]] == [4.0, 6.0, 6.0]
    assert found.history[1].mean == 6.25


def test_first_of_equal_points_is_the_one_returned():
    found = cross_entropy_method(lambda z: 0.0, HALVES, n_samples=10, random_state=0)
    assert_array_equal(found.x, HALVES.sample(10, np.random.RandomState(0))[0])


# Values that are none.


def test_failed_points_are_never_elite():
    def objective(chosen):
        return np.where(chosen[:, 0], np.nan, np.where(chosen[:, 1], np.inf, linear(chosen)))

    search = partial(
        cross_entropy_method,
        objective,
        HALVES,
        n_samples=40,
        elite_fraction=0.9,  # more than have a value in the first sample
        smoothing=1.0,
        vectorized=True,
        random_state=0,
    )
    first, found = search(max_iter=1), search()
    assert first.history[0].n_elite < 36
    assert not first.distribution.p[:2].any()
    assert np.isfinite([(each.threshold, each.best, each.mean) for each in found.history]).all()


@pytest.mark.parametrize("nothing", [np.nan, np.inf])
def test_sample_without_a_value_is_an_error(nothing):
    with pytest.raises(ValueError, match=r"no point of a sample has a value: .* at all 10 of them"):
        cross_entropy_method(lambda z: nothing, HALVES, n_samples=10)


def test_infinitely_good_value_is_the_best():
    unbounded = cross_entropy_method(
        lambda z: -np.inf if z.all() else linear(z), Bernoulli(np.full(12, 0.9)), n_samples=60, random_state=0
    )
    assert unbounded.fun == -np.inf
    assert unbounded.x.all()
    assert unbounded.reason == "threshold"


# Ways to end.


@pytest.mark.parametrize("n_iter_no_change", [1, 3, 5])
def test_search_ends_when_the_threshold_was_the_same_in_that_many_updates(n_iter_no_change):
    flat = cross_entropy_method(
        lambda z: 0.0, HALVES, n_samples=10, n_iter_no_change=n_iter_no_change, random_state=0
    )
    assert (flat.reason, flat.n_iter, flat.success) == ("threshold", n_iter_no_change + 1, True)
    found = minimised(n_iter_no_change=n_iter_no_change, random_state=0)
    gammas = [each.threshold for each in found.history]
    assert len(set(gammas[-n_iter_no_change - 1 :])) == 1
    assert all(
        len(set(gammas[i : i + n_iter_no_change + 1])) > 1 for i in range(len(gammas) - n_iter_no_change - 1)
    )


@pytest.mark.parametrize(
    ("step", "tol", "reason"),
    [
        (1e-5, 5e-5, "threshold"),
        (1e-5, 3e-5, "iterations"),
        (1e-10, None, "threshold"),
        (1e-10, 0, "iterations"),
    ],
)
def test_thresholds_within_the_tolerance_are_the_same(step, tol, reason):
    """Each sample is worth a little more than the one before: four steps, relatively, in five thresholds."""
    values = iter(np.repeat(100 * (1 + step * np.arange(8)), 20))
    found = cross_entropy_method(
        lambda x: next(values),
        Gaussian(np.zeros(3), 1.0),
        n_samples=20,
        n_iter_no_change=4,
        tol=tol,
        max_iter=8,
    )
    assert (found.reason, found.n_iter) == (reason, {"threshold": 5, "iterations": 8}[reason])


def test_search_ends_when_all_samples_are_one_point():
    found = cross_entropy_method(linear, Bernoulli([0.0, 1.0] * 6), n_samples=10, random_state=0)
    assert (found.reason, found.n_iter, found.n_evaluations, found.success) == (
        "degenerate",
        1,
        1,
        True,
    )
    assert_array_equal(found.x, [False, True] * 6)


def test_search_ends_after_the_last_iteration():
    found = minimised(max_iter=2, random_state=0)
    assert (found.reason, found.n_iter, found.success) == ("iterations", 2, False)


# The fully adaptive variant.


def adaptive_search(objective, p, size, n_elite, beta, d, rng):
    """Thresholds and sizes of the fully adaptive variant, for Bernoulli variables, step by step."""
    gammas, bests, sizes = [], [], []
    while len(gammas) <= d or len(set(gammas[-d - 1 :])) > 1:
        Z = np.empty((0, len(p)), dtype=bool)
        while True:
            Z = np.vstack([Z, rng.random((size, len(p))) < p])
            S = objective(Z)
            gamma, best = np.sort(S)[n_elite - 1], S.min()
            if not gammas or gamma < gammas[-1] or best < bests[-1] or len(Z) == 10 * size:
                break
        gammas, bests, sizes = [*gammas, gamma], [*bests, best], [*sizes, len(Z)]
        p = beta * Z[gamma >= S].mean(axis=0) + (1 - beta) * p
    return gammas, sizes


@pytest.mark.parametrize("seed", range(3))
def test_adaptive_search_grows_samples_until_they_improve(seed):
    found = cross_entropy_method(
        linear,
        HALVES,
        n_samples=20,
        elite_fraction=0.2,
        n_iter_no_change=3,
        adaptive=True,
        vectorized=True,
        random_state=np.random.default_rng(seed),
    )
    gammas, sizes = adaptive_search(linear, HALVES.p, 20, 4, 0.7, 3, np.random.default_rng(seed))
    assert found.reason == "threshold"
    assert [each.threshold for each in found.history] == gammas
    assert [each.n_samples for each in found.history] == sizes
    assert {20, 200} <= set(sizes)
    assert all(each.improved or each.n_samples == 200 for each in found.history)


def test_adaptive_search_that_gets_worse_is_unreliable():
    rising = iter(range(10_000))
    found = cross_entropy_method(
        lambda x: next(rising), Gaussian([0.0], 1.0), n_samples=20, n_iter_no_change=3, adaptive=True
    )
    assert (found.reason, found.success, found.fun) == ("unreliable", False, 0.0)
    assert [each.n_samples for each in found.history] == [20, 200, 200, 200]
    assert [each.improved for each in found.history] == [True, False, False, False]


def test_adaptive_sample_grows_to_ten_times_its_size():
    found = cross_entropy_method(lambda z: 0.0, HALVES, n_samples=10, n_iter_no_change=1, adaptive=True)
    assert [each.n_samples for each in found.history] == [10, 100]


# What is asked of the arguments.


def test_same_state_gives_the_same_search_and_every_kind_of_state_is_taken():
    for state in (lambda: 3, lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)):
        one, other = minimised(random_state=state()), minimised(random_state=state())
        assert one.history == other.history
        assert_array_equal(one.distribution.p, other.distribution.p)
    assert minimised(random_state=3).history == minimised(random_state=np.random.RandomState(3)).history
    assert minimised(random_state=3).history != minimised(random_state=4).history


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 1}, "n_samples is 1; it must be an integer of at least 2"),
        ({"n_samples": 20.0}, "n_samples is 20.0; it must be an integer"),
        ({"elite_fraction": 1.0}, "elite_fraction is 1.0; it must be a number above 0 and below 1"),
        ({"elite_fraction": 0}, "elite_fraction is 0; it must be"),
        ({"elite_fraction": np.nan}, "elite_fraction is nan"),
        ({"n_samples": 2, "elite_fraction": 0.9}, "makes an elite of 2; it must have .* fewer than the samp"),
        ({"smoothing": 0}, "smoothing is 0; it must be a number above 0 and at most 1"),
        ({"smoothing": 1.1}, "smoothing is 1.1"),
        ({"smoothing": "0.7"}, "smoothing is '0.7'"),
        ({"n_iter_no_change": 0}, "n_iter_no_change is 0; it must be an integer of at least 1"),
        ({"n_iter_no_change": True}, "n_iter_no_change is True"),
        ({"tol": -1e-9}, "tol is -1e-09; it must be None or a number that is not negative"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"n_jobs": 0}, "n_jobs == 0"),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
    ],
)
def test_bad_argument_is_one_line_before_anything_is_evaluated(arguments, message):
    def never(points):
        raise AssertionError("evaluated")

    with pytest.raises(ValueError, match=message):
        cross_entropy_method(never, HALVES, **{"n_samples": 60, **arguments})


def test_what_is_no_function_or_no_distribution_is_refused():
    with pytest.raises(ValueError, match="objective is 3; it must be a function"):
        cross_entropy_method(3, HALVES, n_samples=60)
    for wrong, shown in (([0.5], r"\[0.5\]"), (Bernoulli, "<class '.*Bernoulli'>")):
        with pytest.raises(ValueError, match=f"distribution is {shown}; it must be one of Bernoulli, Gau"):
            cross_entropy_method(linear, wrong, n_samples=60)


def test_elite_of_one_makes_no_gaussian():
    with pytest.raises(
        ValueError, match="n_samples=10 with elite_fraction=0.1 makes an elite of 1; it must have at least 2"
    ):
        cross_entropy_method(bowl, Gaussian(np.zeros(3), 1.0), n_samples=10)
