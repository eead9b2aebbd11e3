"""Rows as images: each pixel in its place, zero in the middle of a map that a print in grey keeps."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from entrolearn.plotting import ImageGridDisplay
from entrolearn.plotting.style import SIGNED


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def tiles(display):
    """What is drawn where each caption stands above: the mosaic cut where it is not blank."""
    mosaic = np.asarray(display.ax_.images[0].get_array().filled(np.nan))
    _, height, width = np.shape(display.images)
    found = []
    for text in display.ax_.texts:
        x, y = text.get_position()
        top, left = round(y + 0.5), round(x - width / 2 + 0.5)
        found.append(mosaic[top : top + height, left : left + width])
    return found


def test_each_row_is_an_image_under_its_caption(digits):
    X, y = digits
    display = ImageGridDisplay.from_rows(X[:13], (8, 8), captions=y[:13], n_columns=5).plot()
    assert [text.get_text() for text in display.ax_.texts] == [str(label) for label in y[:13]]
    for drawn, row in zip(tiles(display), X[:13], strict=True):
        assert_array_equal(drawn, row.reshape(8, 8))
    mosaic = display.ax_.images[0].get_array()
    assert np.sum(~mosaic.mask) == 13 * 64  # and what is between is blank
    lines = {text.get_position()[1] for text in display.ax_.texts}
    assert len(lines) == 3


def test_images_that_are_not_square_lie_as_they_should():
    display = ImageGridDisplay.from_rows([[1.0, 2, 3, 4, 5, 6]], (2, 3), captions=["a"]).plot()
    assert_array_equal(tiles(display)[0], [[1, 2, 3], [4, 5, 6]])


def test_without_captions_there_is_no_room_for_them(digits):
    display = ImageGridDisplay.from_rows(digits[0][:4], (8, 8)).plot()
    assert display.ax_.images[0].get_array().shape == (8, 4 * 8 + 3)


def test_weights_are_an_image_for_each_class_and_zero_is_in_the_middle(digits):
    model = make_pipeline(MinMaxScaler(), RidgeClassifier()).fit(*digits)
    display = ImageGridDisplay.from_estimator(model, (8, 8), n_columns=5).plot()
    weights = model[-1].coef_
    for drawn, row in zip(tiles(display), weights, strict=True):
        assert_allclose(drawn, row.reshape(8, 8))
    assert [text.get_text() for text in display.ax_.texts] == list("0123456789")
    low, high = display.ax_.images[0].get_clim()
    assert low == -high == -np.abs(weights).max()
    assert len(display.figure_.axes) == 2  # the scale


def test_two_classes_have_one_image_of_the_second(digits):
    X, y = digits
    model = RidgeClassifier().fit(X, y == 8)
    named = ImageGridDisplay.from_estimator(model, (8, 8), display_labels=["rest", "eight"])
    assert named.captions == ["eight"]
    assert ImageGridDisplay.from_estimator(model, (8, 8)).captions == ["True"]


def test_the_map_of_signs_grows_lighter_all_the_way():
    """Rec. 709 luma, what a grey print keeps."""
    luma = matplotlib.colormaps[SIGNED](np.linspace(0, 1, 64))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luma) > 0).all()


def test_what_is_no_image_is_refused(digits):
    X, y = digits
    with pytest.raises(
        ValueError, match=r"shape \(3, 64\); accepted: one row or more, of 63 values for 7 x 9"
    ):
        ImageGridDisplay.from_rows(X[:3], (7, 9))
    with pytest.raises(ValueError, match=r"shape \(0, 64\); accepted: one row or more"):
        ImageGridDisplay.from_rows(X[:0], (8, 8))
    with pytest.raises(TypeError, match="KNeighborsClassifier has no coef_; accepted: linear classifiers"):
        ImageGridDisplay.from_estimator(KNeighborsClassifier().fit(X, y), (8, 8))
    with pytest.raises(NotFittedError):
        ImageGridDisplay.from_estimator(RidgeClassifier(), (8, 8))
