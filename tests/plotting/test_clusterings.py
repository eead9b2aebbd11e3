"""Clusterings side by side: looks that follow the classes, noise, and what there is none of."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from entrolearn.plotting import ClusteringsDisplay, clustering_axes
from entrolearn.plotting.clusterings import SIDE, TYPE
from entrolearn.plotting.style import cluster_styles

CLASSES = np.repeat([0, 1, 2], 4)


def display_of(labels):
    points = np.column_stack([np.arange(12.0), np.arange(12.0) ** 2])
    return ClusteringsDisplay({"set": points}, {"set": CLASSES}, {"set": {"A": labels}})


@pytest.fixture(scope="module")
def sets():
    moons, blobs = make_moons(120, noise=0.05, random_state=0), make_blobs(90, random_state=1)
    return {"moons": moons[0], "blobs": blobs[0]}, {"moons": moons[1], "blobs": blobs[1]}


def drawn(ax):
    """The points of a panel by their marker's shape and face."""
    return [np.asarray(marks.get_offsets()) for marks in ax.collections]


def test_sets_are_rows_and_clusterers_columns_with_their_agreement(sets):
    clusterers = {
        "k-means": KMeans(2, random_state=0),
        "HDBSCAN": HDBSCAN(copy=True),
        "three": KMeans(3, n_init=3),
    }
    found = {
        name: {who: clone(one).fit_predict(rows) for who, one in clusterers.items()}
        for name, rows in sets[0].items()
    }
    display = ClusteringsDisplay(*sets, found).plot()
    assert display.axes_.shape == (2, 3)
    assert [ax.get_title() for ax in display.axes_[0]] == list(clusterers)
    assert [row[0].get_ylabel() for row in display.axes_] == list(sets[0])
    X, y = (each["moons"] for each in sets)
    index = adjusted_rand_score(y, KMeans(2, random_state=0).fit_predict(X))
    assert [text.get_text() for text in display.axes_[0, 0].texts] == [f"ARI {index:.2f}"]
    assert sum(map(len, drawn(display.axes_[1, 2]))) == 90


def test_each_row_and_each_column_makes_the_figure_larger_by_a_panel():
    side = SIDE * mpl.rcParams["font.size"] / TYPE
    size = {n: clustering_axes(*n)[0, 0].figure.get_size_inches() for n in ((1, 1), (1, 3), (3, 1))}
    assert_allclose(size[1, 3] - size[1, 1], [2 * side, 0])
    assert_allclose(size[3, 1] - size[1, 1], [0, 2 * side])


def test_a_clusters_number_does_not_decide_its_look():
    """Any numbering of the same partition looks the same."""
    one = display_of(CLASSES)
    for numbers in ([2, 0, 1], [7, 3, 5]):
        other = display_of(np.array(numbers)[CLASSES])
        assert_array_equal(other._style_numbers("set", "A"), one._style_numbers("set", "A"))
    assert_array_equal(one._style_numbers("set", "A"), CLASSES)


def test_clusters_beyond_the_classes_take_the_next_looks_the_largest_first():
    labels = np.array([9, 9, 9, 1, 2, 2, 2, 2, 3, 3, 4, 4])
    looks = display_of(labels)._style_numbers("set", "A")
    assert_array_equal(looks[[0, 4, 8]], [0, 1, 2])
    assert {int(looks[3]), int(looks[10])} == {3, 4}
    assert looks[10] == 3  # of two rows, the other of one


def test_fewer_clusters_than_classes_stand_for_those_they_fit_best():
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
    looks = display_of(labels)._style_numbers("set", "A")
    assert set(looks[labels == 1]) == {1}
    assert set(looks[labels == 0]) <= {0, 2}


def test_noise_is_a_group_of_its_own_in_the_index_and_no_cluster():
    labels = np.where(np.arange(12) % 4 == 3, -1, CLASSES)
    display = display_of(labels).plot()
    assert_array_equal(display._style_numbers("set", "A") == -1, labels == -1)
    assert display.agreement("set", "A") == pytest.approx(adjusted_rand_score(CLASSES, labels))
    assert len(drawn(display.axes_[0, 0])[0]) == 3
    assert len(display.figure_.legends[0].get_texts()) == 1  # the noise
    assert not display_of(CLASSES).plot().figure_.legends
    everything = display_of(np.full(12, -1))
    assert set(everything._style_numbers("set", "A")) == {-1}
    everything.plot()


def test_twelve_clusters_are_drawn_and_ten_of_them_look_different():
    display = display_of(np.arange(12)).plot()
    assert sum(map(len, drawn(display.axes_[0, 0]))) == 12
    looks = {(style["color"], style["marker"]) for style in cluster_styles(12)}
    assert len(looks) == 11
    assert len({style["marker"] for style in cluster_styles(10)}) == 10  # so that a print in grey tells them


def test_a_text_stands_where_there_are_no_clusters():
    display = display_of("failed: singular").plot(clustering_axes(1, 1))
    assert [text.get_text() for text in display.axes_[0, 0].texts] == ["failed: singular"]


def test_other_axes_are_refused():
    with pytest.raises(
        ValueError, match=r"ax has the shape \(1, 2\); accepted: \(1, 1\), sets by clusterers"
    ):
        display_of(CLASSES).plot(clustering_axes(1, 2))
