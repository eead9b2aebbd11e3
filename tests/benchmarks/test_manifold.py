"""Linear manifolds on tiny data: what the cheaper divergences are."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from benchmarks import manifold
from benchmarks.manifold import CHEAPER, Crossed, own_log_potential, sampled, shortcuts, without_self_pairs
from entrolab.fit.limits import Limits

LIMITS = Limits(seconds=60)


@pytest.fixture(scope="module")
def data():
    return Crossed.draw(120, 5)


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
    function = partial(without_self_pairs, drawn, [60, 60])
    steps = 1e-5 * np.eye(data.V.size).reshape(-1, *data.V.shape)
    numeric = [(function(data.V + step)[0] - function(data.V - step)[0]) / 2e-5 for step in steps]
    gradient = function(data.V)[1].ravel()
    assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8 * np.abs(numeric).max())


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


def test_table_of_shortcuts_has_all_of_them_beside_all_pairs():
    table = shortcuts(LIMITS, sizes=(2000,), n_features=4, draws=5).table.droplevel("N")
    assert table.index.tolist() == ["all pairs", *CHEAPER]
    cheaper = table.drop("all pairs")
    assert_allclose(cheaper["bias"], cheaper["value"] - table.loc["all pairs", "value"])
    assert_allclose(cheaper["faster"], table.loc["all pairs", "ms"] / cheaper["ms"])
    assert cheaper.loc["binned", "spread"] < 1e-12
    assert (cheaper.loc[["√N rows", "√N rows, no self-pairs"], "spread"] > 1e-3).all()
    assert abs(cheaper.loc["binned", "bias"]) < 1e-3
    assert cheaper.loc["binned", "gradient %"] < 5
