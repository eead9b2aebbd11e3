"""Linear manifolds on tiny data: what the cheaper divergences are."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from benchmarks import manifold
from benchmarks.manifold import (
    CHEAPER,
    Crossed,
    MixtureDivergence,
    own_log_potential,
    sampled,
    shortcuts,
    without_self_pairs,
)
from entrolab.fit.limits import Limits
from entrolearn.measures import cauchy_schwarz_gaussian

LIMITS = Limits(seconds=60)


@pytest.fixture(scope="module")
def data():
    return Crossed.draw(120, 5)


def assert_gradient(function, V):
    """That of central differences, which have half of the digits."""
    _, gradient = function(V)
    steps = 1e-5 * np.eye(V.size).reshape(-1, *V.shape)
    numeric = [(function(V + step)[0] - function(V - step)[0]) / 2e-5 for step in steps]
    assert_allclose(gradient.ravel(), numeric, rtol=1e-6, atol=1e-8 * np.abs(numeric).max())


def test_classes_are_apart_in_their_plane_and_in_no_other():
    data = Crossed.draw(2000, 10)
    divergence = data.divergence()
    within, _ = divergence(data.V)
    others = np.random.default_rng(1).standard_normal((20, 10, 2))
    assert within > 2 * max(divergence(V)[0] for V in others)
    assert 0.4 < data.y.mean() < 0.6


# --- cheaper divergences ------------------------------------------------------------------------------


def test_some_points_estimate_the_potential_of_all_without_bias():
    """The mean over all subsets is the potential of the whole, from the definition."""
    rng = np.random.default_rng(2)
    points, kernel = rng.normal(size=(7, 2)), np.array([[0.3, 0.1], [0.1, 0.2]])
    gaussian = multivariate_normal(np.zeros(2), kernel)
    whole = np.mean([gaussian.pdf(p - q) for p in points for q in points])
    for m in (2, 3, 7):
        estimates = [
            np.exp(own_log_potential(points[list(some)], kernel, 7)[0]) for some in combinations(range(7), m)
        ]
        assert np.mean(estimates) == pytest.approx(whole, rel=1e-12)
        assert m == 7 or np.ptp(estimates) > 0.1 * whole


def test_all_rows_drawn_are_all_pairs(data):
    divergence = data.divergence()
    value, gradient = divergence(data.V)
    n_rows = [len(rows) for rows in divergence.rows]
    found, found_gradient = without_self_pairs(divergence, n_rows, data.V)
    assert found == pytest.approx(value, rel=1e-10)
    assert_allclose(found_gradient, gradient, rtol=1e-8, atol=1e-10)


def test_gradient_without_self_pairs_is_that_of_differences(data):
    divergence = data.divergence()
    drawn = replace(divergence, rows=tuple(rows[:9] for rows in divergence.rows))
    assert_gradient(partial(without_self_pairs, drawn, [60, 60]), data.V)


def test_self_pairs_make_the_divergence_of_a_sample_too_large(data):
    divergence = Crossed.draw(1000, 5).divergence()
    value, _ = divergence(data.V)
    means = {}
    for self_pairs in (True, False):
        evaluate = sampled(divergence, np.random.default_rng(3), self_pairs=self_pairs)
        values = [evaluate(data.V)[0] for _ in range(100)]
        means[self_pairs] = (np.mean(values) - value, np.std(values) / 10)
    bias, error = means[True]
    assert bias > 10 * error
    assert abs(means[False][0]) < 0.2 * bias


def test_samples_are_of_the_square_root_and_differ(monkeypatch, data):
    seen = []
    monkeypatch.setattr(
        manifold, "without_self_pairs", lambda drawn, n_rows, V: seen.append((drawn.rows, n_rows))
    )
    divergence = data.divergence()
    evaluate = sampled(divergence, np.random.default_rng(0), self_pairs=False)
    evaluate(data.V)
    evaluate(data.V)
    (first, n_rows), (second, _) = seen
    assert n_rows == [len(rows) for rows in divergence.rows]
    assert_array_equal([len(rows) for rows in first], np.ceil(np.sqrt(n_rows)))
    assert not np.array_equal(first[0], second[0])
    assert len(np.unique(first[0], axis=0)) == len(first[0])


@pytest.mark.parametrize("n_gaussians", [1, 3])
def test_gradient_of_mixtures_is_that_of_differences(n_gaussians, data):
    fitted = [GaussianMixture(n_gaussians, random_state=0).fit(data.X[data.y == c]) for c in (0, 1)]
    assert_gradient(MixtureDivergence.of(*fitted), data.V)


def test_mixtures_of_one_gaussian_have_the_divergence_of_gaussians(data):
    p, q = (GaussianMixture(1).fit(data.X[data.y == c]) for c in (0, 1))
    V = data.V
    expected = cauchy_schwarz_gaussian(
        V.T @ p.means_[0], V.T @ p.covariances_[0] @ V, V.T @ q.means_[0], V.T @ q.covariances_[0] @ V
    )
    assert MixtureDivergence.of(p, q)(V)[0] == pytest.approx(expected, rel=1e-9)


def test_mixtures_integrate_to_their_divergence(data):
    p, q = (GaussianMixture(3, random_state=0).fit(data.X[data.y == c]) for c in (0, 1))
    V = data.V
    side = np.linspace(-12, 12, 241)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    f, g = (
        sum(
            w * multivariate_normal(V.T @ m, V.T @ C @ V).pdf(grid)
            for w, m, C in zip(each.weights_, each.means_, each.covariances_, strict=True)
        )
        for each in (p, q)
    )
    expected = np.log((f * f).sum()) + np.log((g * g).sum()) - 2 * np.log((f * g).sum())
    assert MixtureDivergence.of(p, q)(V)[0] == pytest.approx(expected, rel=1e-6)


def test_table_of_shortcuts_has_all_of_them_beside_all_pairs():
    table = shortcuts(LIMITS, sizes=(2000,), n_features=4, draws=5).table.droplevel("N")
    assert table.index.tolist() == ["all pairs", *CHEAPER]
    cheaper = table.drop("all pairs")
    assert_allclose(cheaper["bias"], cheaper["value"] - table.loc["all pairs", "value"])
    assert_allclose(cheaper["faster"], table.loc["all pairs", "ms"] / cheaper["ms"])
    assert (cheaper.loc[["binned", "mixtures"], "spread"] < 1e-12).all()
    assert (cheaper.loc[["√N rows", "√N rows, no self-pairs"], "spread"] > 1e-3).all()
    assert abs(cheaper.loc["binned", "bias"]) < 1e-3
    assert cheaper.loc["binned", "gradient %"] < 5
