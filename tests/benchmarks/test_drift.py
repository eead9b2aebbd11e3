"""Streams that drift, on few rows: concepts change where they should, and rows are tested before learnt."""

import numpy as np
import pytest

from benchmarks import drift
from entrolab.io.limits import Limits


@pytest.mark.parametrize(
    ("name", "concepts"),
    [("none", "000000"), ("sudden", "000111"), ("recurring", "010101"), ("gradual", "0??1")],
)
def test_each_part_of_a_stream_follows_its_concept(name, concepts):
    X, y = drift.generated(name, 6000)
    for concept, part in zip(concepts, np.array_split(np.arange(6000), len(concepts)), strict=True):
        inside = np.square(X[part, :3] - (0.7 if concept == "1" else 0.3)).sum(axis=1) < 0.2
        share = ((inside != (concept == "1")) == y[part]).mean()
        assert (0.55 < share < 0.93) if concept == "?" else share == pytest.approx(0.95, abs=0.02)


def test_rows_are_predicted_before_they_are_learnt():
    learnt = []
    learner = drift.Learner(lambda X, y: learnt.extend(X), lambda X: np.isin(X, learnt).astype(int))
    right = drift.prequential(learner, np.arange(1010), np.zeros(1010))
    assert right.all()
    assert len(right) == 1010 - drift.FIRST
    assert learnt == list(range(1010))


def test_section_has_the_streams_that_can_be_had(monkeypatch, tmp_path):
    monkeypatch.setattr(drift, "GENERATED", ("sudden",))
    monkeypatch.setattr(drift, "REAL", ())
    monkeypatch.setattr(drift, "generated", lambda name, make=drift.generated: make(name, 2000))
    names = ("EEM, fading", "EEM, window", "no change")
    kept = {name: each for name, each in drift.learners().items() if name in names}
    monkeypatch.setattr(drift, "learners", lambda: kept)
    table = drift.drift(Limits(seconds=60)).table
    assert table.index.tolist() == list(names)
    assert table["sudden"].drop("no change").min() > 70 > table.loc["no change", "sudden"]
