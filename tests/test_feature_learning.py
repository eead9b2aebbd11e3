"""Recursive feature machines where the truth is known, and against a naive twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator_sparse_tag

from entrolearn import (
    LSSVR,
    EEKMClassifier,
    EEMClassifier,
    ELMRegressor,
    RecursiveFeatureClassifier,
    RecursiveFeatureRegressor,
    RKELMClassifier,
    RKELMRegressor,
)
from entrolearn.feature_learning import _auc, mean_squares
from entrolearn.machines.base import to_original_coordinates
from entrolearn.machines.gradients import without_empty_features
from entrolearn.measures import average_gradient_outer_product

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(2000, 20)), RNG.normal(size=(500, 20))


def four_of_twenty(rows):
    return rows[:, 2] * rows[:, 5] + np.sin(2 * rows[:, 11]) + rows[:, 17] ** 2


BASES = {
    "laplace": EEKMClassifier(300, kernel="exponential_power", random_state=0),
    "gaussian": EEKMClassifier(100, random_state=0),
    "random units": EEMClassifier(150, random_state=0),
    "sigmoids": EEMClassifier(150, activation="sigmoid", random_state=0),
}


@pytest.mark.parametrize("base", BASES)
def test_four_of_twenty_features_are_found_and_raise_the_accuracy(base):
    machine = RecursiveFeatureClassifier(BASES[base], random_state=0).fit(X, four_of_twenty(X) > 1)
    if base != "random units":  # 150 centres in 20 dimensions see little; they gain by the metric too
        assert set(np.argsort(machine.feature_importances_)[-4:]) == {2, 5, 11, 17}
    plain = clone(BASES[base]).fit(X, four_of_twenty(X) > 1)
    truth = four_of_twenty(NEW) > 1
    assert machine.score(NEW, truth) > plain.score(NEW, truth) + 0.06


def test_two_hidden_directions_are_the_leading_eigenvectors():
    directions = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 2)))[0]

    def values(rows):
        along = rows @ directions
        return along[:, 0] * along[:, 1] + along[:, 0]

    rows = X[:1500]
    machine = RecursiveFeatureRegressor(metric="full", random_state=0).fit(rows, values(rows))
    _, vectors = np.linalg.eigh(machine.metric_)
    assert np.linalg.svd(vectors[:, -2:].T @ directions)[1].min() > 0.985  # cosine of the largest angle
    plain = clone(machine).set_params(n_rounds=0).fit(rows, values(rows))
    diagonal = clone(machine).set_params(metric="diagonal").fit(rows, values(rows))
    scores = [each.score(NEW, values(NEW)) for each in (plain, diagonal, machine)]
    assert max(scores[:2]) + 0.1 < scores[2] > 0.93, scores


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_one_round_is_a_fit_in_the_mean_metric_of_the_folds(metric):
    """The naive twin: distances in M by rows that are multiplied by its Cholesky factor."""
    y = np.tanh(X[:, 0] + X[:, 1])
    base = RKELMRegressor(50, kernel="rbf", random_state=0)
    machine = RecursiveFeatureRegressor(base, n_rounds=1, metric=metric, random_state=0).fit(X, y)
    assert machine.n_rounds_ == 1
    factor = np.linalg.cholesky(machine.metric_)
    sigma = np.trace(machine.metric_ @ np.cov(X.T, ddof=0))  # 20 times the mean variance in the metric
    twin = clone(base).set_params(gamma=1 / sigma).fit(X @ factor, y)
    assert_allclose(machine.predict(NEW), twin.predict(NEW @ factor), atol=1e-6)
    assert machine.scores_[metric].shape == (2,)
    gradient, step = machine.input_gradient(NEW[:3]), 1e-5
    for j, move in enumerate(step * np.eye(20)):
        slope = (machine.predict(NEW[:3] + move) - machine.predict(NEW[:3] - move)) / (2 * step)
        assert_allclose(gradient[:, j], slope, atol=1e-5)


FEW, OTHERS = X[:400, :5], X[400:500, :5]
ONE_DIRECTION = np.tanh(2 * FEW[:, 0] + 2 * FEW[:, 1]) + (FEW[:, 0] + FEW[:, 1]) ** 2 / 2
OFFSETS = {"one": 1000.0, "each": 1000 * np.random.default_rng(2).normal(size=5)}


@pytest.mark.parametrize(
    ("base", "offset"),
    [
        # "scale" is scikit-learn's, of the variance about one mean: other offsets change the first fit
        (RKELMRegressor(50, kernel="exponential_power", random_state=0), "one"),
        (RKELMRegressor(50, kernel="exponential_power", gamma=0.1, random_state=0), "each"),
        (LSSVR(gamma="auto"), "each"),
        (ELMRegressor(50, activation="rbf", alpha=1e-3, random_state=0), "each"),
    ],
    ids=str,
)
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_constants_added_to_the_features_change_nothing(base, offset, metric):
    y = ONE_DIRECTION if metric == "full" else np.sin(2 * FEW[:, 0]) + FEW[:, 1] ** 2
    machine = RecursiveFeatureRegressor(base, metric=metric, random_state=0).fit(FEW, y)
    c, expected = OFFSETS[offset], machine.predict(OTHERS)
    moved = clone(machine).fit(FEW + c, y)
    assert moved.n_rounds_ == machine.n_rounds_
    assert machine.n_rounds_ > 0 or isinstance(base, ELMRegressor)
    assert_allclose(moved.predict(OTHERS + c), expected, rtol=0, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize("base", [RKELMRegressor(50, gamma=0.1, random_state=0), LSSVR(gamma="auto")])
def test_a_rotation_of_the_features_changes_nothing_in_a_full_metric(base):
    machine = RecursiveFeatureRegressor(base, metric="full", random_state=0).fit(FEW, ONE_DIRECTION)
    R, expected = ortho_group.rvs(5, random_state=0), machine.predict(OTHERS)
    rotated = clone(machine).fit(FEW @ R, ONE_DIRECTION)
    assert rotated.n_rounds_ == machine.n_rounds_ > 0
    assert_allclose(rotated.predict(OTHERS @ R), expected, rtol=0, atol=1e-9 * abs(expected).max())
    assert_allclose(rotated.metric_, R.T @ machine.metric_ @ R, rtol=0, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.1, "scale"])
def test_given_landmarks_are_moved_into_the_metric(gamma):
    """The twin is fitted to rows and landmarks times the root, in which the mean variance is one."""
    base = RKELMRegressor(n_landmarks=FEW[:50], kernel="exponential_power", gamma=gamma)
    machine = RecursiveFeatureRegressor(base, metric="full", random_state=0).fit(FEW, ONE_DIRECTION)
    assert machine.n_rounds_ > 0
    values, vectors = np.linalg.eigh(machine.metric_)
    root = (vectors * np.sqrt(values)) @ vectors.T
    twin = clone(base).set_params(n_landmarks=FEW[:50] @ root, gamma=0.2 if gamma == "scale" else gamma)
    twin.fit(FEW @ root, ONE_DIRECTION)
    assert_allclose(machine.predict(OTHERS), twin.predict(OTHERS @ root), atol=1e-6)


WIDE = random_array((60, 200), density=0.03, rng=np.random.default_rng(0), format="csr")


@pytest.mark.parametrize("weights", [None, np.arange(60.0)], ids=["equal", "weighted"])
@pytest.mark.parametrize("root", [None, np.linspace(0.5, 2, 200)], ids=["plain", "metric"])
@pytest.mark.parametrize(
    "learner",
    [
        EEKMClassifier(10, kernel="exponential_power", random_state=0),
        RKELMClassifier(10, per_landmark_gamma=True, random_state=0),
        RKELMRegressor(10, kernel="laplacian", random_state=0),
        RKELMRegressor(10, kernel="poly", random_state=0),
        RKELMRegressor(n_landmarks=WIDE[:10].toarray()),
        EEMClassifier(10, random_state=0),
    ],
    ids=str,
)
def test_squared_derivatives_of_sparse_rows_are_those_of_the_dense_gradients(learner, root, weights):
    learner = clone(learner).fit(WIDE, np.arange(60) % 3)
    if root is not None:
        to_original_coordinates(learner, root)
    expected = average_gradient_outer_product(
        learner.input_gradient(WIDE), diagonal=True, sample_weight=weights
    )
    found = mean_squares(learner, WIDE, weights)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-14 * expected.max())


def test_features_without_stored_numbers_among_the_landmarks_take_no_memory():
    """Dense gradients of these rows would have 48 million numbers."""
    rng = np.random.default_rng(0)
    places = np.repeat(np.arange(48), 5), rng.integers(0, 10**6, 240)
    wide = csr_array((rng.normal(size=240), places), shape=(48, 10**6))
    layer = EEKMClassifier(8, random_state=0).fit(wide, np.arange(48) % 2)._layer
    narrow, rows, kept, slopes = without_empty_features(layer, wide)
    stored = np.unique(layer.landmarks.indices).size
    assert rows.shape[1] == narrow.landmarks.shape[1] == stored + 1 == kept.sum() + 1 < 60
    assert slopes.nnz == wide.nnz - wide[:, kept].nnz
    assert_allclose(narrow(rows), layer(wide), atol=1e-6)


def test_sparse_rows_and_the_picture_of_the_rounds():
    pd, plt = pytest.importorskip("pandas"), pytest.importorskip("matplotlib.pyplot")
    from entrolearn.plotting import FeatureImportancesDisplay

    y = np.digitize(four_of_twenty(X), [0, 1.5])
    machine = RecursiveFeatureClassifier(BASES["gaussian"], metric="auto", n_rounds=2, random_state=0)
    sparse = clone(machine).fit(csr_array(X), y)
    names = [f"f{j}" for j in range(20)]
    machine.set_params(metric="diagonal").fit(pd.DataFrame(X, columns=names), y)
    assert_allclose(
        sparse.predict_proba(csr_array(NEW)),
        machine.predict_proba(pd.DataFrame(NEW, columns=names)),
        atol=1e-6,
    )
    assert machine.importances_.shape == (3, 20)
    assert_allclose(machine.importances_.sum(axis=1), 1)
    drawn = FeatureImportancesDisplay.from_estimator(machine, n_features=4).plot()
    assert {line.get_label() for line in drawn.ax_.get_lines()} == {"f2", "f5", "f11", "f17"}
    assert "16 others" in drawn.ax_.texts[0].get_text()
    plt.close("all")


def test_noise_leaves_the_estimator_as_it_is_after_few_fits(monkeypatch):
    """Two folds' plain fits and fits in their metrics, which gain nothing, and the fit to all rows."""
    sizes, fit = [], EEKMClassifier.fit

    def counted(self, X, y):
        sizes.append((len(X), self.n_landmarks))
        return fit(self, X, y)

    monkeypatch.setattr(EEKMClassifier, "fit", counted)
    y = np.random.default_rng(3).integers(0, 2, 2000)
    machine = RecursiveFeatureClassifier(BASES["laplace"], random_state=0).fit(X, y)
    assert machine.n_rounds_ == 0
    rows, landmarks = np.transpose(sizes)
    assert rows.tolist() == [1333, 1333, 1333, 1333, 2000]
    assert abs(landmarks - [200, 200, 200, 200, 300]).max() <= 1  # they are rows: a fold has its share
    assert_array_equal(machine.metric_, np.eye(20))
    plain = clone(BASES["laplace"]).fit(X, y)
    assert_array_equal(machine.decision_function(NEW), plain.decision_function(NEW))


@pytest.mark.parametrize("metric", ["diagonal", "full"])
@pytest.mark.parametrize("base", BASES)
def test_the_fitted_machine_is_the_estimator_with_the_metric_in_its_layer(base, metric):
    machine = RecursiveFeatureClassifier(BASES[base], n_rounds=1, metric=metric, random_state=0)
    machine.fit(FEW, ONE_DIRECTION > 1)
    assert machine.n_rounds_ == 1
    assert_array_equal(machine.decision_function(OTHERS), machine.estimator_.decision_function(OTHERS))
    assert machine.metric_.shape == (5, 5)


def test_weights_of_zero_leave_rows_out_and_equal_ones_change_nothing():
    y = four_of_twenty(X) > 1
    machine = RecursiveFeatureClassifier(EEKMClassifier(50, random_state=0), n_rounds=2, random_state=0)
    kept = np.arange(2000) % 3 > 0
    without, weighted = clone(machine).fit(X[kept], y[kept]), clone(machine).fit(X, y, kept.astype(float))
    assert weighted.n_rounds_ == without.n_rounds_ > 0
    assert_allclose(weighted.decision_function(NEW), without.decision_function(NEW), rtol=1e-6, atol=1e-6)
    assert_allclose(weighted.importances_, without.importances_, rtol=1e-6)


def test_heavy_rows_decide_which_features_matter():
    """Half of the rows follow one feature and half another: the heavier half is heard."""
    first = np.arange(2000) < 1000
    y = np.where(first, X[:, 0] ** 2, X[:, 1] ** 2)
    base = RKELMRegressor(100, kernel="exponential_power", random_state=0)
    machine = RecursiveFeatureRegressor(base, random_state=0)
    for heavy, feature in ((first, 0), (~first, 1)):
        machine.fit(X, y, sample_weight=np.where(heavy, 1.0, 0.01))
        assert machine.n_rounds_ > 0
        assert machine.feature_importances_.argmax() == feature
        assert machine.feature_importances_[feature] > 0.5


def test_more_rows_are_learnt_in_the_metric_of_those_before():
    """The naive twin is a fit to all rows, multiplied by the metric's root, with the same landmarks."""
    y = four_of_twenty(X)
    base = RKELMRegressor(100, kernel="exponential_power", gamma=0.1, store_sums=True, random_state=0)
    machine = RecursiveFeatureRegressor(base, random_state=0).fit(X[:1500], y[:1500])
    assert machine.n_rounds_ > 0
    machine.estimator_.partial_fit(X[1500:], y[1500:])
    roots = np.sqrt(np.diag(machine.metric_))
    twin = clone(base).set_params(n_landmarks=machine.estimator_.landmarks_, store_sums=False)
    twin.fit(X * roots, y)
    assert_allclose(machine.predict(NEW), twin.predict(NEW * roots), rtol=0, atol=1e-6 * abs(y).max())


def test_area_under_the_weighted_curve_is_scikit_learns():
    rng = np.random.default_rng(0)
    positive, values, weights = rng.random(300) < 0.3, rng.integers(0, 20, 300), rng.random(300)
    expected = roc_auc_score(positive, values, sample_weight=weights)
    assert_allclose(_auc(positive, values, weights), expected, rtol=1e-12)


def test_many_rows_learn_the_metric_from_some_of_them():
    y = four_of_twenty(X)
    machine = RecursiveFeatureRegressor(
        RKELMRegressor(100, kernel="exponential_power", random_state=0), selection_rows=800, random_state=0
    ).fit(X, y)
    chosen = np.sort(np.random.RandomState(0).permutation(2000)[:800])
    alone = clone(machine).set_params(selection_rows=None).fit(X[chosen], y[chosen])
    assert machine.n_rounds_ > 0
    assert_array_equal(machine.metric_, alone.metric_)
    assert machine.score(NEW, four_of_twenty(NEW)) > alone.score(NEW, four_of_twenty(NEW))


def test_a_sample_of_one_class_teaches_no_metric():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) > 9
    machine = RecursiveFeatureClassifier(selection_rows=4, random_state=0)
    assert y[machine._selection_places(60)].all()
    machine.fit(X, y)
    assert machine.n_rounds_ == 0
    plain = RecursiveFeatureClassifier(n_rounds=0, random_state=0).fit(X, y)
    assert_array_equal(machine.decision_function(X), plain.decision_function(X))


def test_what_cannot_be_done_is_refused():
    y = four_of_twenty(X) > 1
    # One of another library, one whose units have no gradient, and one that learns a metric itself.
    for base in (SVC(), EEMClassifier(activation="hardlimit"), RecursiveFeatureClassifier()):
        with pytest.raises(TypeError, match="accepted: estimators of this package .* input_gradient"):
            RecursiveFeatureClassifier(base).fit(X, y)
    with pytest.raises(
        ValueError, match="would make sparse rows dense; accepted for sparse rows: 'diagonal' and 'auto'"
    ):
        RecursiveFeatureClassifier(metric="full").fit(csr_array(X), y)
    with pytest.raises(ValueError, match=r"'cv'.* an int in the range \[2, 20\].* Got 1000"):
        RecursiveFeatureClassifier(cv=1000).fit(X, y)
    for cv in ([], [(np.arange(9), np.arange(9, 20))], [(np.arange(9), np.arange(9, 20)), ([], [3])]):
        with pytest.raises(ValueError, match=f"cv gives {len(cv)} splits"):
            RecursiveFeatureClassifier(cv=cv).fit(X, y)


def test_the_tag_of_sparse_rows_is_that_of_the_metric():
    for metric in ("diagonal", "full"):
        base = EEKMClassifier(20, random_state=0)
        check_estimator_sparse_tag("RFM", RecursiveFeatureClassifier(base, metric=metric, random_state=0))


def test_splits_are_folds_a_splitter_or_a_list():
    y = FEW[:, 0] * FEW[:, 1] > 0
    base = EEKMClassifier(50, kernel="exponential_power", random_state=0)
    machine = RecursiveFeatureClassifier(base, n_rounds=2, random_state=0).fit(FEW, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for cv in (folds, list(folds.split(FEW, y)), folds.split(FEW, y)):
        found = RecursiveFeatureClassifier(base, n_rounds=2, cv=cv, random_state=0).fit(FEW, y)
        assert found.scores_["diagonal"].tolist() == machine.scores_["diagonal"].tolist()
        assert_array_equal(found.decision_function(OTHERS), machine.decision_function(OTHERS))


def test_splits_are_of_the_given_rows_whichever_of_them_are_selected():
    """Rows of weight zero, and those outside the selection, are left out of the splits."""
    y = FEW[:, 0] * FEW[:, 1] > 0
    weights = (np.arange(400) % 4 > 0).astype(float)
    splits = list(StratifiedKFold(3).split(FEW, y))
    machine = RecursiveFeatureClassifier(
        EEKMClassifier(50, random_state=0), cv=splits, selection_rows=200, random_state=0
    ).fit(FEW, y, weights)
    kept = np.flatnonzero(weights)
    chosen = kept[np.sort(np.random.RandomState(0).permutation(300)[:200])]
    among = [tuple(np.flatnonzero(np.isin(chosen, part)) for part in split) for split in splits]
    alone = clone(machine).set_params(cv=among).fit(FEW[chosen], y[chosen])
    assert machine.scores_["diagonal"].tolist() == pytest.approx(alone.scores_["diagonal"].tolist(), rel=1e-9)


def test_an_estimator_of_the_other_kind_is_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(TypeError, match="accepted: a regressor"):
        RecursiveFeatureRegressor(EEMClassifier()).fit(X, y)
    with pytest.raises(TypeError, match="accepted: a classifier"):
        RecursiveFeatureClassifier(RKELMRegressor()).fit(X, y)


def test_scores_of_few_rows_are_numbers():
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert np.isfinite(RecursiveFeatureRegressor(random_state=0).fit(X, X[:, 0]).scores_["diagonal"]).all()
