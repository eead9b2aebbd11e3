"""Figures of the stored predictions by the fold, beside scikit-learn's curves."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn, text_of
from sklearn import metrics
from sklearn.calibration import calibration_curve

from entrolab.figure_types.making import reasons
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.tables.base import Head

N, FOLDS = 90, 3


@pytest.fixture
def draw(tmp_path):
    """Draw a figure of one run of three folds; the table that it shows and the predictions of each fold."""

    def draw(figure_type: str, **columns):
        rng = np.random.default_rng(0)
        kept = pd.DataFrame({"repeat": 0, "fold": np.arange(N) % FOLDS, "point": 0})
        kept["y"] = rng.integers(2, size=N)
        kept["decision"] = kept["y"] + rng.normal(size=N)
        kept["probability"] = 1 / (1 + np.exp(-kept["decision"]))
        kept["prediction"] = (kept["decision"] > 0.5).astype(int)
        kept = kept.assign(**columns)
        # Another candidate of the same folds, which the criterion did not select.
        other = kept.assign(point=1, decision=rng.normal(size=N))
        pd.concat([kept, other]).to_parquet(tmp_path / "predictions")
        chosen = pd.DataFrame({"repeat": 0, "fold": range(FOLDS), "point": 0, "success": True})
        chosen.assign(criterion="cv").to_parquet(tmp_path / "selection")
        (tmp_path / "record").write_text(json.dumps({"success": True, "status": "ok", "error": ""}))
        spec = {
            **{"caption": "", "type": figure_type, "criterion": "cv"},
            "datasets": ["moons"],
            "models": {"net": Head("One")},
            "runs": [("moons", "net")],
        }
        sources = [tmp_path / "selection", tmp_path / "predictions"]
        table = drawn(tmp_path, spec, sources, [tmp_path / "record"])
        return table, [rows for _, rows in kept.groupby("fold")], text_of(tmp_path)

    return draw


@pytest.mark.parametrize(
    ("figure_type", "curve", "score", "label", "unit"),
    [
        (
            "roc",
            lambda y, d, p: metrics.roc_curve(y, d)[:2],
            lambda y, d, p: metrics.roc_auc_score(y, d),
            "AUC",
            100,
        ),
        (
            "precision_recall",
            lambda y, d, p: metrics.precision_recall_curve(y, d)[1::-1],
            lambda y, d, p: metrics.average_precision_score(y, d),
            "average precision",
            100,
        ),
        (
            "calibration",
            lambda y, d, p: calibration_curve(y, p, n_bins=10, strategy="quantile")[::-1],
            None,
            "calibration error",
            1,
        ),
    ],
)
def test_curves_are_scikit_learns_for_each_fold(draw, figure_type, curve, score, label, unit):
    table, folds, text = draw(figure_type)
    assert table["series"].nunique() == FOLDS
    scores = []
    for (_, shown), rows in zip(table.groupby("series"), folds, strict=True):
        given = rows["y"], rows["decision"], rows["probability"]
        x, y = curve(*given)
        np.testing.assert_allclose(shown["x"], unit * x, rtol=1e-5, atol=1e-12)
        np.testing.assert_allclose(shown["y"], unit * y, rtol=1e-5, atol=1e-12)
        scores.append(100 * score(*given) if score else 0)
    assert f"{label} {np.mean(scores):.4g} (" in text if score else f"{label} 0." in text


def test_residuals_are_true_less_predicted_values(draw, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.normal(10, 3, N)
    table, folds, text = draw("residuals", y=y, prediction=y + rng.normal(size=N))
    rows = pd.concat(folds)
    np.testing.assert_allclose(table["x"], rows["prediction"], rtol=1e-5)
    np.testing.assert_allclose(table["y"], rows["y"] - rows["prediction"], rtol=1e-4, atol=1e-5)
    assert "RMSE 0.9" in text or "RMSE 1" in text
    assert "true minus predicted value" in (tmp_path / "figure.svg").read_text()


def test_a_learner_without_probabilities_has_the_reason_in_its_place(draw):
    table, _, _ = draw("calibration", probability=np.nan)
    assert reasons(table) == ["moons, net: the learner has no probabilities"]


@pytest.mark.parametrize(
    ("figure_type", "task", "line"),
    [
        ("roc", "multiclass", "datasets: 'moons' is a multiclass data set; accepted: binary data sets"),
        ("residuals", "binary", "datasets: 'moons' is a binary data set; accepted: regression data sets"),
    ],
)
def test_a_data_set_of_another_task_is_refused(figure_type, task, line):
    figure = SimpleNamespace(datasets="small")
    study = SimpleNamespace(datasets={"small": ["moons"]}, tasks={"moons": task})
    assert next(FIGURE_TYPES[figure_type].mistakes(figure, study, {})) == line
