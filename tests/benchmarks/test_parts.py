"""Every race on tiny data: that all ways do the work, and to the same result where that is the claim."""

import numpy as np
import pytest

from benchmarks import (
    clusterings,
    information,
    kernel_densities,
    peers,
    predictions,
    reduced,
    scaling,
    searches,
    shortcuts,
)
from benchmarks.data import Split, Trial, nonlinear
from benchmarks.information import DIGITS, Training
from benchmarks.peers import PEERS, why_absent
from benchmarks.reduced import Size
from entrolearn import LSSVC

MADE = Trial("in-no-catalog", 300, 150, n_features=3, n_classes=3)
VALUES = Trial("in-no-catalog-either", 300, 150, n_features=3)


def results(race) -> dict[str, float]:
    """Of each way that is installed, in its first round."""
    ways = {name: way for name, way in race.ways.items() if not name.startswith("Picard")}
    found = {name: way(0) for name, way in ways.items()}
    assert all(spent.seconds > 0 for spent in found.values())
    return {name: spent.value for name, spent in found.items()}


@pytest.mark.parametrize(
    ("races", "error"),
    [
        (lambda: kernel_densities.races(sizes=(1500,)), 1e-5),
        (lambda: information.entropies(sizes=(150,), bandwidths=(0.5,)), 1e-4),
        (lambda: information.softmax([DIGITS, MADE], iterations=60), 2e-3),
        (lambda: clusterings.moves(sizes=(60,), n_features=2, n_clusters=3), 1e-10),
        (lambda: shortcuts.density(sizes=(3000,), most_exact=3000), 1e-5),
        (lambda: shortcuts.covariance(shapes=((300, 20),)), 1e-10),
    ],
    ids=["densities", "entropies", "softmax", "moves", "divergence", "covariance"],
)
def test_all_ways_come_to_the_same_result(races, error):
    for race in races():
        ours, *others = results(race).values()
        assert others == pytest.approx([ours] * len(others), rel=error), race.what
        assert len(others) > 0


def test_reduced_machines_learn_values_and_classes():
    values, classes = reduced.races([(VALUES, Size(40, sigma=2.0)), (MADE, Size(40, sigma=2.0))])
    assert max(results(values).values()) < 0.15  # the best constant has 0.2
    assert min(results(classes).values()) > 60  # the best constant has 33


def test_densities_that_make_too_many_numbers_are_left_out(monkeypatch):
    monkeypatch.setattr(reduced, "MOST_NUMBERS", 2000)
    races = reduced.sparse(dimensions=(100, 1000), densities=(0.5, 0.02), n_samples=60, n_units=10)
    assert [race.what for race in races] == [f"60 × {d}, density 0.02, 10 units" for d in ("100", "1,000")]


def test_many_rows_are_fitted_by_all_whose_memory_grows_with_the_rows_alone():
    (race,) = reduced.large(n_train=300, n_test=100, n_features=4, sizes=(20,))
    found = results(race)
    assert "KELM" not in found
    assert max(found.values()) < 0.2


def test_every_peer_that_is_installed_learns_and_none_is_measured_twice(monkeypatch):
    X, y = nonlinear(400, 4, 2)
    monkeypatch.setattr(peers, "load", lambda name, mirror: Split(X[:200], y[:200], X[200:], y[200:]))
    present = [peer for peer in PEERS if "hpelm" not in peer.name or not why_absent("hpelm")]
    monkeypatch.setattr(peers, "PEERS", present)
    (race,) = peers.races(["made"])
    assert [*race.ways] == [peer.name for peer in present if peer.n_hidden != peers.UNITS[0]]
    found = results(race)
    assert min(value for name, value in found.items() if name != "LinearSVC") > 60, found


def test_perceptrons_of_both_kinds_learn():
    (race,) = information.perceptrons([(DIGITS, Training(30, 20, 15))])
    assert min(results(race).values()) > 80


def test_sources_are_recovered():
    for race in information.components([(("laplace",), 3, 3000), (("laplace", "uniform"), 4, 3000)]):
        assert max(results(race).values()) < 0.05


def test_known_clusters_are_found():
    (race,) = clusterings.known([(900, 2, 3, 6.0)])
    found = results(race)
    assert found["CrossEntropyClustering"] > 0.8
    assert max(found.values()) > 0.8


def test_predictions_have_every_machine_beside_its_arithmetic():
    races = list(predictions.races(n_hidden=20, dense=(120, 30), sparse=(130, 60), density=0.1))
    assert len(races) == 2 * 3 * len(predictions.MACHINES)
    assert [*races[0].ways] == ["EEM, rbf", "arithmetic", *predictions.PEERS]
    for race in (races[0], races[-1]):
        results(race)


def test_rate_counts_operations(monkeypatch):
    monkeypatch.setattr(scaling, "PRODUCT_ORDER", 100)
    one, other = (scaling.products(n, 5, 20, np.float64, 0).seconds for n in (10**4, 10**6))
    assert 30 < other / one < 300
    assert len(list(scaling.rate())) == 2


def test_memory_of_a_fit_is_beside_that_of_the_hidden_layer():
    race, _ = scaling.memory(sizes=(100_000,), n_features=2, n_hidden=100)
    ours, layer = race.ways.values()
    assert layer(0).mib == pytest.approx(76.3, abs=0.1)
    assert ours(0).mib < 60


def test_searches_select_the_same_model_beside_one_fit():
    few = searches.Search(LSSVC(), {"alpha": (100.0, 1.0)}, MADE)
    (race,) = searches.races({"LS-SVM": few}, folds=2)
    ours, theirs, _ = results(race).values()
    assert [*race.ways] == ["PathSearchCV", "GridSearchCV", "one fit"]
    assert ours == theirs > 60
