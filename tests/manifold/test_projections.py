"""Linear projections that know the classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from entrolearn.manifold import GEM, ClassPCA, PerClassPCA, TwoEllipsoidPCA

PROJECTIONS = [ClassPCA, TwoEllipsoidPCA, PerClassPCA, GEM]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X / X.std(axis=0), y


@pytest.fixture(scope="module")
def two(wine):
    X, y = wine
    return X[y < 2], y[y < 2]


# --- all of them --------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_largest_entry_of_each_component_is_positive(projection, wine):
    components = projection(n_components=5).fit(*wine).components_
    assert components.shape == (5, 13)
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    assert (largest > 0).all()


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_transform_is_a_linear_map(projection, wine):
    X, y = wine
    fitted = projection(n_components=3).fit(X, y)
    assert_allclose(fitted.transform(X), X @ fitted.components_.T, rtol=1e-12)
    assert_allclose(fitted.transform(0 * X[:1]), [[0, 0, 0]], atol=0)


@pytest.mark.parametrize("projection", [ClassPCA, TwoEllipsoidPCA, PerClassPCA])
def test_scaled_data_have_scaled_variances(projection, wine):
    X, y = wine
    plain, scaled = projection(n_components=4).fit(X, y), projection(n_components=4).fit(1e3 * X, y)
    assert_allclose(scaled.explained_variance_, 1e6 * plain.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("projection", [ClassPCA, TwoEllipsoidPCA, PerClassPCA])
def test_moving_a_class_does_not_change_the_components(projection, wine):
    X, y = wine
    moved = X + 10.0 * np.random.default_rng(2).normal(size=(3, 13))[y]
    assert_allclose(projection().fit(moved, y).components_, projection().fit(X, y).components_, atol=1e-8)


@pytest.mark.parametrize(
    ("projection", "most"), [(ClassPCA, 13), (TwoEllipsoidPCA, 13), (PerClassPCA, 39), (GEM, 78)]
)
def test_as_many_components_as_there_are_and_no_more(projection, most, wine):
    assert projection(n_components=most).fit(*wine).components_.shape == (most, 13)
    with pytest.raises(ValueError, match=rf"n_components={most + 1} is more .* 3 classes: at most {most}\."):
        projection(n_components=most + 1).fit(*wine)


# --- principal components -----------------------------------------------------------------------------


@pytest.mark.parametrize("projection", [ClassPCA, TwoEllipsoidPCA, PerClassPCA])
def test_one_class_is_principal_component_analysis(projection, wine):
    X, _ = wine
    ours, pca = projection(n_components=5).fit(X, np.zeros(len(X))), PCA(5, svd_solver="full").fit(X)
    assert_allclose(ours.components_, pca.components_, atol=1e-10)
    n = len(X)  # scikit-learn divides by n - 1
    assert_allclose(ours.explained_variance_, pca.explained_variance_ * (n - 1) / n, rtol=1e-10)


def test_class_pca_is_principal_component_analysis_of_the_rows_about_their_class_means(wine):
    X, y = wine
    centred = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    ours, pca = ClassPCA(n_components=4).fit(X, y), PCA(4, svd_solver="full").fit(centred)
    assert_allclose(ours.components_, pca.components_, atol=1e-10)
    assert_allclose(ours.explained_variance_, pca.explained_variance_ * 177 / 178, rtol=1e-10)


def test_two_ellipsoid_pca_is_class_pca_of_classes_made_equally_large_by_repetition(two):
    X, y = two  # 59 and 71 rows
    repeated = np.concatenate([np.repeat(X[y == 0], 71, axis=0), np.repeat(X[y == 1], 59, axis=0)])
    labels = np.repeat([0, 1], 59 * 71)
    balanced, ours = ClassPCA().fit(repeated, labels), TwoEllipsoidPCA().fit(X, y)
    assert_allclose(ours.components_, balanced.components_, atol=1e-9)
    assert_allclose(ours.explained_variance_, balanced.explained_variance_, rtol=1e-9)


def test_equal_class_sizes_make_two_ellipsoid_pca_class_pca_and_others_do_not(wine):
    X, y = wine
    same = np.concatenate([np.flatnonzero(y == c)[:48] for c in range(3)])
    assert_allclose(
        TwoEllipsoidPCA().fit(X[same], y[same]).components_,
        ClassPCA().fit(X[same], y[same]).components_,
        atol=1e-10,
    )
    few = np.concatenate([np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)])
    different = TwoEllipsoidPCA().fit(X[few], y[few]).components_ - ClassPCA().fit(X[few], y[few]).components_
    assert np.abs(different).max() > 0.05


def test_components_within_classes_are_orthonormal(wine):
    for projection in (ClassPCA, TwoEllipsoidPCA):
        components = projection(n_components=13).fit(*wine).components_
        assert_allclose(components @ components.T, np.eye(13), atol=1e-12)


def test_per_class_pca_goes_round_the_classes(wine):
    X, y = wine
    ours = PerClassPCA(n_components=5).fit(X, y)
    pcas = [PCA(2, svd_solver="full").fit(X[y == c]) for c in range(3)]
    turns = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)]  # class, rank
    assert_allclose(ours.components_, [pcas[c].components_[rank] for c, rank in turns], atol=1e-9)
    variances = [X[y == c] @ ours.components_[i] for i, (c, _) in enumerate(turns)]
    assert_allclose(ours.explained_variance_, [along.var() for along in variances], rtol=1e-10)


# --- generalised eigenvectors -------------------------------------------------------------------------


def second_moments(X, y):
    return {label: np.mean([np.outer(x, x) for x in X[y == label]], axis=0) for label in np.unique(y)}


@pytest.mark.parametrize("alpha", [0.0, 0.1, 10.0])
def test_components_solve_the_generalised_eigenvalue_equation(alpha, wine):
    X, y = wine
    gem = GEM(n_components=6, alpha=alpha).fit(X, y)
    C = second_moments(X, y)
    for v, eigenvalue, (i, j) in zip(gem.components_, gem.eigenvalues_, gem.pairs_, strict=True):
        below = C[j] + alpha / 13 * np.trace(C[j]) * np.eye(13)
        residual = C[i] @ v - eigenvalue * below @ v
        assert np.linalg.norm(residual) < 1e-9 * np.linalg.norm(C[i] @ v)
        assert v @ below @ v == pytest.approx(1, rel=1e-9)


def test_eigenvalues_are_the_largest_of_all_ordered_pairs(wine):
    X, y = wine
    C = second_moments(X, y)
    alpha, everything = 0.3, []
    for i in range(3):
        for j in range(3):
            if i != j:
                below = C[j] + alpha / 13 * np.trace(C[j]) * np.eye(13)
                everything += np.linalg.eigvals(np.linalg.solve(below, C[i])).real.tolist()
    expected = sorted(everything, reverse=True)
    assert_allclose(GEM(n_components=10, alpha=alpha).fit(X, y).eigenvalues_, expected[:10], rtol=1e-9)
    assert_allclose(GEM(n_components=78, alpha=alpha).fit(X, y).eigenvalues_, expected, rtol=1e-6)


def test_no_direction_has_a_larger_ratio_of_energies(two):
    X, y = two
    gem = GEM(n_components=1, alpha=0.2).fit(X, y)
    C = second_moments(X, y)
    i, j = gem.pairs_[0]
    below = C[j] + 0.2 / 13 * np.trace(C[j]) * np.eye(13)
    v = np.random.default_rng(3).normal(size=(1000, 13)) / 5 + gem.components_[0]
    ratios = np.einsum("nd,de,ne->n", v, C[i], v) / np.einsum("nd,de,ne->n", v, below, v)
    assert ratios.max() < gem.eigenvalues_[0]


def test_two_classes_swapped_have_the_reciprocal_eigenvalues_without_regularisation(two):
    X, y = two
    gem = GEM(n_components=26, alpha=0).fit(X, y)
    one, other = (gem.eigenvalues_[(gem.pairs_ == pair).all(axis=1)] for pair in ([0, 1], [1, 0]))
    assert_allclose(np.sort(one), np.sort(1 / other), rtol=1e-6)


def test_without_regularisation_a_linear_map_of_the_features_changes_signs_at_most(two):
    X, y = two
    A = np.random.default_rng(4).normal(size=(13, 13))
    plain, mapped = GEM(alpha=0).fit(X, y), GEM(alpha=0).fit(X @ A, y)
    assert_allclose(mapped.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    assert_allclose(np.abs(mapped.transform(X @ A)), np.abs(plain.transform(X)), rtol=1e-5, atol=1e-6)


def test_alpha_is_relative_to_the_size_of_the_data(two):
    X, y = two
    plain, scaled = GEM(alpha=0.5).fit(X, y), GEM(alpha=0.5).fit(1e4 * X, y)
    assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    assert_allclose(scaled.transform(1e4 * X), plain.transform(X), rtol=1e-7, atol=1e-9)


def test_a_large_alpha_gives_the_principal_axes_of_the_second_moments(two):
    X, y = two
    gem = GEM(n_components=1, alpha=1e8).fit(X, y)
    C = second_moments(X, y)
    i, j = gem.pairs_[0]
    values, vectors = np.linalg.eigh(C[i])
    direction = gem.components_[0] / np.linalg.norm(gem.components_[0])
    assert abs(direction @ vectors[:, -1]) == pytest.approx(1, abs=1e-6)
    assert gem.eigenvalues_[0] == pytest.approx(values[-1] / (1e8 * np.trace(C[j]) / 13), rel=1e-6)


def test_pairs_are_the_labels(two):
    X, y = two
    gem = GEM().fit(X, np.array(["no", "yes"])[y])
    assert {tuple(pair) for pair in gem.pairs_.tolist()} <= {("no", "yes"), ("yes", "no")}
    assert_array_equal(gem.pairs_ == "yes", GEM().fit(X, y).pairs_ == 1)


@pytest.mark.filterwarnings("error")
def test_alpha_is_accepted_up_to_where_its_multiples_overflow(two):
    X, y = two
    assert_allclose(GEM(alpha=1e100).fit(1e60 * X, y).eigenvalues_, 0, atol=1e-90)
    with pytest.raises(
        ValueError, match=r"'alpha' parameter of GEM must be a float in the range \[0.0, 1e\+100\]"
    ):
        GEM(alpha=1e308).fit(X, y)


@pytest.mark.parametrize("units", [1.0, 1e-8])
def test_singular_second_moments_are_refused_without_gamma(units):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 4)) * [1, 1, 1, units], np.repeat(["a", "b"], [27, 3])
    with pytest.raises(
        ValueError, match="second moments of class 'b' are singular with alpha=0; accepted: a larger"
    ):
        GEM(alpha=0).fit(X, y)
    assert np.isfinite(GEM(alpha=0.1).fit(X, y).components_).all()
    assert np.isfinite(GEM(alpha=0).fit(X[:27], np.repeat(["a", "b"], [20, 7])).components_).all()


def test_a_class_of_zeros_is_refused():
    X, y = np.concatenate([np.eye(3), np.zeros((2, 3))]), [0, 0, 0, 1, 1]
    with pytest.raises(
        ValueError, match="class 1 are singular .*unless all rows of the class, or all but one, are zero"
    ):
        GEM(alpha=1.0).fit(X, y)
