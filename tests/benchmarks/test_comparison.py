"""The machinery of a comparison, and the peers themselves."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier

from benchmarks.comparison import compare, summary, time_all
from benchmarks.data import load
from benchmarks.peers import PEERS, REFERENCE, Peer
from entrolab.fit.limits import Limits

LIMITS = Limits(seconds=30, gib=8)


@pytest.fixture(scope="module")
def gaussians(tmp_path_factory):
    """Two classes that the best rule tells apart with a GMEAN of 84 %."""
    return load("gaussians", folder=tmp_path_factory.mktemp("raw"))


class Fails(BaseEstimator):
    """Fits few rows, as a warm-up has them, and no more."""

    def fit(self, X, y):
        if len(y) > 200:
            raise ValueError("no more than 200 rows")
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class Sleeps(Fails):
    """Never ends."""

    def fit(self, X, y):
        time.sleep(600)


def _dummy(h, g, r):
    return DummyClassifier()


def test_a_failing_a_slow_and_an_absent_peer_are_rows_with_the_reason_and_are_asked_once(gaussians):
    peers = [
        Peer("fails", lambda h, g, r: Fails()),
        Peer("sleeps", lambda h, g, r: Sleeps()),
        Peer("absent", _dummy, package="no_such_package"),
        Peer(REFERENCE, _dummy),
    ]
    timings = pd.DataFrame(time_all("gaussians", gaussians, peers, 10, 2, Limits(seconds=3)))
    assert timings["peer"].tolist() == ["fails", "sleeps", "absent", REFERENCE, REFERENCE]
    assert timings["note"].tolist() == [
        "ValueError: no more than 200 rows",
        "time limit of 3 s",
        "no_such_package is not installed",
        "",
        "",
    ]
    assert timings["fit_seconds"].isna().tolist() == [True] * 3 + [False] * 2
    table = summary(timings)
    assert table.loc["fails", "note"] == "ValueError: no more than 200 rows"
    assert table.loc[REFERENCE, "× EEM"] == 1


def test_medians_spreads_and_ratios():
    def row(peer, fit, note=""):
        return {
            "peer": peer,
            "fit_seconds": fit,
            "predict_seconds": 1.0,
            "mib": 8.0,
            "gmean": 0.5,
            "note": note,
        }

    seconds = {REFERENCE: (2.0, 4.0, 3.0), "slow": (30.0, 36.0, 24.0)}
    timings = [row(peer, fit) for peer, fits in seconds.items() for fit in fits]
    timings += [row("late", 1.0), row("late", np.nan, "time limit of 1 s")]
    table = summary(pd.DataFrame(timings))
    assert table.loc[REFERENCE].to_dict() == {
        "fit s": 3.0,
        "±": 1.0,
        "× EEM": 1.0,
        "predict s": 1.0,
        "peak MiB": 8.0,
        "GMEAN %": 50.0,
        "note": "",
    }
    assert table.loc["slow", ["fit s", "±", "× EEM"]].tolist() == [30.0, 6.0, 10.0]
    assert table.loc["late"].drop("note").isna().all()
    assert table.loc["late", "note"] == "time limit of 1 s"


def test_a_peer_with_everyones_number_of_units_is_not_measured_twice(gaussians):
    peers = [Peer(REFERENCE, _dummy), Peer("its own size", _dummy, n_hidden=10)]
    for n_hidden, names in ((10, [REFERENCE]), (20, [REFERENCE, "its own size"])):
        timings = list(time_all("gaussians", gaussians, peers, n_hidden, 1, LIMITS))
        assert [row["peer"] for row in timings] == names


def test_every_peer_that_is_installed_learns(gaussians):
    section = compare("gaussians", gaussians, PEERS, 1, LIMITS)
    present = [peer.name for peer in PEERS if not peer.absence() and peer.n_hidden != 250]
    scores = section.table.loc[present, "GMEAN %"]
    assert scores.between(72, 88).all(), scores
    assert section.table["fit s"].notna().sum() == len(present)
