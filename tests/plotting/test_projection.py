"""Rows in the plane of a projection."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn.plotting import ProjectionDisplay


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def plane(wine):
    return make_pipeline(StandardScaler(), PCA(2)).fit(wine[0])


@pytest.fixture(scope="module")
def display(wine, plane):
    return ProjectionDisplay.from_estimator(plane, *wine)


# --------------------------------------------------------------------------------------------------- drawn


def test_rows_stand_where_the_transformer_puts_them(wine, plane, display):
    X, y = wine
    collections = display.plot().ax_.collections
    for c in range(3):
        assert_allclose(collections[c].get_offsets(), plane.transform(X)[y == c])


def test_rows_and_contours_are_within_the_picture_and_fill_it(display):
    ax = display.plot().ax_
    points = np.vstack([display.coordinates, *(line for c in range(3) for line in display.contours(c))])
    for side, (low, high) in enumerate((ax.get_xlim(), ax.get_ylim())):
        span = np.ptp(points[:, side])
        assert low < points[:, side].min() < low + 0.1 * span
        assert high - 0.1 * span < points[:, side].max() < high


def test_given_axes_get_no_legend_but_labels_for_one(display):
    given = plt.figure().subplots()
    display.plot(given)
    assert (given.get_legend(), given.figure.legends) == (None, [])
    assert given.get_legend_handles_labels()[1][:3] == ["class 0", "class 1", "class 2"]


def test_another_scale_of_the_input_moves_contours_with_the_rows(display):
    """A law of the estimate: what it shows does not depend on the units of the components."""
    scaled = ProjectionDisplay(display.coordinates * [10, 0.1], display.codes, display_labels="abc")
    for c in range(3):
        ours, theirs = (np.vstack(one.contours(c)) for one in (scaled, display))
        assert_allclose(ours.min(axis=0), theirs.min(axis=0) * [10, 0.1], rtol=0.05, atol=0.05)
        assert_allclose(ours.max(axis=0), theirs.max(axis=0) * [10, 0.1], rtol=0.05, atol=0.05)


def test_a_class_on_a_line_has_rows_and_no_contours_and_that_is_said():
    coordinates = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), [[0, 0], [1, 1], [2, 2]]])
    drawn = ProjectionDisplay(coordinates, np.repeat([0, 1], [20, 3]), display_labels=["a", "b"]).plot()
    assert [text.get_text() for text in drawn.ax_.texts] == ["b: rows on a line, no density"]
    assert drawn.contours(1) == []


def test_sparse_rows_are_drawn():
    X = csr_array(np.random.default_rng(0).poisson(0.5, size=(40, 30)).astype(float))
    plane = TruncatedSVD(2, random_state=0).fit(X)
    drawn = ProjectionDisplay.from_estimator(plane, X, np.arange(40) % 2)
    assert_allclose(drawn.coordinates, plane.transform(X))


def test_lists_are_drawn_as_arrays(wine):
    X, y = (table.to_numpy() for table in wine)
    plane = PCA(2).fit(X)
    drawn = ProjectionDisplay.from_estimator(plane, X.tolist(), y.tolist())
    assert_allclose(drawn.coordinates, plane.transform(X))
    assert (drawn.codes == y).all()


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (PCA(2), NotFittedError, "This PCA instance is not fitted yet"),
        ("classifier", TypeError, "GaussianNB has no transform; accepted: transformers with two"),
        ("three", ValueError, r"PCA maps to rows of shape \(3,\); accepted: transformers with two component"),
        ("one", ValueError, r"LinearDiscriminantAnalysis maps to rows of shape \(1,\); accepted"),
    ],
)
def test_what_has_no_plane_is_refused(wine, estimator, error, message):
    X, y = wine
    fitted = {
        "classifier": lambda: GaussianNB().fit(X, y),
        "three": lambda: PCA(3).fit(X),
        "one": lambda: LinearDiscriminantAnalysis(n_components=1).fit(X, y),
    }
    with pytest.raises(error, match=message):
        ProjectionDisplay.from_estimator(
            fitted[estimator]() if isinstance(estimator, str) else estimator, X, y
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": [0, 1]}, "codes are of 2 rows; accepted: as many as there are coordinates, 4"),
        ({"display_labels": ["one"]}, r"display_labels are \['one'\]; accepted: one for each of the 2 class"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(change, message):
    parts = {"coordinates": np.eye(4)[:, :2], "codes": [0, 1, 0, 1], **change}
    with pytest.raises(ValueError, match=message):
        ProjectionDisplay(**parts).plot()


def test_more_than_ten_classes_are_refused():
    with pytest.raises(ValueError, match="11 classes"):
        ProjectionDisplay(np.eye(11)[:, :2], np.arange(11), display_labels="abcdefghijk").plot()
