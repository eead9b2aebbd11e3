"""The estimator: what it finds, how it classifies, what it refuses."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrolearn import MELM
from entrolearn.manifold.objective import melm_objective
from entrolearn.measures import silverman_factor


@pytest.fixture
def planted(rng):
    """Four lumps in a chequered plane, which no line separates, among wider directions that say nothing."""
    n = 400
    corner = rng.integers(4, size=n)
    plane = np.column_stack([corner % 2, corner // 2]) * 6.0 + rng.normal(size=(n, 2))
    X = np.hstack([plane, 4 * rng.normal(size=(n, 4))])
    rotation = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    return X @ rotation, (corner % 2) ^ (corner // 2), rotation[:2]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def angle(A, B):
    """The largest principal angle between the spans of orthonormal rows."""
    return np.arccos(np.clip(np.linalg.svd(A @ B.T, compute_uv=False).min(), -1, 1))


def test_plane_in_which_classes_are_apart_is_found_though_no_line_and_no_variance_shows_it(planted):
    X, y, plane = planted
    melm = MELM(random_state=0).fit(X, y)
    assert angle(melm.components_, plane) < np.deg2rad(5)
    assert melm.score(X, y) > 0.97


def test_components_are_the_principal_axes_of_the_subspace(planted):
    X, y, _ = planted
    melm = MELM(n_init=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(melm.components_ @ melm.components_.T, np.eye(2), atol=1e-12)
    covariance = np.cov(melm.transform(X).T)
    assert covariance[0, 0] > covariance[1, 1]
    assert abs(covariance[0, 1]) < 1e-10 * covariance[0, 0]
    assert (melm.components_.max(axis=1) == np.abs(melm.components_).max(axis=1)).all()


def test_objective_is_the_divergence_in_the_subspace_and_the_best_of_all_starts(planted):
    X, y, _ = planted
    melm = MELM(n_init=5, random_state=0).fit(X, y)
    value, _ = melm_objective(melm.components_.T, X[y == 0], X[y == 1])
    assert melm.objective_ == pytest.approx(value, rel=1e-10) == melm.objectives_.max()
    assert melm.objectives_.shape == (5,)
    assert len(melm.history_) == melm.n_iter_ < melm.n_evaluations_
    single = MELM(n_init=1, random_state=0).fit(X, y)
    assert single.objectives_[0] == melm.objectives_[0]  # more starts are added to those that there were


def test_machine_does_not_depend_on_the_number_of_processes(wine):
    X, y = wine[0][:, :4], wine[1]
    one, two = (
        MELM(n_init=2, max_iter=30, tol=1e-3, n_jobs=n_jobs, random_state=0).fit(X, y) for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.objectives_, two.objectives_)
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_three_classes_are_told_apart_by_the_sum_of_their_divergences(wine):
    X, y = wine
    melm = MELM(n_init=2, random_state=0).fit(X, y)
    V = melm.components_.T
    pairs = [melm_objective(V, X[y == a], X[y == b])[0] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert melm.objective_ == pytest.approx(sum(pairs), rel=1e-9)
    assert melm.decision_function(X).shape == (178, 3)
    assert cross_val_score(MELM(n_init=1, random_state=0), X, y, cv=2).mean() > 0.93


def test_prediction_compares_kernel_density_estimates_of_the_projected_classes(rng):
    """scipy's estimate has the same kernel where the covariance is that of the projected rows."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    melm = MELM(n_init=1, covariance="empirical", bandwidth_scale=0.8, random_state=0).fit(X, y)
    Z, new = melm.transform(X), X + 0.1 * rng.normal(size=X.shape)
    logs = []
    for label in (1, 2):
        n = np.sum(y == label)
        # scipy's covariance is divided by n - 1
        factor = 0.8 * silverman_factor(n, 2) * np.sqrt((n - 1) / n)
        logs.append(gaussian_kde(Z[y == label].T, factor).logpdf(melm.transform(new).T))
    np.testing.assert_allclose(melm.decision_function(new), logs[1] - logs[0], rtol=1e-8)
    np.testing.assert_array_equal(melm.predict(new), np.where(logs[1] > logs[0], 2, 1))


def test_priors_move_the_decision_and_not_the_subspace(wine):
    X, y = wine[0][wine[1] > 0], wine[1][wine[1] > 0]
    uniform, empirical, given = (
        MELM(n_init=2, priors=priors, random_state=0).fit(X, y) for priors in ("uniform", "empirical", [1, 9])
    )
    np.testing.assert_array_equal(uniform.components_, empirical.components_)
    shift = empirical.decision_function(X) - uniform.decision_function(X)
    np.testing.assert_allclose(shift, np.log(np.sum(y == 2) / np.sum(y == 1)), rtol=1e-9)
    np.testing.assert_allclose(
        given.decision_function(X) - uniform.decision_function(X), np.log(9), rtol=1e-9
    )


def test_it_is_a_step_of_a_pipeline_and_searched_like_any_other(wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), MELM(n_init=1, random_state=0), SVC())
    search = GridSearchCV(pipeline, {"melm__bandwidth_scale": [0.5, 2.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.93
    names = search.best_estimator_[1].get_feature_names_out()
    assert names.tolist() == ["melm0", "melm1"]


def test_covariance_that_is_singular_is_named(rng):
    """With fewer rows than features the empirical covariance leaves directions without any width."""
    X, y = rng.normal(size=(8, 10)), np.tile([0, 1], 4)
    with pytest.raises(
        ValueError, match="empirical covariance of a class is singular .*: covariance='ledoit_wolf' or 'oas'"
    ):
        MELM(covariance="empirical", n_init=2, random_state=0).fit(X, y)
    assert np.isfinite(MELM(n_init=2, random_state=0).fit(X, y).objectives_).all()


def drawn_settings(rng, n_features):
    return {
        "n_components": rng.integers(1, n_features + 1),
        "bandwidth_scale": rng.choice([1e-100, 1e-6, 0.1, 1.0, 1.0, 10.0, 1e100]),
        "covariance": rng.choice(["ledoit_wolf", "oas", "empirical"]),
        "solver": rng.choice(["whitened", "penalty", "stiefel"]),
        "method": rng.choice(["auto", "exact", "binned"]),
    }


def drawn_rows(rng, kind, y):
    """Rows on whose edges densities end: equal ones, dependent features, classes that a feature parts."""
    X = rng.normal(size=(len(y), rng.integers(1, 5)))
    return {
        "lattice": np.round(X),
        "repeated feature": np.hstack([X, X[:, :1]]),
        "constant feature": np.insert(X, 0, rng.choice([0.1, 1e6, 1e60]), axis=1),
        "label as a feature": np.insert(X, 0, y * rng.choice([1.0, 1e8, 1e60]), axis=1),
        "outlier": np.vstack([X[:-1], np.full(X.shape[1], rng.choice([1e8, 1e60]))]),
        "units": X * 10.0 ** rng.integers(-100, 60, size=X.shape[1]),
    }[kind]


def refusal(estimator, X, y):
    try:
        estimator.fit(X, y)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "kind", ["lattice", "repeated feature", "constant feature", "label as a feature", "outlier", "units"]
)
def test_objectives_are_finite_or_the_data_are_refused_in_one_line(kind):
    fitted = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(rng.integers(6, 30)) % 2)
        X = drawn_rows(rng, kind, y)
        melm = MELM(n_init=2, max_iter=8, random_state=0, **drawn_settings(rng, X.shape[1]))
        said = refusal(melm, X, y)
        if said:
            assert "\n" not in said
            assert "the kernel densities vanish" in said or "rows that are all equal" in said
        else:
            fitted += 1
            assert np.isfinite(melm.objectives_).all()
            assert np.isfinite(melm.history_).all()
            assert np.isfinite(melm.predict_proba(X)).all()
    assert fitted >= 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"covariance": "empirical", "n_components": 3},
        {"covariance": "oas", "solver": "penalty"},
        {"solver": "stiefel"},
        {"method": "binned"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_order_of_rows_does_not_change_a_bit(wine, settings):
    """Also where classes are round, so that rounding decides on the eigenvectors of their covariances."""
    X, y = wine
    round_classes = X.copy()
    for c in range(3):
        left, _, right = np.linalg.svd(X[y == c] - X[y == c].mean(axis=0), full_matrices=False)
        round_classes[y == c] = left @ right * np.sqrt(np.sum(y == c)) + c
    for rows in (X, round_classes):
        melm = MELM(n_init=2, max_iter=10, random_state=0, **settings).fit(rows, y)
        order = np.random.default_rng(0).permutation(len(y))
        other = clone(melm).fit(rows[order], y[order])
        np.testing.assert_array_equal(other.objectives_, melm.objectives_)
        np.testing.assert_array_equal(other.components_, melm.components_)
        np.testing.assert_array_equal(other.predict_proba(rows), melm.predict_proba(rows))


def test_rounding_of_the_features_does_not_change_where_starts_end(wine):
    """As the order of rows would, were they not put in one: starts are not along eigenvectors."""
    X, y = wine[0][wine[1] > 0], wine[1][wine[1] > 0]
    for covariance in ("ledoit_wolf", "empirical"):
        melm = MELM(n_init=2, covariance=covariance, random_state=0).fit(X, y)
        other = clone(melm).fit(X * (1 + 1e-15 * np.random.default_rng(0).normal(size=X.shape)), y)
        np.testing.assert_allclose(other.objectives_, melm.objectives_, rtol=1e-4)


def test_best_start_that_used_up_its_iterations_is_warned_of(wine):
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 iterations: raise max_iter or tol"):
        MELM(n_init=1, max_iter=2, random_state=0).fit(*wine)
