"""The hidden space: principal directions, and ellipses that are the covariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from entrolearn import EEKMClassifier, EEMClassifier
from entrolearn.plotting import HiddenSpaceDisplay


@pytest.fixture(scope="module", params=[EEMClassifier, EEKMClassifier])
def drawn(request, moons):
    X, y = moons
    pipeline = make_pipeline(MinMaxScaler(), request.param(30, random_state=0)).fit(X, y)
    return pipeline, X, y, HiddenSpaceDisplay.from_estimator(pipeline, X, y)


def test_coordinates_are_the_principal_components(drawn):
    pipeline, X, _, display = drawn
    H = pipeline[-1].hidden(pipeline[:-1].transform(X))
    left, lengths, directions = np.linalg.svd(H - H.mean(axis=0), full_matrices=False)
    largest = directions[[0, 1], np.abs(directions[:2]).argmax(axis=1)]
    assert_allclose(display.coordinates, left[:, :2] * lengths[:2] * np.sign(largest), atol=1e-8)
    assert_allclose(display.explained, lengths[:2] ** 2 / np.sum(lengths**2))


def test_axes_of_the_ellipses_are_the_eigenvalues_of_the_machines_covariance_in_the_plane(drawn):
    pipeline, X, y, display = drawn
    machine, seen = pipeline[-1], pipeline[:-1].transform(X)
    H = machine.hidden(seen)
    plane = np.linalg.lstsq(H - H.mean(axis=0), display.coordinates, rcond=None)[0]
    _, covariances = machine.hidden_gaussians(seen, y)
    for c in (0, 1):
        lengths = np.linalg.norm(display.ellipse(c, 2) - display.means[c], axis=1)
        values = np.linalg.eigvalsh(plane.T @ covariances[c] @ plane)
        assert_allclose([lengths.min(), lengths.max()], 2 * np.sqrt(values), rtol=1e-3)


def test_every_point_of_an_ellipse_is_as_far_from_the_mean_by_mahalanobis(drawn):
    *_, display = drawn
    for c in (0, 1):
        away = display.ellipse(c, 1.5) - display.means[c]
        squared = np.einsum("ij,ij->i", away @ np.linalg.inv(display.covariances[c]), away)
        assert_allclose(squared, 1.5**2)


def test_means_are_those_of_the_rows_that_are_drawn(drawn):
    _, _, y, display = drawn
    assert_allclose(display.means, [display.coordinates[y == c].mean(axis=0) for c in (0, 1)], atol=1e-8)


def test_the_picture_holds_the_ellipses(drawn):
    *_, display = drawn
    lines = [line.get_xydata() for line in display.plot().ax_.get_lines() if len(line.get_xdata()) > 1]
    assert_allclose(lines, [display.ellipse(c, sd) for c in (0, 1) for sd in (1, 2)])


def test_what_has_no_hidden_plane_is_refused(moons):
    X, y = moons
    with pytest.raises(
        TypeError, match="LogisticRegression has no Gaussians in a hidden space; accepted: EEM"
    ):
        HiddenSpaceDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match="EEMClassifier has 1 hidden unit; accepted: two or more"):
        HiddenSpaceDisplay.from_estimator(EEMClassifier(1, random_state=0).fit(X, y), X, y)
