"""Features that two views share, and those of which the other one tells nothing."""

import numpy as np
import pytest
from information_objectives import views_objective
from numpy.testing import assert_allclose
from scipy.linalg import null_space, sqrtm, subspace_angles
from scipy.optimize import minimize
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_linnerud, load_wine

from entrolearn.networks import CoherentFeatures, IncoherentFeatures

VIEWS = [CoherentFeatures, IncoherentFeatures]


@pytest.fixture(scope="module")
def two():
    """Two views of wine, of five and of three features."""
    X, _ = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    return X[:, :5], X[:, 5:8]


def joint_covariance(X, Y, noise_variance=0.0):
    return np.cov(np.column_stack([X, Y]).T, bias=True) + noise_variance * np.eye(X.shape[1] + Y.shape[1])


def canonical_correlations(C, d):
    """From the textbook's formula, with roots of the covariances."""
    roots = [np.linalg.inv(sqrtm(block)) for block in (C[:d, :d], C[d:, d:])]
    return np.linalg.svd(roots[0] @ C[:d, d:] @ roots[1], compute_uv=False)


def climbed(C, d_x, d_y, k, sign, seed=0):
    """Maps that L-BFGS finds from a random start: of most information (sign 1) or least (-1)."""

    def objective(w):
        W_x, W_y = w[: k * d_x].reshape(k, d_x), w[k * d_x :].reshape(k, d_y)
        value, gradients = views_objective(W_x, W_y, C)
        return -sign * value, -sign * np.concatenate([each.ravel() for each in gradients])

    start = np.random.default_rng(seed).normal(size=k * (d_x + d_y))
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    W_x, W_y = found.x[: k * d_x].reshape(k, d_x), found.x[k * d_x :].reshape(k, d_y)
    return W_x, W_y, sign * -found.fun


# --- both ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("views", VIEWS)
def test_outputs_of_a_view_have_unit_variance_and_no_correlation(views, two):
    for outputs in views(3).fit(*two).transform(*two):
        assert_allclose(outputs.mean(axis=0), 0, atol=1e-10)
        assert_allclose(outputs.T @ outputs / len(outputs), np.eye(3), atol=1e-10)


@pytest.mark.parametrize("views", VIEWS)
def test_views_swapped_have_swapped_maps(views, two):
    plain, swapped = views(2).fit(*two), views(2).fit(*two[::-1])
    if views is CoherentFeatures:
        assert_allclose(swapped.correlations_, plain.correlations_, rtol=1e-10)
        assert_allclose(np.abs(swapped.y_components_), np.abs(plain.components_), atol=1e-8)
    else:
        assert_allclose(swapped.correlations_, plain.y_correlations_, atol=1e-10)
        assert swapped.information_ == pytest.approx(plain.y_information_, rel=1e-10)
    assert_allclose(np.abs(swapped.components_), np.abs(plain.y_components_), atol=1e-8)


@pytest.mark.parametrize("views", VIEWS)
def test_an_invertible_map_of_a_view_changes_no_information(views, two):
    X, Y = two
    rng = np.random.default_rng(0)
    mapped = views(2).fit(X @ rng.normal(size=(5, 5)) + 7, Y @ rng.normal(size=(3, 3)))
    plain = views(2).fit(X, Y)
    assert_allclose(mapped.correlations_, plain.correlations_, atol=1e-9)
    assert mapped.information_ == pytest.approx(plain.information_, abs=1e-9)


@pytest.mark.parametrize("views", VIEWS)
def test_transform_gives_one_view_or_both(views, two):
    X, Y = two
    fitted = views(2).fit(X, Y)
    Z_x, Z_y = fitted.transform(X, Y)
    assert_allclose(Z_x, (X - X.mean(axis=0)) @ fitted.components_.T, atol=1e-12)
    assert_allclose(Z_y, (Y - Y.mean(axis=0)) @ fitted.y_components_.T, atol=1e-12)
    assert_allclose(fitted.transform(X), Z_x)
    assert_allclose(views(2).fit_transform(X, Y), Z_x)


@pytest.mark.parametrize("views", VIEWS)
def test_one_target_is_a_view_of_one_feature(views, two):
    X, Y = two
    plain, column = views().fit(X, Y[:, 0]), views().fit(X, Y[:, :1])
    assert_allclose(plain.components_, column.components_)
    assert plain.y_components_.shape == (1, 1)


@pytest.mark.parametrize("views", VIEWS)
def test_more_components_than_the_views_span_are_refused(views, two):
    X, Y = two
    doubled = np.column_stack([Y[:, 0], Y[:, 1], Y[:, 0] - 2 * Y[:, 1]])
    message = rf"n_components=3 is more than {views.__name__} finds .* span 5 and 2 dimensions: at most 2\."
    with pytest.raises(ValueError, match=message):
        views(3).fit(X, doubled)
    assert views(2).fit(X, doubled).information_ == pytest.approx(
        views(2).fit(X, doubled[:, :2]).information_, abs=1e-9
    )


def test_a_second_view_of_another_width_is_refused(two):
    with pytest.raises(ValueError, match="y has 2 columns; it had 3 in fit"):
        CoherentFeatures().fit(*two).transform(two[0], two[1][:, :2])


# --- coherent -----------------------------------------------------------------------------------------


def test_coherent_features_are_canonical_variates(two):
    X, Y = two
    ours, theirs = CoherentFeatures(3).fit(X, Y), CCA(3, max_iter=5000, tol=1e-24).fit(X, Y)
    for Z, expected in zip(ours.transform(X, Y), theirs.transform(X, Y), strict=True):
        signs = np.sign(np.sum(Z * expected, axis=0))  # CCA's are those of its last iteration
        assert_allclose(Z, signs * expected / expected.std(axis=0), rtol=0, atol=1e-9)


def test_correlations_are_the_canonical_ones(two):
    X, Y = two
    ours = CoherentFeatures(3).fit(X, Y)
    assert_allclose(ours.correlations_, canonical_correlations(joint_covariance(X, Y), 5), rtol=1e-9)
    pairs = zip(*(Z.T for Z in ours.transform(X, Y)), strict=True)
    assert_allclose(ours.correlations_, [np.corrcoef(*pair)[0, 1] for pair in pairs], rtol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_coherent_information_is_that_of_the_objective_and_climbing_finds_no_more(k, two):
    X, Y = two
    C, ours = joint_covariance(X, Y), CoherentFeatures(k).fit(X, Y)
    value, _ = views_objective(ours.components_, ours.y_components_, C)
    assert ours.information_ == pytest.approx(value, rel=1e-9)
    W_x, W_y, highest = climbed(C, 5, 3, k, sign=1)
    assert highest == pytest.approx(value, rel=1e-7)
    assert subspace_angles(W_x.T, ours.components_.T).max() < 1e-3
    assert subspace_angles(W_y.T, ours.y_components_.T).max() < 1e-3


def test_all_coherent_features_have_all_the_information_of_the_views(two):
    X, Y = two
    everything, _ = views_objective(np.eye(5), np.eye(3), joint_covariance(X, Y))
    assert CoherentFeatures(3).fit(X, Y).information_ == pytest.approx(everything, rel=1e-9)


def test_noise_at_the_inputs_is_a_ridge_on_both_covariances(two):
    X, Y = two
    ours, C = CoherentFeatures(3, noise_variance=0.3).fit(X, Y), joint_covariance(X, Y, 0.3)
    assert_allclose(ours.correlations_, canonical_correlations(C, 5), rtol=1e-9)
    value, _ = views_objective(ours.components_, ours.y_components_, C)
    assert ours.information_ == pytest.approx(value, rel=1e-9)
    assert_allclose(ours.components_ @ C[:5, :5] @ ours.components_.T, np.eye(3), atol=1e-9)
    assert ours.information_ < CoherentFeatures(3).fit(X, Y).information_


def test_a_signal_in_both_views_is_found_where_neither_shows_it():
    """Becker and Hinton's case: the views share one source among others of their own with more variance."""
    rng = np.random.default_rng(1)
    source = rng.normal(size=(3000, 1))
    X, Y = (
        np.column_stack([0.5 * source, 2 * rng.normal(size=(3000, d))]) @ rng.normal(size=(d + 1, d + 1))
        for d in (3, 4)
    )
    Z_x, Z_y = CoherentFeatures().fit(X, Y).transform(X, Y)
    assert abs(np.corrcoef(Z_x[:, 0], source[:, 0])[0, 1]) > 0.99
    assert abs(np.corrcoef(Z_y[:, 0], source[:, 0])[0, 1]) > 0.99


def test_views_that_determine_each_other_have_infinite_information_without_noise():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(6, 8)), rng.normal(size=(6, 7))  # fewer rows than features
    assert CoherentFeatures().fit(X, Y).information_ == np.inf
    assert 0 < CoherentFeatures(noise_variance=0.1).fit(X, Y).information_ < 10


# --- incoherent ---------------------------------------------------------------------------------------


def test_paired_incoherent_features_have_the_smallest_canonical_correlations(two):
    X, Y = two[0][:, :3], two[1]
    ours, canonical = IncoherentFeatures(2).fit(X, Y), canonical_correlations(joint_covariance(X, Y), 3)
    assert_allclose(ours.correlations_, canonical[::-1][:2], rtol=1e-8)
    assert_allclose(ours.y_correlations_, ours.correlations_, rtol=1e-8)
    Z_x, Z_y = ours.transform(X, Y)
    assert_allclose(np.abs(Z_x.T @ Z_y) / len(X), np.diag(ours.correlations_), atol=1e-9)


def test_incoherent_information_is_that_about_all_of_the_other_view(two):
    X, Y = two
    ours, C = IncoherentFeatures(3).fit(X, Y), joint_covariance(X, Y)
    about_y, _ = views_objective(ours.components_, np.eye(3), C)
    about_x, _ = views_objective(np.eye(5), ours.y_components_, C)
    assert ours.information_ == pytest.approx(about_y, abs=1e-9)
    assert ours.y_information_ == pytest.approx(about_x, abs=1e-9)


def test_no_direction_is_told_less_of(two):
    X, Y = two[0][:, :3], two[1]
    C, ours = joint_covariance(X, Y), IncoherentFeatures().fit(X, Y)
    assert ours.information_ > 1e-4
    rng = np.random.default_rng(3)
    for spread in (0.01, 0.1, 1.0):
        near = ours.components_ + spread * rng.normal(size=(30, 1, 3))
        assert min(views_objective(w, np.eye(3), C)[0] for w in near) > ours.information_


def test_the_larger_view_has_directions_of_which_the_smaller_tells_nothing(two):
    X, Y = two
    ours = IncoherentFeatures(2).fit(X, Y)
    assert_allclose(ours.correlations_, 0, atol=1e-12)
    C = joint_covariance(X, Y)
    assert_allclose(C[5:, :5] @ ours.components_.T, 0, atol=1e-12)
    assert subspace_angles(null_space(C[5:, :5]), ours.components_.T).max() < 1e-6
    assert ours.y_correlations_.min() > 0.01


def test_two_scalar_outputs_alone_can_always_be_made_to_tell_nothing(two):
    """Why the other view counts as a whole: the pair's own minimum is zero, and is reached in many places."""
    X, Y = two[0][:, :3], two[1]
    C, least = joint_covariance(X, Y), IncoherentFeatures().fit(X, Y).information_
    pairs = [climbed(C, 3, 3, 1, sign=-1, seed=seed) for seed in range(3)]
    assert max(value for _, _, value in pairs) < 1e-6 < 0.01 * least
    assert subspace_angles(pairs[0][0].T, pairs[1][0].T).max() > 0.01


def test_outputs_of_both_views_tell_no_more_of_each_other_than_of_all(two):
    X, Y = two
    for k in (1, 2, 3):
        ours = IncoherentFeatures(k).fit(X, Y)
        between, _ = views_objective(ours.components_, ours.y_components_, joint_covariance(X, Y))
        assert between <= min(ours.information_, ours.y_information_) + 1e-12


def test_what_two_images_have_in_common_is_taken_away():
    """Haykin's case: a common background in both polarisations, a target in one of them."""
    rng = np.random.default_rng(4)
    background, target = rng.normal(size=(4000, 2)), rng.laplace(size=(4000, 1))
    X = np.column_stack([background, 0.3 * target]) @ rng.normal(size=(3, 3))
    Y = background @ rng.normal(size=(2, 2)) + 0.1 * rng.normal(size=(4000, 2))
    ours = IncoherentFeatures().fit(X, Y)
    Z = ours.transform(X)[:, 0]
    assert abs(np.corrcoef(Z, target[:, 0])[0, 1]) > 0.99
    assert np.abs(np.corrcoef(Z, background[:, 0])[0, 1]) < 0.05
    assert ours.y_information_ > 1  # all of Y is background


def test_few_exercises_and_bodies_agree_in_most_and_least_by_all_three_pairs():
    X, Y = load_linnerud(return_X_y=True)
    coherent, incoherent = CoherentFeatures(3).fit(X, Y), IncoherentFeatures(3).fit(X, Y)
    assert_allclose(incoherent.correlations_, coherent.correlations_[::-1], rtol=1e-8)
    assert incoherent.information_ == pytest.approx(coherent.information_, rel=1e-9)
