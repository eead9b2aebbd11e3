"""Minimum entropy clustering."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from entrolearn import MinimumEntropyClustering

ENTROPIES = [("shannon", 2.0), ("havrda_charvat", 2.0), ("havrda_charvat", 0.5), ("havrda_charvat", 1.0)]
POSTERIORS = ["parzen", "knn"]


def naive_posteriors(X, labels, clustering):
    """Equations (9) and (10), the latter normalised."""
    clusters = np.unique(labels)
    distances = cdist(X, X)
    if clustering.posterior == "parzen":
        near = distances <= clustering.radius
        return np.array([[np.mean(labels[row] == c) for c in clusters] for row in near])
    np.fill_diagonal(distances, np.inf)
    weights = np.zeros((len(X), len(clusters)))
    for j, c in enumerate(clusters):
        near = np.sort(distances[:, labels == c], axis=1)[:, : clustering.n_neighbors]
        for i in range(len(X)):
            members = near[i, np.isfinite(near[i])]
            weights[i, j] = len(members) / members[-1] ** X.shape[1] if len(members) else 0
    return weights / weights.sum(axis=1, keepdims=True)


def naive_objective(X, labels, clustering):
    """Equation (5) as a mean over the rows, by the definitions of the entropies."""
    total = 0.0
    for p in naive_posteriors(X, labels, clustering):
        p = p[p > 0]
        if clustering.entropy == "shannon" or clustering.order == 1:
            total -= np.sum(p * np.log(p))
        else:
            total += (np.sum(p**clustering.order) - 1) / (math.e ** (1 - clustering.order) - 1)
    return total / len(X)


def naive_clustering(X, labels, clustering):
    """The method as printed, with everything computed anew for every row."""
    labels, history = np.array(labels), [naive_objective(X, labels, clustering)]
    while True:
        moved = False
        for row in range(len(X)):
            clusters = np.unique(labels)
            posterior = naive_posteriors(X, labels, clustering)[row]
            best = clusters[posterior.argmax()]
            if posterior.max() <= posterior[clusters == labels[row]][0] * (1 + 1e-12):
                continue
            proposed = labels.copy()
            proposed[row] = best
            change = naive_objective(X, proposed, clustering) - naive_objective(X, labels, clustering)
            if len(X) * change < -1e-9:
                labels, moved = proposed, True
        history.append(naive_objective(X, labels, clustering))
        if not moved:
            return labels, history


@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize(("entropy", "order"), ENTROPIES)
def test_it_is_the_printed_method(posterior, entropy, order):
    X, y = make_blobs(40, centers=4, cluster_std=1.5, random_state=0)
    rng = np.random.default_rng(1)
    start = np.where(rng.random(40) < 0.3, rng.integers(4, size=40), y)
    clustering = MinimumEntropyClustering(
        4, posterior=posterior, entropy=entropy, order=order, radius=2.0, n_neighbors=3, init=start
    ).fit(X)
    labels, history = naive_clustering(X, start, clustering)
    assert_allclose(clustering.history_, history, rtol=1e-9, atol=1e-12)
    assert_array_equal(clustering.labels_, np.unique(labels, return_inverse=True)[1])
    assert clustering.objective_ == clustering.history_[-1] < clustering.history_[0]
    assert clustering.n_iter_ == len(history) - 1 >= 2


@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize(("entropy", "order"), ENTROPIES)
@pytest.mark.parametrize("init", ["k-means", "random"])
def test_no_sweep_raises_the_objective(posterior, entropy, order, init):
    X, _ = make_blobs(80, centers=5, cluster_std=2.0, random_state=2)
    clustering = MinimumEntropyClustering(
        6, posterior=posterior, entropy=entropy, order=order, init=init, random_state=0
    ).fit(X)
    assert np.all(np.diff(clustering.history_) <= 1e-12)
    assert clustering.history_[-1] == pytest.approx(clustering.history_[-2], abs=1e-12)  # nothing moved
    assert len(clustering.history_) == clustering.n_iter_ + 1
    assert 1 < clustering.n_clusters_ == len(set(clustering.labels_.tolist())) <= 6


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_the_end_is_a_minimum_over_all_moves_of_the_method(posterior):
    """No row whose most probable cluster is another can go there without the objective rising."""
    X, _ = make_blobs(60, centers=3, cluster_std=2.5, random_state=0)
    clustering = MinimumEntropyClustering(
        3, posterior=posterior, radius=1.5, n_neighbors=4, random_state=0
    ).fit(X)
    assert clustering.objective_ == pytest.approx(
        naive_objective(X, clustering.labels_, clustering), rel=1e-9
    )
    posteriors = naive_posteriors(X, clustering.labels_, clustering)
    own = posteriors[np.arange(60), clustering.labels_]
    elsewhere = np.flatnonzero(posteriors.max(axis=1) > own + 1e-9)  # ties stay
    assert len(elsewhere) == {"parzen": 0, "knn": 1}[posterior]
    for row in elsewhere:
        moved = clustering.labels_.copy()
        moved[row] = posteriors[row].argmax()
        assert naive_objective(X, moved, clustering) >= clustering.objective_ - 1e-9


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_mislabelled_rows_inside_groups_are_repaired(posterior):
    X, y = make_blobs(100, centers=[[0, 0], [20, 0]], random_state=4)
    start = y.copy()
    start[[3, 30, 77]] = 1 - start[[3, 30, 77]]
    clustering = MinimumEntropyClustering(2, posterior=posterior, radius=2.0, init=start).fit(X)
    assert_array_equal(clustering.labels_, y)


def test_separate_groups_stay_and_have_no_entropy():
    X, y = make_blobs(60, centers=[[0, 0], [50, 0], [0, 50]], random_state=5)
    clustering = MinimumEntropyClustering(3, radius=5.0, init=y).fit(X)
    assert_array_equal(clustering.labels_, y)
    assert_array_equal(clustering.history_, [0, 0])


@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize(("entropy", "order"), ENTROPIES)
def test_one_cluster_is_the_trivial_minimum(posterior, entropy, order):
    X = np.random.default_rng(6).normal(size=(40, 2))
    clustering = MinimumEntropyClustering(1, posterior=posterior, entropy=entropy, order=order).fit(X)
    assert clustering.objective_ == pytest.approx(0, abs=1e-12)
    assert clustering.n_clusters_ == 1


def test_entropy_of_two_halves_of_a_window():
    """A window over everything sees half of each cluster, and no row would gain."""
    X, start = np.arange(8.0)[:, np.newaxis], np.repeat([0, 1], 4)
    for entropy, expected in (("shannon", math.log(2)), ("havrda_charvat", 0.5 / (1 - 1 / math.e))):
        clustering = MinimumEntropyClustering(2, entropy=entropy, radius=10.0, init=start).fit(X)
        assert_allclose(clustering.history_, [expected, expected], rtol=1e-12)


def test_structural_entropy_of_degree_two_is_the_error_of_the_nearest_neighbour_rule():
    """Li, Zhang and Jiang: a multiple of the chance that two draws from a window differ in cluster."""
    X, y = make_blobs(50, centers=3, cluster_std=3.0, random_state=7)
    clustering = MinimumEntropyClustering(3, entropy="havrda_charvat", radius=3.0, init=y).fit(X)
    chances = []
    for row in cdist(X, X) <= 3.0:
        inside = y[row]
        chances.append(np.mean(inside[:, np.newaxis] != inside))
    assert clustering.history_[0] == pytest.approx(np.mean(chances) / (1 - 1 / math.e), rel=1e-12)


def test_degree_one_is_the_limit_and_shannons():
    X, y = make_blobs(50, centers=3, cluster_std=3.0, random_state=8)
    shannon, one, nearly = (
        MinimumEntropyClustering(3, radius=3.0, init=y, **which).fit(X).history_[0]
        for which in (
            {},
            {"entropy": "havrda_charvat", "order": 1.0},
            {"entropy": "havrda_charvat", "order": 1 + 1e-6},
        )
    )
    assert one == shannon
    assert nearly == pytest.approx(shannon, rel=1e-5)


@pytest.mark.parametrize("order", [1 - 2**-53, 1 + 2**-52, 1 - 1e-12])
def test_degrees_next_to_one_keep_their_digits(order):
    X, y = make_blobs(50, centers=3, cluster_std=3.0, random_state=8)
    shannon = MinimumEntropyClustering(3, radius=3.0, init=y).fit(X)
    nearly = MinimumEntropyClustering(3, radius=3.0, init=y, entropy="havrda_charvat", order=order).fit(X)
    assert_allclose(nearly.history_, shannon.history_, rtol=1e-9, atol=1e-12)
    assert_array_equal(nearly.labels_, shannon.labels_)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_powers_of_a_huge_degree_are_zero():
    X, y = make_blobs(50, centers=3, cluster_std=3.0, random_state=8)
    huge = MinimumEntropyClustering(3, radius=3.0, init=y, entropy="havrda_charvat", order=1e308).fit(X)
    certain = naive_posteriors(X, huge.labels_, huge).max(axis=1) == 1
    assert huge.objective_ == np.mean(~certain)  # (1 - Σ pᵈ) / (1 - 2^(1 - d)) is 1 where no p is 1
    assert 0 < certain.sum() < 50


def test_equal_starts_of_k_means_number_the_clusters_alike(monkeypatch):
    """Rounding decides which of the starts that reach one partition is kept."""
    X, _ = make_blobs(60, centers=4, cluster_std=2.0, random_state=3)
    fits = []
    for names in ([0, 1, 2, 3], [2, 0, 3, 1]):
        labels = np.array(names)[np.arange(60) % 4]
        monkeypatch.setattr(KMeans, "fit_predict", lambda self, X, labels=labels: labels)
        fits.append(MinimumEntropyClustering(4, random_state=0).fit(X))
    assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert_array_equal(fits[0].predict(X + 0.1), fits[1].predict(X + 0.1))


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_fanos_inequality_holds_for_the_partition_found(posterior):
    """Equation (6): H(Pe) + Pe log(m - 1) >= H(C|x), with the error of guessing the likeliest cluster."""
    X, _ = make_blobs(200, centers=4, cluster_std=2.5, random_state=9)
    clustering = MinimumEntropyClustering(4, posterior=posterior, radius=1.5, n_neighbors=5, random_state=0)
    labels = clustering.fit(X).labels_
    m = clustering.n_clusters_
    error = 1 - naive_posteriors(X, labels, clustering).max(axis=1).mean()
    bound = -error * math.log2(error) - (1 - error) * math.log2(1 - error) + error * math.log2(m - 1)
    assert 0 < clustering.objective_ <= bound


@pytest.mark.parametrize(("border", "expected"), [(0.95, 1.25), (1.6, 1.25), (0.5, 0.5)])
def test_a_border_goes_to_the_gap_that_its_windows_see_and_stays_inside_a_group(border, expected):
    """Windows deep inside an even group are cut in the same way wherever the border is."""
    x = np.concatenate([np.linspace(0, 1, 51), np.linspace(1.5, 2.5, 51)])
    start = (x > border).astype(int)
    clustering = MinimumEntropyClustering(2, radius=0.2, init=start).fit(x[:, np.newaxis])
    assert_array_equal(clustering.labels_, x > expected)


def test_any_initial_partition_will_do():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    by_name = MinimumEntropyClustering(3, init=names).fit(X)
    assert_array_equal(by_name.labels_, MinimumEntropyClustering(3, init=y).fit(X).labels_)
    linkage = AgglomerativeClustering(3)
    of_linkage = MinimumEntropyClustering(3, init=linkage).fit(X)
    expected = MinimumEntropyClustering(3, init=AgglomerativeClustering(3).fit_predict(X)).fit(X)
    assert_array_equal(of_linkage.labels_, expected.labels_)
    assert not hasattr(linkage, "labels_")  # a clone was fitted


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_prediction_is_the_largest_posterior(posterior):
    X, y = make_blobs(80, centers=3, random_state=12)
    clustering = MinimumEntropyClustering(3, posterior=posterior, n_neighbors=5, init=y).fit(X)
    Z = X[:20] + 0.1
    distances = cdist(Z, X)
    if posterior == "parzen":
        inside = distances <= clustering.radius_
        shares = [[np.sum(inside[i] & (clustering.labels_ == c)) for c in range(3)] for i in range(20)]
    else:
        shares = [-np.sort(distances[:, clustering.labels_ == c], axis=1)[:, 4] for c in range(3)]
        shares = np.transpose(shares)
    assert_array_equal(clustering.predict(Z), np.argmax(shares, axis=1))


def test_far_from_all_windows_the_nearest_row_decides():
    X, y = make_blobs(60, centers=[[0, 0], [9, 0]], random_state=13)
    clustering = MinimumEntropyClustering(2, init=y).fit(X)
    assert_array_equal(clustering.predict([[-500.0, 0.0], [500.0, 0.0]]), [0, 1])


def test_rows_at_the_radius_are_within_wherever_the_data_lie():
    """Some pairs of iris are as far apart as the radius; rounding took some of these for further."""
    X, y = load_iris(return_X_y=True)
    here = MinimumEntropyClustering(3, init=y).fit(X)
    for move in (0.3, 100.1):
        there = MinimumEntropyClustering(3, init=y).fit(X + move)
        assert_array_equal(there.labels_, here.labels_)
        assert_allclose(there.history_, here.history_, rtol=1e-12)


def test_a_refit_with_neighbours_has_no_radius():
    X = np.arange(8.0)[:, np.newaxis] + [[0], [0], [0], [0], [9], [9], [9], [9]]
    clustering = MinimumEntropyClustering(2, n_neighbors=2, random_state=0).fit(X)
    assert clustering.radius_ > 0
    assert not hasattr(clustering.set_params(posterior="knn").fit(X), "radius_")


def test_sweeps_that_run_out_are_told():
    X, _ = make_blobs(100, centers=4, cluster_std=3.0, random_state=14)
    with pytest.warns(ConvergenceWarning, match="last of 1 sweeps"):
        MinimumEntropyClustering(4, init="random", max_iter=1, random_state=0).fit(X)
