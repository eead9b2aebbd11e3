"""Studies made and read from Python."""

import json
import math
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from made_studies import made_study
from sklearn.datasets import load_wine
from sklearn.metrics import balanced_accuracy_score

from entrolab import StudyError, load_results, run_study
from entrolab.io.files import HOME
from entrolab.results.reader import Results
from entrolab.schema.sections import ConfigError
from entrolab.studies import _results, _written
from entrolab.study.config import read_yaml, study_files
from entrolearn.plotting import description_of, save_figure

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def example():
    """The variables of the example of a study from Python, after it has run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "show", lambda: None)
        yield runpy.run_path(str(ROOT / "examples/study_from_python.py"))


@pytest.mark.workflow
def test_a_study_is_made_and_read_from_python(example):
    results, study, folder = (example[name] for name in ("results", "study", "folder"))
    assert results.name == "wines"
    scores = results.scores
    of_cv = scores[scores["criterion"] == "cv"]
    assert of_cv.groupby("model").size().to_dict() == dict.fromkeys(
        [*study["models"], "baseline"], 5
    )  # folds
    assert set(of_cv["metric"]) == {"balanced_accuracy"}
    assert set(json.loads(of_cv.set_index("model").loc["svm", "params"].iloc[0])) == {"C"}
    kept = results.predictions.query("model == 'forest'")
    assert sorted(kept["row"]) == list(range(178))
    by_fold = {
        fold: balanced_accuracy_score(rows["y"], rows["prediction"]) for fold, rows in kept.groupby("fold")
    }
    said = of_cv.query("model == 'forest'").set_index("fold")["score"]
    assert said.to_dict() == pytest.approx(by_fold)
    summary = results.summary.set_index(["model", "criterion", "metric"])
    assert summary.loc[("forest", "cv", "balanced_accuracy"), "mean"] == pytest.approx(said.mean())
    assert results.failures.empty
    means = of_cv.groupby("model")["score"].mean().drop("baseline")
    assert results.best["model"].tolist() == [means.idxmax()]
    assert results.best["score"].tolist() == pytest.approx([100 * means.max()], rel=1e-6)
    assert results.report.is_file()
    assert {"code", "dataset", "model", "found"} == {*results.findings}
    # The results are read again, by the study's file.
    again = load_results(folder / "wines.yaml", folder=folder)
    pd.testing.assert_frame_equal(again.scores, scores)
    wrong = {**study, "datasets": {"wine": {**study["datasets"]["wine"], "label": "targt"}}}
    with pytest.raises(StudyError, match="did you mean 'target'"):
        run_study(wrong, name="wines", folder=folder)


@pytest.mark.workflow
def test_the_picture_of_the_example_has_its_scores(example, tmp_path):
    means = ", ".join(f"{model} {mean:.2f}" for model, mean in example["folds"].mean().items())
    save_figure(example["figure"], tmp_path / "figure.svg", description=f"Mean balanced accuracy: {means}")
    picture = ROOT / "docs" / "images" / "study-from-python.svg"
    assert description_of(picture) == description_of(tmp_path / "figure.svg"), f"copy {tmp_path} to {picture}"


def test_results_without_a_score_or_with_a_lost_fold(tmp_path):
    study = made_study(
        {
            "datasets": {"real": ["a"]},
            "models": {"b": "mine.B"},
            "metrics": ["gmean"],
            "tables": {"seconds": {"type": "times"}},
        }
    )
    results = Results(study, tmp_path)
    nothing = _results(results, [], [], [{"dataset": "a", "model": "b"}])
    assert nothing.failures["model"].tolist() == ["b"]
    assert nothing.predictions.empty
    scores = pd.DataFrame({"gmean": [0.9, math.nan], "repeat": 0, "fold": [0, 1], "params": ""})
    scores = scores.assign(dataset="a", model="b", criterion="cv")
    found = _results(results, [scores], [], [])
    (summary,) = found.summary.to_dict("records")
    assert math.isnan(summary["mean"])
    assert summary["n"] == 1


def test_what_cannot_be_made_or_read_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="unknown study 'dmeo', did you mean 'demo'"):
        run_study("dmeo")
    with pytest.raises(ValueError, match=r"mien.yaml: there is no such file"):
        load_results("mien.yaml")
    with pytest.raises(ConfigError, match="name: found None for a study that is a mapping"):
        run_study({"datasets": {}})
    with pytest.raises(ConfigError, match="label, models: "):
        run_study(pd.DataFrame({"x": [1.0], "y": ["a"]}), label="y")
    with pytest.raises(ConfigError, match="label, models: "):
        run_study("demo", label="y")
    with pytest.raises(ConfigError, match="datasets: found None"):
        run_study({"models": {}}, name="mine")
    grid = {"C": np.logspace(0, 1, 2)}
    with pytest.raises(ConfigError, match=r"mine: found array\(\[ 1\., 10\.\]\); accepted: texts"):
        run_study({"datasets": {}, "models": {"svm": {"grid": grid}}}, name="mine")


def test_a_study_of_the_project_may_be_named_by_any_path_and_texts_stay_texts(tmp_path):
    papers = HOME / "config" / "papers"
    assert [file.name for file in study_files([papers, papers / ".." / "papers"]).values()] == [
        file.name for file in sorted(papers.glob("*.yaml"))
    ]
    datasets = {"one": {"file": "x.csv", "label": "1e5", "drop": ["no", "017", "12:30"]}}
    assert read_yaml(_written({"datasets": datasets}, "mine", tmp_path))["datasets"] == datasets


@pytest.mark.workflow
def test_a_data_frame_is_a_study_of_its_own(tmp_path):
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})
    found = run_study(
        frame, label="cultivar", models={"tree": "sklearn.tree.DecisionTreeClassifier"}, folder=tmp_path
    )
    assert found.best[["dataset", "model"]].to_numpy().tolist() == [["study", "tree"]]
    assert found.report == tmp_path / "results/report/study.html"


def test_a_study_that_was_not_made_has_no_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_results("demo")
