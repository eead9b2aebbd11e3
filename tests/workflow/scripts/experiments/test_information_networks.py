"""Networks of maximal mutual information: rows of every problem, and closed forms against naive ones."""

import numpy as np
import pytest
from measured_scripts import measured, script
from scipy.optimize import minimize

ASKED = {"sources": ["laplace"], "noises": [0.1, 10], "correlations": [0.3, 0.9], "n_rows": 400}


def test_networks_reach_the_closed_forms():
    rows = measured("information_networks", **ASKED)
    found = {(row["reading"], row["metric"]): row["value"] for row in rows}
    places = ["sources_laplace", "channel_0.1", "channel_10", "views_0.3", "views_0.9"]
    assert [*found] == [(place, metric) for place in places for metric in ("value", "exact", "difference")]
    assert 0 < found["sources_laplace", "value"] < 0.1
    assert max(found[place, "difference"] for place in places[1:]) < 1e-9
    assert found["channel_0.1", "exact"] > found["channel_10", "exact"] > 0
    assert found["views_0.9", "exact"] > found["views_0.3", "exact"] > 0


def test_capacity_is_the_largest_information_over_powers():
    """Against an optimiser over powers of a sum, with noise that leaves one channel unused."""
    X = np.random.default_rng(0).normal(size=(50, 3)) * [3, 2, 0.3]
    variances = np.linalg.eigvalsh(np.cov(X.T, bias=True))

    def lost(powers):
        return -0.5 * np.log1p(powers * variances / 2.0).sum()

    sums = {"type": "eq", "fun": lambda powers: powers.sum() - 3}
    best = minimize(lost, [1, 1, 1], bounds=[(0, 3)] * 3, constraints=[sums], tol=1e-12)
    assert best.x.min() < 1e-6
    assert script("information_networks").capacity(X, 2.0) == pytest.approx(-best.fun, abs=1e-7)


def test_information_of_views_of_one_feature_is_that_of_their_correlation():
    X, Y = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=60).T[:, :, None]
    r = np.corrcoef(X[:, 0], Y[:, 0])[0, 1]
    assert script("information_networks").information(X, Y) == pytest.approx(-0.5 * np.log(1 - r**2))
