"""Clusters of distributions: information lost, naive twins, rows with zeros."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from scipy.special import rel_entr
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from entrolearn import KLClustering
from entrolearn.cluster.kl import _Distributions, _Search


@pytest.fixture(scope="module")
def topics():
    """Counts of words of three topics, half of them zero."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=120)
    topics = rng.dirichlet(np.full(30, 0.2), size=3)
    return np.array([rng.multinomial(40, topics[k]) for k in y]).astype(float), y


def mixed(X, mixing):
    """The distributions that the clusters are of."""
    rows = X / X.sum(axis=1, keepdims=True)
    return (1 - mixing) * rows + mixing * rows.mean(axis=0)


def mutual_information(joint):
    """By the definition, in nats."""
    return rel_entr(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum()


@pytest.mark.parametrize("mixing", [0.0, 0.01, 0.3])
def test_objective_is_the_information_lost(topics, mixing):
    """I(X; Y) - I(C; Y), for rows of equal weight."""
    X, _ = topics
    found = KLClustering(4, mixing=mixing, random_state=0).fit(X)
    rows = mixed(X, mixing) / len(X)
    clusters = np.array([rows[found.labels_ == k].sum(axis=0) for k in range(4)])
    assert found.mutual_information_ == pytest.approx(mutual_information(rows), rel=1e-10)
    lost = mutual_information(rows) - mutual_information(clusters)
    assert found.objective_ == pytest.approx(lost, rel=1e-10)


@pytest.mark.parametrize("mixing", [0.0, 0.05])
def test_objective_is_the_mean_divergence_from_the_centers_which_are_means(topics, mixing):
    X, _ = topics
    found = KLClustering(3, mixing=mixing, random_state=1).fit(X)
    rows = mixed(X, mixing)
    means = [rows[found.labels_ == k].mean(axis=0) for k in range(3)]
    assert_allclose(found.cluster_centers_, means, atol=1e-14)
    divergences = rel_entr(rows[:, np.newaxis], found.cluster_centers_).sum(axis=2)
    assert_allclose(found.transform(X), divergences, rtol=1e-9, atol=1e-12)
    assert_array_equal(found.predict(X), found.labels_)
    assert found.objective_ == pytest.approx(divergences.min(axis=1).mean(), rel=1e-10)


@pytest.mark.parametrize("mixing", [0.0, 0.01, 0.5])
def test_objective_never_rises(mixing):
    X = load_digits().data
    for start in ("k-means++", "random"):
        found = KLClustering(10, mixing=mixing, init=start, n_init=2, random_state=0).fit(X)
        assert (np.diff(found.history_) <= 1e-14).all()
        assert found.history_[-1] == found.objective_ == found.objectives_.min()
        assert len(found.history_) == found.n_iter_
        assert_array_equal(found.predict(X), found.labels_)


def test_iterations_are_those_of_a_naive_twin(topics):
    X, _ = topics
    rows, centers = mixed(X, 0.02), mixed(X, 0.02)[:4]
    for _ in range(3):
        labels = np.array([[rel_entr(row, c).sum() for c in centers] for row in rows]).argmin(axis=1)
        centers = np.array([rows[labels == k].mean(axis=0) for k in range(4)])
    with pytest.warns(ConvergenceWarning, match="did not converge in 3 iterations"):
        found = KLClustering(4, mixing=0.02, init=X[:4], max_iter=3, tol=0.0).fit(X)
    assert_array_equal(found.labels_, labels)
    assert_allclose(found.cluster_centers_, centers, atol=1e-14)


@pytest.mark.parametrize("mixing", [0.0, 0.1])
def test_sparse_rows_are_those_of_an_array(topics, mixing):
    X, _ = topics
    dense, sparse = (KLClustering(3, mixing=mixing, random_state=0).fit(rows) for rows in (X, csr_matrix(X)))
    assert_array_equal(dense.labels_, sparse.labels_)
    assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, atol=1e-14)
    assert_allclose(dense.objective_, sparse.objective_)
    assert_allclose(dense.transform(X), sparse.transform(csr_matrix(X)), atol=1e-12)


def test_topics_are_found(topics):
    X, y = topics
    assert adjusted_rand_score(y, KLClustering(3, random_state=0).fit(X).labels_) > 0.95


def test_digits_need_some_smoothing():
    """Without it each first center, a single image, is infinitely far from nearly all others."""
    X, y = load_digits(return_X_y=True)
    smooth, raw = (KLClustering(10, mixing=mixing, n_init=3, random_state=0).fit(X) for mixing in (0.01, 0.0))
    assert adjusted_rand_score(y, smooth.labels_) > 0.5
    assert adjusted_rand_score(y, raw.labels_) < 0.1
    assert 1 - smooth.objective_ / smooth.mutual_information_ > 0.3


def test_one_cluster_loses_all_information_and_one_for_each_row_none(topics):
    X, _ = topics
    one = KLClustering(1, random_state=0).fit(X)
    assert one.objective_ == pytest.approx(one.mutual_information_, rel=1e-12)
    every = KLClustering(len(X), n_init=1, random_state=0).fit(X)
    assert every.objective_ == pytest.approx(0, abs=1e-12)


def test_empty_clusters_are_filled_with_the_farthest_rows():
    X = np.array([[8.0, 1, 1], [7, 2, 1], [1, 8, 1], [1, 1, 8]])
    far = np.array([[8.0, 1, 1], [1, 1, 1000], [1, 1, 2000]])  # nearest to none or to one of the rows
    found = KLClustering(3, init=far).fit(X)
    assert found.n_clusters_ == 3
    assert found.labels_[0] == found.labels_[1]
    assert len(np.unique(found.labels_)) == 3


def test_there_are_no_more_clusters_than_different_distributions():
    X = np.array([[1.0, 2], [2, 4], [3, 1], [6, 2], [9, 3]])
    found = KLClustering(4, random_state=0).fit(X)
    assert found.n_clusters_ == len(found.cluster_centers_) == 2
    assert_array_equal(found.labels_[[0, 2, 2]], found.labels_[[1, 3, 4]])
    assert found.objective_ == pytest.approx(0, abs=1e-15)


def test_new_features_are_infinitely_far_and_decide_nothing():
    X = np.array([[9.0, 1, 0, 0], [8, 2, 0, 0], [0, 2, 8, 0], [0, 1, 9, 0]])
    found = KLClustering(2, random_state=0).fit(X)
    new = np.array([[5.0, 1, 0, 4], [0, 1, 5, 4]])
    assert np.isinf(found.transform(new)).all()
    assert_array_equal(found.predict(new), found.labels_[[0, 2]])
    assert np.isfinite(found.transform(X)).all()


@pytest.mark.parametrize("container", [np.array, csr_matrix])
@pytest.mark.parametrize("mixing", [0.01, 0.5])
def test_entries_in_new_features_do_not_change_the_prediction(topics, container, mixing):
    X, _ = topics
    rows = np.vstack([np.random.default_rng(1).poisson(1, (200, 30)), np.zeros(30)])
    found = KLClustering(3, mixing=mixing, random_state=0).fit(np.pad(X, ((0, 0), (0, 1))))
    with_new = container(np.column_stack([rows, np.full(201, 1e4)]))
    assert_array_equal(found.predict(with_new), found.predict(np.pad(rows, ((0, 0), (0, 1)))))
    assert np.isinf(found.transform(with_new)).all()


@pytest.mark.parametrize("container", [np.array, csr_matrix])
def test_row_without_entries_is_the_mean_of_the_others(topics, container):
    X, _ = topics
    mean = (X / X.sum(axis=1, keepdims=True)).mean(axis=0)
    empty, filled = (
        KLClustering(3, random_state=0).fit(container(np.vstack([X, last]))) for last in (0 * mean, mean)
    )
    assert_array_equal(empty.labels_, filled.labels_)
    assert empty.objective_ == pytest.approx(filled.objective_, rel=1e-12)
    assert_array_equal(empty.predict(container(np.zeros((1, 30)))), empty.labels_[-1:])


def test_first_centers_are_drawn_by_their_divergence():
    """Two rows and many copies of one of them: the second center is the other, whatever the first is."""
    rows = np.array([[0.9, 0.1]] * 50 + [[0.1, 0.9]])
    distributions = _Distributions(rows, rows.mean(axis=0), 0.01)
    for seed in range(5):
        drawn = _Search(distributions, 2, 1, 0.0).spread_out(np.random.RandomState(seed))
        assert sorted(drawn)[-1] == 50
        assert len(drawn) == 2


def test_first_centers_are_the_infinitely_far_ones_first():
    rows = np.array([[1.0, 0, 0]] * 30 + [[0.0, 1, 0]] + [[0.9, 0, 0.1]] * 30)
    distributions = _Distributions(rows, rows.mean(axis=0), 0.0)
    assert 30 in _Search(distributions, 3, 1, 0.0).spread_out(np.random.RandomState(0))


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0, -1.0], [1.0, 2.0]], {}, "Negative values in data passed to KLClustering"),
        ([[1.0, 1, 0], [1, 2, 0]], {"init": np.eye(3)[1:]}, "a center that is zero in all features"),
    ],
)
def test_what_cannot_be_clustered_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        KLClustering(**{"n_clusters": 2, **options}).fit(X)
