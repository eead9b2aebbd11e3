"""The box of the training rows: bounds, laws of the machines that draw their units in it, streams."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse import random as sparse_random
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import MinMaxScaler

from entrolearn import EEMClassifier, ELMClassifier, ELMRegressor, WELMClassifier, streaming
from entrolearn.machines.boxes import (
    BOX_ROWS,
    FENCE,
    FEWEST_ROWS,
    Landmarks,
    RandomUnits,
    Survey,
    box_of_rows,
    extent_of,
)
from entrolearn.machines.layers import ACTIVATIONS
from entrolearn.path import Partition, path

RANDOM_UNITS = [
    EEMClassifier(30, random_state=0),
    EEMClassifier(30, activation="sigmoid", covariance="oas", random_state=0),
    WELMClassifier(15, activation="nsigmoid", random_state=0),
    WELMClassifier(15, solver="cholesky", alpha=1e-3, random_state=0),
    ELMClassifier(15, alpha=1e-3, random_state=0),
    ELMRegressor(15, activation="rbf", alpha=1e-3, random_state=0),
]
machines = pytest.mark.parametrize("machine", RANDOM_UNITS, ids=lambda each: type(each).__name__)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def outputs(machine, X) -> np.ndarray:
    return machine.decision_function(X) if is_classifier(machine) else machine.predict(X)


def assert_same(machine, other, X, rtol=1e-6, other_X=None):
    expected = outputs(machine, X)
    found = outputs(other, X if other_X is None else other_X)
    assert_allclose(found, expected, rtol=0, atol=rtol * np.ptp(expected))


# --- bounds --------------------------------------------------------------------------------------------


def naive_bounds(x: np.ndarray) -> tuple[float, float]:
    """Of one feature, as the docstring says it."""
    median, near = np.median(x), np.ones(len(x), dtype=bool)
    for side in (x > median, x < median):
        if side.any():
            near &= ~side | (np.abs(x - median) <= FENCE * np.median(np.abs(x[side] - median)))
    return x[near].min(), x[near].max()


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_bounds_are_the_outermost_values_within_the_fences(container):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=200),
            rng.lognormal(sigma=3, size=200),
            -rng.lognormal(sigma=3, size=200) * (rng.random(200) < 0.1),  # mostly zeros
            rng.integers(-1, 2, size=200) * rng.lognormal(sigma=2, size=200),
            rng.integers(0, 2, size=200),
            np.repeat([5.0, 6.0], [199, 1]),
        ]
    )
    for rows in (X, X[:7], X[:1], X[:151]):
        rows = container(rows)
        found = box_of_rows(extent_of(rows), rows, np.float64)
        dense = rows.toarray() if container is csr_array else rows
        assert_allclose(found.T, [naive_bounds(x) for x in dense.T])
    assert np.ptp(naive_bounds(X[:, 1])) < np.ptp(X[:, 1]) / 10  # the fences matter there


def test_bounds_are_least_and_largest_values_where_none_is_far_out():
    X = np.random.default_rng(0).uniform(-3, 9, size=(5000, 3))
    found = EEMClassifier(5).fit(X, X[:, 0] > 0).bounds_
    assert_array_equal(found, [X.min(axis=0), X.max(axis=0)])


def test_surveys_of_chunks_merge():
    """The extent is NumPy's, and so is the scale 1 / (n_features * X.var())."""
    X, units = np.random.default_rng(0).normal(size=(30, 4)), RandomUnits("", 5, "data", None)
    both = Survey.of_chunk(X[:9], units).merge(Survey.of_chunk(csr_array(X[9:]), units))
    assert_array_equal(both.extent, [X.min(axis=0), X.max(axis=0)])
    units = Landmarks(3, "rbf", "scale", None)
    parts = [Survey.of_chunk(part, units) for part in (X[:9], csr_array(X[9:20]), X[20:])]
    scale = parts[0].merge(parts[1]).merge(parts[2]).with_sample(X[:3]).scale
    assert scale == pytest.approx(1 / (4 * X.var()), rel=1e-14)


# --- laws ----------------------------------------------------------------------------------------------


@machines
def test_the_box_is_scaling_before(machine, wine):
    """A naive twin: the rows moved to [0, 1] (or [-1, 1]) by scikit-learn, the features then as they are."""
    X, y = wine[0], wine[1]
    machine = clone(machine).fit(X, y)
    to = (-1, 1) if "W" not in type(machine).__name__ and "ELM" in type(machine).__name__ else (0, 1)
    scaler = MinMaxScaler(to).fit(machine.bounds_)
    twin = clone(machine).set_params(bounds=None).fit(scaler.transform(X), y)
    assert_same(machine, twin, X, other_X=scaler.transform(X))
    assert_same(machine, clone(machine).set_params(bounds=machine.bounds_).fit(X, y), X)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_folded_units_are_those_of_scaled_rows(activation):
    rng = np.random.default_rng(0)
    X = 50 + 7 * rng.random((40, 4)) * [1, 10, 100, 0]
    X[X < 52] = 0
    y = rng.integers(0, 2, 40)
    settings = {"activation": activation, "random_state": 0}
    machine = EEMClassifier(20, **settings).fit(X, y)
    low, high = machine.bounds_
    scaled = (X - low) / np.where(high > low, high - low, 1)
    layer = EEMClassifier(20, bounds=None, **settings)._draw_layer(scaled)
    layer.weights[:, high == low] = 0
    for rows in (X, csr_array(X)):
        assert_allclose(machine.hidden(rows), layer(scaled), rtol=1e-9, atol=1e-12)


@machines
def test_units_and_zero_points_of_the_features_do_not_matter(machine, wine):
    X, y = wine
    moved = X * 10.0 ** np.arange(-6, 7) - 3 * X.mean(axis=0)
    assert_same(clone(machine).fit(X, y), clone(machine).fit(moved, y), X, other_X=moved)


@machines
def test_features_that_do_not_vary_and_values_far_out_do_no_harm(machine, wine):
    X, y = wine
    constant = np.full(len(y), 1e9)
    rounded = constant + 1e-7 * np.arange(len(y)) / len(y)
    padded, moved = np.column_stack([X, constant, rounded]), np.column_stack([X, -constant, constant])
    fitted = clone(machine).fit(padded, y)
    assert_same(fitted, fitted, padded, rtol=1e-12, other_X=moved)
    if is_classifier(machine):
        wrong = X.copy()
        wrong[-1] = 1e9
        assert clone(machine).fit(wrong, y).score(X, y) > clone(machine).fit(X, y).score(X, y) - 0.06


def test_digits_as_they_come():
    """Without a box 16 % and 11 %: rows are up to 16² from the units."""
    X, y = load_digits(return_X_y=True)
    for machine, least in ((EEMClassifier(random_state=0), 0.93), (WELMClassifier(random_state=0), 0.9)):
        assert machine.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > least
        assert machine.set_params(bounds=None).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) < 0.3


@machines
def test_sparse_rows_are_the_same_rows(machine, wine):
    X, y = np.where(wine[0] > np.median(wine[0], axis=0), wine[0], 0), wine[1]
    dense, sparse = clone(machine).fit(X, y), clone(machine).fit(csr_array(X), y)
    assert_array_equal(sparse.bounds_, dense.bounds_)
    assert_same(dense, sparse, X, other_X=csr_array(X))


@pytest.mark.parametrize("activation", ["rbf", "sigmoid"])
def test_sparse_rows_stay_sparse(activation):
    """500 rows of 20,000 features: 80 MB if they were dense."""
    X = sparse_random(500, 20_000, 1e-4, format="csr", random_state=0)
    tracemalloc.start()
    EEMClassifier(4, activation=activation, random_state=0).fit(X, np.arange(500) % 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


@machines
@pytest.mark.parametrize("given", [False, True])
def test_a_path_gives_the_machines_that_fit_gives(machine, wine, given):
    """A given box is shared by all training sets; by default each has that of its own rows."""
    X, y = wine
    if given:
        machine = clone(machine).set_params(bounds=[X.min(axis=0), X.max(axis=0)])
    partition = Partition.cross_validation(np.arange(len(y)) % 3, nested=True)
    grid = [{"n_hidden": 5}, {"n_hidden": 12}, {"n_hidden": 5, "bounds": (-5.0, 1000.0)}]
    draws, draw = [], type(machine)._draw_layer

    def counted(self, *rows, **how):
        draws.append(self.bounds)
        return draw(self, *rows, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(machine), "_draw_layer", counted)
        points = list(path(machine, X, y, partition, grid))
    assert len(draws) == (2 if given else 1 + len(partition.left_out))
    assert len(points) == len(partition.left_out) * len(grid)
    for point in points:
        rows = partition.training(point.left_out)
        fitted = clone(machine).set_params(**point.params).fit(X[rows], y[rows])
        if is_classifier(machine):
            assert np.mean(point.prediction == fitted.predict(X)) > 0.98
        else:
            assert_allclose(point.prediction, fitted.predict(X), atol=1e-5)


@pytest.mark.usefixtures("dispatch")
@machines
def test_other_libraries_arrays_give_the_same_machine(machine, wine, place):
    X, y = wine[0], wine[1]
    if not clone(machine).fit(X, y).__sklearn_tags__().array_api_support:
        pytest.skip("NumPy's arrays alone")
    here = outputs(clone(machine).fit(X, y), X)
    there = clone(machine).fit(place(X), place(y.astype(float) if not is_classifier(machine) else y))
    assert_allclose(place.numbers(outputs(there, place(X))), here, rtol=0, atol=1e-4 * np.ptp(here))


# --- streams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_rows_in_chunks_have_the_box_of_all_rows(container):
    """More rows than those that tell what is far out, of which each chunk has others."""
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.lognormal(sigma=2, size=(3 * BOX_ROWS, 3)), axis=0) * (
        rng.random((3 * BOX_ROWS, 3)) < 0.7
    )
    X, y = container(X), rng.integers(0, 2, 3 * BOX_ROWS)
    machine = EEMClassifier(10, random_state=0).fit(X, y)
    streamed = streaming.fit(clone(machine), streaming.rows(X, y, chunk_rows=100))
    assert_array_equal(streamed.bounds_, machine.bounds_)
    assert_same(machine, streamed, X)


@machines
def test_a_stream_takes_the_box_of_its_first_chunk(machine, wine):
    if not hasattr(machine, "partial_fit"):
        pytest.skip("no partial_fit")
    X, y = wine
    classes = {"classes": [0, 1, 2]} if is_classifier(machine) else {}
    order = np.random.default_rng(0).permutation(len(y))
    stream = clone(machine).partial_fit(X[order[:60]], y[order[:60]], **classes)
    box = clone(machine).fit(X[order[:60]], y[order[:60]]).bounds_
    stream.partial_fit(X[order[60:]], y[order[60:]])
    assert_array_equal(stream.bounds_, box)
    assert_same(clone(machine).set_params(bounds=box).fit(X, y), stream, X)


def test_a_stream_of_weighted_rows_in_single_precision_has_the_box_of_a_fit():
    """Weights of .1, .2 and .3 that divide a column in halves no longer do so in single precision."""
    rng = np.random.default_rng(0)
    X = np.round(rng.lognormal(sigma=2, size=(8, 6)), 2).astype(np.float32)
    y, weights = np.arange(8) % 2, rng.integers(1, 4, 8) / 10
    machine = EEMClassifier(5, min_class_size=0, random_state=0).fit(X, y, weights)
    stream = streaming.fit(clone(machine), streaming.rows(X, y, chunk_rows=3), sample_weight=weights)
    assert_array_equal(stream.bounds_, machine.bounds_)


@pytest.mark.parametrize("bounds", [(0, 1), None, "data"])
def test_streams_of_single_rows(bounds, wine):
    """With a given box they end where a fit does; without one the features are taken as they are."""
    X, y = MinMaxScaler().fit_transform(wine[0]), wine[1]
    if bounds == (0, 1):
        X = 1000 * X
        bounds = (0, 1000)
    machine = EEMClassifier(15, bounds=bounds, random_state=0)
    stream = clone(machine)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(len(y)):
            stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
    messages = {str(each.message) for each in caught}
    if bounds == "data":
        (message,) = messages
        assert "EEMClassifier: the first chunk has 1 rows, fewer than the 5" in message
        assert "Give bounds" in message
        machine.set_params(bounds=None)
    else:
        assert not messages
    assert_same(machine.fit(X, y), stream, X, rtol=1e-4)


def test_a_first_chunk_of_a_few_rows_is_enough(wine):
    X, y = wine
    stream = ELMClassifier(20, alpha=1e-3, random_state=0)
    with pytest.warns(UserWarning, match=f"has {FEWEST_ROWS - 1} rows, .* bounds='data'"):
        stream.partial_fit(X[: FEWEST_ROWS - 1], y[: FEWEST_ROWS - 1], classes=[0, 1, 2])
    assert stream.bounds_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = clone(stream).partial_fit(X[:FEWEST_ROWS], y[:FEWEST_ROWS], classes=[0, 1, 2])
    assert stream.bounds_.shape == (2, 13)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ("minmax", "'bounds' parameter of EEMClassifier must be .*'data'"),
        ((0, 1, 2), r"bounds has shape \(3,\); EEMClassifier accepts .* a pair \(low, high\) or"),
        (np.zeros((2, 4)), r"bounds has shape \(2, 4\); .* shape \(2, 13\)"),
        ((1, 0), r"bounds=\(1, 0\) holds no finite bounds"),
        ((0, np.inf), "holds no finite bounds"),
        (("low", "high"), "holds no numbers"),
    ],
)
def test_bounds_that_are_none_are_refused(bounds, message, wine):
    with pytest.raises(ValueError, match=message):
        EEMClassifier(5, bounds=bounds).fit(*wine)
