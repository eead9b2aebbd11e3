"""Studies made and read from Python."""

import json

import numpy as np
import pandas as pd
import pytest

from entrolab import StudyError, load_results, run_study
from entrolab.study.sections import ConfigError

STUDY = {
    "datasets": {"points": {"file": "points.csv", "label": "far"}},
    "protocol": {"folds": 3},
    "models": {
        "tree": {"estimator": "sklearn.tree.DecisionTreeClassifier", "grid": {"max_depth": [1, 2]}},
        "linear": "sklearn.linear_model.LogisticRegression",
    },
}


@pytest.mark.workflow
def test_a_study_is_made_and_read_from_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["x", "y"])
    (tmp_path / "work").mkdir()
    points.assign(far=points["x"] + points["y"] > 0).to_csv("work/points.csv", index=False)
    results = run_study(STUDY, name="mine", folder="work", cores=2)
    assert results.name == "mine"
    scores = results.scores
    # Three metrics of two models by inner cross-validation and of the oracle, in three folds.
    of_cv = scores[scores["criterion"] == "cv"]
    assert len(of_cv) == 3 * 2 * 3
    assert set(of_cv["metric"]) == {"balanced_accuracy", "gmean", "accuracy"}
    assert scores["score"].between(0, 1).all()
    assert set(json.loads(of_cv.set_index("model").loc["tree", "params"].iloc[0])) == {"max_depth"}
    kept = results.predictions.query("model == 'linear'")
    assert sorted(kept["row"]) == list(range(40))
    accuracy = kept.assign(hit=kept["y"] == kept["prediction"]).groupby("fold")["hit"].mean()
    said = of_cv.query("model == 'linear' and metric == 'accuracy'").set_index("fold")["score"]
    pd.testing.assert_series_equal(accuracy, said, check_names=False, check_index_type=False)
    summary = results.summary.set_index(["model", "criterion", "metric"])
    assert summary.loc[("linear", "cv", "accuracy"), "mean"] == pytest.approx(said.mean())
    assert results.failures.empty
    # What is there is read again, by the file.
    again = load_results("work/mine.yaml", folder="work")
    pd.testing.assert_frame_equal(again.scores, scores)
    wrong = {**STUDY, "datasets": {"points": {"file": "points.csv", "label": "fra"}}}
    with pytest.raises(StudyError, match="did you mean 'far'"):
        run_study(wrong, name="mine", folder="work")


def test_what_cannot_be_made_or_read_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="run_study: study: unknown study 'dmeo', did you mean 'demo'"):
        run_study("dmeo")
    with pytest.raises(ValueError, match=r"mien.yaml: there is no such file"):
        load_results("mien.yaml")
    with pytest.raises(ConfigError, match="name: found None for a study that is a mapping"):
        run_study(STUDY)
    with pytest.raises(FileNotFoundError):
        load_results("demo")
