"""Random starts: each alone, summed up relative to the best of all, and rows for those that fail."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from measured_scripts import measured, two_classes
from sklearn.base import BaseEstimator

from entrolab.experiments.measuring import frame


class Climber(BaseEstimator):
    """An optimizer whose start is all that decides: a value by its seed, a failure now and then."""

    def __init__(self, n_init=5, random_state=None, scale=1.0, failing=0.0):
        self.n_init = n_init
        self.random_state = random_state
        self.scale = scale
        self.failing = failing

    def fit(self, X, y):
        draws = np.random.RandomState(self.random_state).uniform(size=2)
        if draws[1] < self.failing:
            raise np.linalg.LinAlgError("singular")
        self.objective_ = self.scale * draws[0] + 0 * X.mean()
        self.n_evaluations_ = 10 * self.n_init
        return self


@pytest.fixture
def climber(monkeypatch):
    """Its import path, as a study would name it."""
    monkeypatch.setitem(sys.modules, "climbers", SimpleNamespace(Climber=Climber))
    return [{"estimator": "climbers.Climber", "params": {}}]


def with_params(climber, **params):
    return [climber[0] | {"params": params}]


def started(*, counts=None, **models):
    return measured("starts", two_classes(), steps=models, starts=40, starts_of=counts or {})


def starts_of(rows, model):
    """A row per start of a model, with its metrics and error."""
    mine = frame(rows).query("model == @model and reading.str.startswith('start ')")
    found = mine.pivot(index="reading", columns="metric", values="value")
    found = found.loc[[f"start {k}" for k in range(1, len(found) + 1)]]
    return found.assign(error=mine.groupby("reading")["error"].max())


def test_each_start_is_alone_and_has_a_seed_of_its_own_that_models_share(climber):
    scaler = {"estimator": "sklearn.preprocessing.StandardScaler"}
    rows = started(one=climber, other=[scaler, *with_params(climber, scale=2.0)])
    one, other = (starts_of(rows, name) for name in ("one", "other"))
    assert len(one) == 40
    assert one["objective"].nunique() == 40
    np.testing.assert_allclose(other["objective"], 2 * one["objective"])
    assert set(one["evaluations"]) == {10}
    assert (one["seconds"] >= 0).all()
    assert starts_of(started(one=climber), "one")["objective"].equals(one["objective"])


def test_starts_are_summed_up_relative_to_the_best_of_all_models(climber):
    rows = started(one=climber, other=with_params(climber, scale=2.0), counts={"other": 16})
    found = {(row["model"], row["metric"]): row["value"] for row in rows if not row.get("reading")}
    values = {name: starts_of(rows, name)["objective"] for name in ("one", "other")}
    best = values["other"].max()
    assert found["one", "best"] == values["one"].max()
    assert found["other", "expected"] == pytest.approx(100)  # the best of all sixteen
    draws = np.random.default_rng(0).permuted(np.tile(values["one"], (20_000, 1)), axis=1)[:, :16].max(axis=1)
    error = 100 * draws.std() / best / math.sqrt(len(draws))
    assert found["one", "expected"] == pytest.approx(100 * draws.mean() / best, abs=5 * error)
    assert found["other", "near"] == pytest.approx(100 * np.mean(values["other"] >= 0.95 * best))
    assert found["one", "evaluations"] == 10


def test_starts_that_fail_are_rows_and_so_are_models_that_have_too_few_left(climber):
    rows = started(
        some=with_params(climber, failing=0.2),
        most=with_params(climber, failing=0.9),
        none=with_params(climber, slope=1),
    )
    some = starts_of(rows, "some")
    failed = some["error"] != ""
    assert 0 < failed.sum() < 24
    assert some.loc[failed, "objective"].isna().all()
    assert set(some.loc[failed, "error"]) == {"LinAlgError: singular"}
    near = next(row["value"] for row in rows if (row["model"], row.get("metric")) == ("some", "near"))
    best = next(row for row in rows if (row["model"], row.get("metric")) == ("some", "best"))
    assert best["error"] == f"LinAlgError: singular in {failed.sum()} of 40 fits"
    assert near == 100 * np.mean(some["objective"] >= 0.95 * some["objective"].max())  # a failed one is not
    statuses = {row["model"]: row["error"] for row in rows if row.get("status") and not row.get("reading")}
    assert "starts succeeded, fewer than 16: LinAlgError: singular" in statuses["most"]
    assert "unexpected keyword argument 'slope'" in statuses["none"]
    assert frame(rows)["value"].notna().sum() > 0
