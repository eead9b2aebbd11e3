"""Rank correlations: naive twins, laws, and rows for what fails."""

import math

import numpy as np
import pytest
from measured_scripts import measured, script, two_classes
from scipy.stats import norm, spearmanr
from sklearn.covariance import ledoit_wolf

from entrolab.data.dataset import Dataset
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.moments import ClassMoments
from entrolearn.measures import cauchy_schwarz_gaussian

READING = {"activation": "rbf", "weights": "normal", "formula": "right", "data": "scaled", "centres": "means"}
DRAWN = {"sizes": [1, 4], "layers": 6, "operators": 5, **READING}


def correlations(data, **changes):
    return measured("correlations", data, raw=data, **DRAWN | changes)


def values(rows):
    return {(row["metric"], row["reading"]): row["value"] for row in rows}


def test_terms_add_up_to_the_divergence_of_two_gaussians():
    """Against entrolearn.measures, the covariances against scikit-learn's Ledoit-Wolf."""
    rng = np.random.default_rng(1)
    H = [rng.normal(size=(40, 4)), rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)) + 1]
    operators = rng.normal(size=(3, 4))
    logarithm, distance = script("correlations").terms_of_divergence(
        map(ClassMoments.from_data, H), operators
    )
    for k, b in enumerate(operators):
        gaussians = [number for rows in H for number in (b @ rows.mean(axis=0), b @ ledoit_wolf(rows)[0] @ b)]
        assert logarithm[k] + distance[k] == pytest.approx(cauchy_schwarz_gaussian(*gaussians))
        variances = gaussians[1] + gaussians[3]
        assert distance[k] == pytest.approx((gaussians[0] - gaussians[2]) ** 2 / variances)


def test_correlation_equals_the_naive_one_of_every_projected_row():
    """A twin that forms hidden rows and projects them one layer and one operator at a time."""
    data = two_classes()
    operators = np.random.RandomState(5).normal(size=(7, 4))
    terms, whole, part = [], [], []
    for seed in range(3):
        layer = RandomLayer.draw(3, 4, "rbf", np.random.RandomState(seed))
        H = [layer(data.X[data.y == label]) for label in (0, 1)]
        terms.append(script("correlations").terms_of_divergence(map(ClassMoments.from_data, H), operators))
        for b in operators:
            (m0, s0), (m1, s1) = ((b @ rows.mean(axis=0), b @ ledoit_wolf(rows)[0] @ b) for rows in H)
            part.append((m0 - m1) ** 2 / (s0 + s1))
            whole.append(part[-1] + math.log((s0 + s1) / 2 / math.sqrt(s0 * s1)))
    logarithm, distance = np.moveaxis(terms, 1, 0)
    expected = spearmanr(whole, part).statistic
    assert script("correlations").rank_correlation(logarithm, distance, 1) == pytest.approx(expected)


def test_sums_of_classes_are_compared_as_projected_rows_are_added_up():
    """Against the rows themselves; and of classes of n rows each, n² times the distance of means."""
    rng = np.random.default_rng(3)
    H = [rng.normal(size=(40, 4)), rng.normal(size=(30, 4)) + 1]
    operators = rng.normal(size=(3, 4))
    moments = [ClassMoments.from_data(rows) for rows in H]
    logarithm, distance = script("correlations").terms_of_divergence(moments, operators, "sums")
    np.testing.assert_allclose(logarithm, script("correlations").terms_of_divergence(moments, operators)[0])
    for k, b in enumerate(operators):
        sums, variances = zip(*(((rows @ b).sum(), b @ ledoit_wolf(rows)[0] @ b) for rows in H), strict=True)
        assert distance[k] == pytest.approx((sums[0] - sums[1]) ** 2 / sum(variances))
    equal = [ClassMoments.from_data(rows[:30]) for rows in H]
    of_sums, of_means = (
        script("correlations").terms_of_divergence(equal, operators, one)[1] for one in ("sums", "means")
    )
    np.testing.assert_allclose(of_sums, 30**2 * of_means)


def test_a_smaller_layer_is_the_leading_part_of_a_larger_one():
    data = two_classes()
    alone, beside = values(correlations(data, sizes=[1])), values(correlations(data, sizes=[1, 4]))
    # Sums are rounded otherwise, and with one unit all operators of a layer tie but for rounding.
    assert beside["spearman_h1", ""] == pytest.approx(alone["spearman_h1", ""], abs=0.05)
    assert beside.keys() == {("spearman_h1", ""), ("spearman_h4", "")}


@pytest.mark.parametrize("centres", ["means", "sums"])
def test_a_reading_measured_beside_is_what_it_is_as_the_tables_own(centres):
    data = two_classes()
    other = {"activation": "sigmoid", "weights": "uniform", "formula": "published", "centres": centres}
    others = {key: [value] for key, value in other.items()}
    name = "sigmoid units, uniform operators, eq. (3) as published, scaled data"
    name += ", class sums" if centres == "sums" else ""
    beside = values(correlations(data, others=others, others_on=["data"]))
    own = values(correlations(data, **other))
    for metric in ("spearman_h1", "spearman_h4"):
        assert beside[metric, name] == own[metric, ""]


def test_other_readings_are_every_combination_but_the_tables_own_and_for_their_data_sets_alone():
    others = {"activation": ["rbf", "sigmoid"], "data": ["scaled", "raw"]}
    data = two_classes()
    found = values(correlations(data, others=others, others_on=["data"], sizes=[1]))
    assert [reading for _, reading in found] == ["", *(
        f"{units} units, normal operators, eq. (3) put right, {which} data"
        for units, which in (("rbf", "raw"), ("sigmoid", "scaled"), ("sigmoid", "raw"))
    )]  # fmt: skip
    assert len(correlations(data, others=others, others_on=["another"], sizes=[1])) == 1


def test_jackknife_of_independent_layers_is_the_error_of_the_correlation():
    """Pearson's r of n bivariate normal pairs has the error (1 - r²)/√(n-1); Spearman's is close to it."""
    rng = np.random.default_rng(0)
    n = 400
    first, noise = rng.normal(size=(2, n, 1))
    part, whole = norm.cdf(first), norm.cdf((first + noise) / math.sqrt(2))
    error = script("correlations").jackknife_error(whole - part, part, 1)
    assert error == pytest.approx((1 - 0.5) / math.sqrt(n - 1), rel=0.25)


def test_projections_without_variance_are_a_row_with_the_reason():
    data = two_classes()
    constant = Dataset(np.ones_like(data.X), data.y, data.feature_names, "binary", data.classes, data.part)
    rows = correlations(constant)
    assert {row["status"] for row in rows} == {"failed"}
    assert rows[0]["error"] == "30 of 30 projections have no variance"
