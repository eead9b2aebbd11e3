"""Independent components: sources recovered up to order, sign and size, and what cannot be recovered."""

import numpy as np
import pytest
from information_objectives import ica_objective
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from entrolearn import InfomaxICA
from entrolearn.networks import amari_index


def mixture(kinds, n_samples=4000, seed=0):
    """Rows of mixed sources, and what they are mixed with."""
    rng = np.random.default_rng(seed)
    draw = {
        "laplace": rng.laplace,
        "uniform": lambda size: rng.uniform(-1, 1, size=size),
        "gauss": lambda size: rng.normal(size=size),
    }
    S = np.column_stack([draw[kind](size=n_samples) for kind in kinds])
    A = rng.normal(size=(len(kinds), len(kinds)))
    return S @ A.T + rng.normal(size=len(kinds)), A


# --- what is recovered --------------------------------------------------------------------------------


@pytest.mark.parametrize("extended", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_laplace_sources_are_recovered(seed, extended):
    X, A = mixture(["laplace"] * 4, seed=seed)
    ica = InfomaxICA(extended=extended, random_state=seed).fit(X)
    assert amari_index(ica.components_ @ A) < 0.03
    assert not ica.sub_gaussian_.any()


@pytest.mark.parametrize("seed", range(5))
def test_peaked_and_flat_sources_are_recovered_together(seed):
    X, A = mixture(["laplace", "uniform"] * 2, seed=seed)
    ica = InfomaxICA(random_state=seed).fit(X)
    P = np.abs(ica.components_ @ A)
    assert amari_index(P) < 0.03
    assert_array_equal(ica.sub_gaussian_, P.argmax(axis=1) % 2 == 1)


def test_flat_sources_stay_mixed_where_all_are_taken_to_be_peaked():
    X, A = mixture(["uniform"] * 3)
    assert amari_index(InfomaxICA(extended=False, random_state=0).fit(X).components_ @ A) > 0.3
    assert amari_index(InfomaxICA(random_state=0).fit(X).components_ @ A) < 0.03


def test_one_gaussian_among_the_sources_is_recovered_with_them():
    X, A = mixture(["laplace", "gauss", "laplace"], n_samples=10_000)
    assert amari_index(InfomaxICA(random_state=0).fit(X).components_ @ A) < 0.05


def test_sources_are_those_of_fast_ica():
    X, _ = mixture(["laplace", "uniform", "laplace"], n_samples=10_000)
    ours, theirs = InfomaxICA(random_state=0).fit(X), FastICA(whiten="unit-variance", random_state=0).fit(X)
    correlations = np.abs(np.corrcoef(ours.transform(X).T, theirs.transform(X).T)[:3, 3:])
    assert_allclose(np.sort(correlations.max(axis=1)), np.ones(3), atol=2e-3)


def test_of_gaussian_sources_only_the_whitening_is_determined():
    """Parts of the rows lead to rotations of their own, equally likely but for chance."""
    X, A = mixture(["gauss"] * 3, n_samples=20_000)
    fits = [InfomaxICA(random_state=0, max_iter=2000).fit(some) for some in np.split(X, 4)]
    for ica in fits:
        outputs = ica.transform(X)
        assert_allclose(np.corrcoef(outputs.T), np.eye(3), atol=0.03)
        assert amari_index(ica.components_ @ A) > 0.1
    pairs = [amari_index(fits[0].components_ @ other.mixing_) for other in fits[1:]]
    assert max(pairs) > 0.1
    assert np.ptp([ica.objective_ for ica in fits]) < 2e-2
    apart = [InfomaxICA(random_state=seed).fit(mixture(["laplace"] * 3)[0]) for seed in range(4)]
    assert max(amari_index(apart[0].components_ @ other.mixing_) for other in apart[1:]) < 1e-5


@pytest.mark.parametrize("seed", range(3))
def test_another_mixture_of_the_same_sources_has_the_same_ones(seed):
    X, _ = mixture(["laplace", "uniform", "laplace"])
    B = np.random.default_rng(seed).normal(size=(3, 3))
    plain, other = InfomaxICA(random_state=0).fit(X), InfomaxICA(random_state=1).fit(X @ B.T)
    assert other.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    assert amari_index(other.components_ @ B @ plain.mixing_) < 1e-4


# --- the estimator ------------------------------------------------------------------------------------


def test_objective_is_that_of_the_whitened_rows():
    X, _ = mixture(["laplace", "uniform", "laplace"])
    ica = InfomaxICA(random_state=0).fit(X)
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    whitening = (vectors / np.sqrt(values)).T
    Z = (X - X.mean(axis=0)) @ whitening.T
    W = ica.components_ @ np.linalg.inv(whitening)
    value, gradient = ica_objective(W, Z, sub_gaussian=ica.sub_gaussian_)
    assert ica.objective_ == pytest.approx(value, rel=1e-9)
    assert np.abs(gradient @ W.T).max() < 2e-6
    assert ica.history_[-1] == ica.objective_
    assert len(ica.history_) == ica.n_iter_


def test_mixing_undoes_the_components():
    X, _ = mixture(["laplace"] * 4)
    ica = InfomaxICA(random_state=0).fit(X)
    assert_allclose(ica.components_ @ ica.mixing_, np.eye(4), atol=1e-10)
    assert_allclose(ica.inverse_transform(ica.transform(X)), X, atol=1e-10)


def test_fewer_components_keep_the_leading_principal_axes():
    X, _ = load_digits(return_X_y=True)
    ica = InfomaxICA(5, random_state=0).fit(X)
    centred = X - X.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    kept = centred @ axes[:5].T @ axes[:5]
    assert_allclose(ica.inverse_transform(ica.transform(X)), kept + X.mean(axis=0), atol=1e-9)
    assert_allclose(ica.components_, np.linalg.pinv(ica.mixing_), atol=1e-9)


def test_components_come_by_the_variance_that_they_explain_with_positive_largest_entries():
    X, _ = mixture(["laplace"] * 4)
    ica = InfomaxICA(random_state=3).fit(X)
    parts = [np.outer(y, a).var(axis=0).sum() for y, a in zip(ica.transform(X).T, ica.mixing_.T, strict=True)]
    assert (np.diff(parts) < 0).all()
    assert (ica.mixing_.max(axis=0) == np.abs(ica.mixing_).max(axis=0)).all()


def test_rows_of_few_dimensions_have_as_many_sources():
    X, A = mixture(["laplace"] * 2)
    wide = X @ np.random.default_rng(5).normal(size=(2, 5))
    assert InfomaxICA(random_state=0).fit(wide).components_.shape == (2, 5)
    with pytest.raises(ValueError, match="n_components=3 is not possible where the rows of X span 2 dimens"):
        InfomaxICA(3).fit(wide)


def test_a_climb_that_is_cut_short_says_so():
    X, _ = mixture(["laplace"] * 3)
    with pytest.warns(ConvergenceWarning, match="ended after 2 iterations with a relative gradient of"):
        InfomaxICA(max_iter=2, random_state=0).fit(X)


@pytest.mark.parametrize("n_components", [None, 2])
def test_order_of_rows_does_not_choose_among_several_maxima(n_components):
    """Rows that are white already: rounding decides on their principal axes, which starts are not along."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = np.linalg.svd(rng.normal(size=(60, 4)), full_matrices=False)[0]
        if n_components:
            X[:, :n_components] *= 2
        ica, other = (
            InfomaxICA(n_components, tol=1e-7, random_state=0).fit(rows)
            for rows in (X, X[rng.permutation(60)])
        )
        assert_allclose(other.components_, ica.components_, rtol=0, atol=1e-5 * np.abs(ica.components_).max())
