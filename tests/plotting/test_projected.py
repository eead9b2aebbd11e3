"""The projected classes: their densities are the machine's, and cross at its thresholds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn import EEKMClassifier, EEMClassifier, EntropySearch
from entrolearn.plotting import ProjectedDensityDisplay


def drawn(ax, c):
    """The Gaussian of class `c` as it stands in the picture: places and heights."""
    return ax.get_lines()[c].get_data()


@pytest.mark.parametrize("priors", ["uniform", [0.2, 0.8]])
@pytest.mark.parametrize("learner", [EEMClassifier(20, random_state=0), EEKMClassifier(20, random_state=0)])
def test_thresholds_are_where_the_drawn_densities_cross(moons, learner, priors):
    X, y = moons
    machine = learner.set_params(priors=priors).fit(X, y)
    display = ProjectedDensityDisplay.from_estimator(machine, X, y).plot()
    assert len(display.thresholds) > 0
    assert_allclose(display.density(0, display.thresholds), display.density(1, display.thresholds), rtol=1e-6)
    lines = [line.get_xdata()[0] for line in display.ax_.get_lines()[2:] if len(line.get_xdata())]
    low, high = display.ax_.get_xlim()
    assert_allclose(lines, [t for t in display.thresholds if low < t < high])
    (t, negative), (_, positive) = drawn(display.ax_, 0), drawn(display.ax_, 1)
    crossings = t[:-1][np.diff(np.sign(positive - negative)) != 0]
    assert_allclose(crossings, lines, atol=t[1] - t[0])


def test_drawn_densities_are_the_machines_gaussians(moons, machine):
    display = ProjectedDensityDisplay.from_estimator(machine, *moons).plot()
    for c in (0, 1):
        t, height = drawn(display.ax_, c)
        sd = np.sqrt(machine.projected_variances_[c])
        assert_allclose(height, norm.pdf(t, machine.projected_means_[c], sd), rtol=1e-9)


def test_rows_are_the_machines_projections(moons, machine):
    X, y = moons
    display = ProjectedDensityDisplay.from_estimator(machine, X, y)
    for c in (0, 1):
        assert_allclose(display.projected[c], machine.project(X[y == c]))


def test_behind_the_gaussians_stands_a_density_of_the_rows(moons, machine):
    display = ProjectedDensityDisplay.from_estimator(machine, *moons).plot()
    low, high = display.span()
    for c in (0, 1):
        inside = np.mean((display.projected[c] >= low) & (display.projected[c] <= high))
        heights, edges, _ = display.ax_.patches[2 * c].get_data()
        assert np.sum(heights * np.diff(edges)) == pytest.approx(inside)


def test_a_threshold_out_of_the_picture_is_told_at_its_edge():
    rows = [np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0])]
    display = ProjectedDensityDisplay(
        rows, np.array([0.0, 2.0]), np.array([0.66, 0.66]), np.array([-80.0, 1.0])
    ).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["← threshold -80"]
    assert [line.get_xdata()[0] for line in display.ax_.get_lines()[2:] if len(line.get_xdata())] == [1.0]


def test_another_classifier_is_drawn_by_what_the_criterion_sees(moons):
    """Mean and variance of the decision values: what EntropySearch's "gaussian" compares."""
    X, y = moons
    machine = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = ProjectedDensityDisplay.from_estimator(machine, X, y)
    values = machine.decision_function(X)
    assert_allclose(display.means, [values[y == c].mean() for c in (0, 1)])
    assert_allclose(display.variances, [values[y == c].var() for c in (0, 1)])
    assert display.thresholds.tolist() == [0.0]


def test_a_search_is_drawn_by_what_it_found(moons):
    X, y = moons
    search = EntropySearch(EEMClassifier(random_state=0), {"n_hidden": [5, 10]}).fit(X, y)
    display = ProjectedDensityDisplay.from_estimator(search, X, y, display_labels=["upper", "lower"])
    assert_allclose(display.means, search.best_estimator_.projected_means_)
    assert display.plot().ax_.get_legend_handles_labels()[1][:2] == ["class upper", "class lower"]


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (EEMClassifier(), NotFittedError, "This EEMClassifier instance is not fitted yet"),
        ("three", ValueError, "EEMClassifier was fitted to 3 classes; accepted: a classifier of two classes"),
        (
            LinearRegression(),
            ValueError,
            "LinearRegression is not a classifier; accepted: a classifier of two",
        ),
        (KNeighborsClassifier(), TypeError, "KNeighborsClassifier has neither project nor decision_function"),
    ],
)
def test_what_gives_no_projection_of_two_classes_is_refused(moons, estimator, error, message):
    X, y = moons
    if estimator == "three":
        y = y + (X[:, 0] > 1)
        estimator = EEMClassifier(5, random_state=0)
    if error is not NotFittedError:
        estimator.fit(X, y)
    with pytest.raises(error, match=message):
        ProjectedDensityDisplay.from_estimator(estimator, X, y)


def test_other_labels_are_refused(moons, machine):
    X, y = moons
    with pytest.raises(
        ValueError, match=r"y holds the labels \[5, 6\]; EEMClassifier was fitted to \[0, 1\]"
    ):
        ProjectedDensityDisplay.from_estimator(machine, X, y + 5)
    with pytest.raises(ValueError, match=r"display_labels are \['one'\]; accepted: two"):
        ProjectedDensityDisplay.from_estimator(machine, X, y, display_labels=["one"])
