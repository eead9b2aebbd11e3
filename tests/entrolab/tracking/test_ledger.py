"""Every run of a study is one live run of the store, with what its files and its tables say."""

import json
import math
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import skops.io
import yaml
from made_studies import made_study
from mlflow.utils.validation import _validate_metric_name
from mlflow_addresses import restore_addresses
from run_files import files_of
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from tracked_runs import (
    CONTENT,
    GMEANS,
    POINTS,
    SCORES,
    STUDY,
    change_study,
    client,
    facts_of,
    mlflow,
    model_of,
    run_of,
    runs_of,
    track,
    track_run,
    track_study,
    write_run,
)

from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import frame
from entrolab.io.parquet import write_frame
from entrolab.jobs.checkout import code_tags
from entrolab.study.config import load_study
from entrolab.tables.base import GENERATED
from entrolab.tables.making import Agreement
from entrolab.tracking import ledger
from entrolab.tracking.contents import (
    content_of_run,
    contents_of_candidates,
    contents_of_measurement,
    finite_and_not,
    mean_candidates,
)
from entrolab.tracking.stores import StoreUnavailable
from entrolab.tracking.verdicts import comparisons_of, note_of_study

SVM, LR = "small/seed0/moons/svm_rbf", "small/seed0/moons/logistic"
BETTER = (0.9, 0.9, 0.9, 0.9)


def series(run, name) -> dict[int, float]:
    """The values of a metric by step."""
    return {point.step: point.value for point in client().get_metric_history(run.info.run_id, name)}


def content(model="svm_rbf", study=STUDY, **options):
    """The content of a run, which no store has yet."""
    return content_of_run(study, "moons", model, **options)


@pytest.fixture(scope="module")
def first_tracked() -> dict:
    """Runs that were tracked for the first test that asked for them, and their folder."""
    return {}


@pytest.fixture
def tracked(first_tracked, request, monkeypatch) -> SimpleNamespace:
    """A tracked study with two runs, shared by the tests that only read it."""
    if not first_tracked:
        runs = request.getfixturevalue("runs")
        first_tracked |= {"folder": Path.cwd(), "runs": runs, "ids": track()}
    monkeypatch.chdir(first_tracked["folder"])
    restore_addresses(monkeypatch)
    return SimpleNamespace(**first_tracked)


# ------------------------------------------------------------------------------------------------ runs


def test_a_study_is_a_run_whose_children_are_its_runs(tracked):
    runs = runs_of()
    assert set(runs) == {"small", SVM, LR}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    parents = {key: run.data.tags.get("mlflow.parentRunId") for key, run in runs.items()}
    assert parents == {"small": None, SVM: tracked.ids[""], LR: tracked.ids[""]}
    assert runs[SVM].info.run_name == "SVM rbf · moons"
    assert runs[SVM].info.end_time - runs[SVM].info.start_time == 1500  # the record's seconds


@pytest.mark.usefixtures("tracked")
def test_parameters_are_those_of_the_learner_the_grid_the_protocol_and_each_choice():
    run = run_of("svm_rbf")
    expected = {
        "dataset": "moons",
        "model": "svm_rbf",
        "estimator": "sklearn.svm.SVC",
        "seed": "7",
        "class_weight": "balanced",
        "C": "1.0",
        "grid.points": "3",
        "grid.C": "0.1, 1, 10",
        "protocol.folds": "2",
        "scaling.range": "[0, 1]",
        "data.n_samples": "40",
        "cv.C": "1.0",  # three folds of four
        "dcs_kde.C": "1.0",
    }
    assert expected.items() <= run.data.params.items()
    assert run.data.tags["notes"] == "stopped at the iteration cap in 2 of 12 fits"


@pytest.mark.usefixtures("tracked")
def test_scores_and_criteria_are_metrics_of_each_selection_by_fold_and_mean():
    """The points 1, 1, 1, 2 are selected; a criterion of a point grows by 1/100 with the fold."""
    run = run_of("svm_rbf")
    metrics = run.data.metrics
    assert metrics["gmean"] == metrics["dcs_kde/gmean"] == pytest.approx(80)
    assert metrics["gmean_std"] == pytest.approx(10 * math.sqrt(2 / 3))
    assert metrics["accuracy"] == pytest.approx(75)
    assert series(run, "cv_folds/gmean") == pytest.approx({0: 80, 1: 90, 2: 70, 3: 80})
    of_folds = {"dcs_gaussian": [3.0, 3.01, 3.02, 2.03], "dcs_kde": [0.25, 0.26, 0.27, 1.03]}
    of_folds["cv_gmean"] = [80, 81, 82, 73]  # percent, as the metric
    for name, values in of_folds.items():
        assert series(run, f"cv_folds/{name}") == pytest.approx(dict(enumerate(values)))
        assert metrics[name] == metrics[f"dcs_kde/{name}"] == pytest.approx(np.mean(values))
    assert not any(name.startswith("cv/") for name in metrics)
    facts = {"n_stored_numbers": 123, "fit_seconds": 0.15, "train_seconds": 1.5, "n_candidates": 12}
    assert {name: metrics[name] for name in facts} == pytest.approx(facts)


@pytest.mark.usefixtures("tracked")
def test_curves_of_the_refit_have_its_steps():
    assert series(run_of("svm_rbf"), "loss") == {0: 3, 1: 2, 2: 1.5}


def test_a_file_without_a_digest_has_that_of_its_rows(untracked):
    made = content()
    del made.data.provenance["files"][0]["sha256"]
    assert ledger._dataset_input(made).dataset.digest == made.data.digest()[:36]


@pytest.mark.usefixtures("tracked")
def test_a_data_set_has_its_source_the_digest_of_its_file_and_its_columns():
    [one] = run_of("svm_rbf").inputs.dataset_inputs
    data = one.dataset
    assert (data.name, data.digest, data.source_type) == ("moons", ("cd" * 32)[:36], "http")
    assert json.loads(data.source) == {"url": "https://example.org/moons.csv"}
    columns = json.loads(data.schema)["mlflow_colspec"]
    assert [(column["name"], column["type"]) for column in columns] == [("a", "double"), ("b", "double")]
    assert json.loads(data.profile) == {"num_rows": 40, "num_columns": 2}


def test_files_of_a_run_are_its_record_scores_and_candidates(tracked, tmp_path):
    folder = Path(client().download_artifacts(tracked.ids["svm_rbf"], "", str(tmp_path)))
    assert json.loads((folder / "record.json").read_text())["key"] == "small/moons/svm_rbf"
    assert list(pd.read_csv(folder / "scores.csv")["gmean"][:4]) == list(GMEANS)
    assert len(pd.read_parquet(folder / "candidates.parquet")) == 12


def test_the_steps_of_fold_scores_follow_the_folds_of_the_data_set(untracked):
    splits = {"moons": {"splits": {"folds": 3, "repeats": 2}}}
    made = content(study=STUDY.model_copy(update={"own_data": splits}))
    steps = {step: value for name, step, value in made.metrics if name == "cv_folds/gmean"}
    assert steps == pytest.approx({0: 80, 1: 90, 3: 70, 4: 80})


def test_a_run_says_what_its_learner_was_chosen_from(untracked):
    svm = untracked[0]
    one_of = {
        "svm": {"estimator": "sklearn.svm.SVC", "params": {"tol": 0.1}, "grid": {"C": [1.0, 2.0]}},
        "lda": {"estimator": "mine.LDA", "params": {}, "grid": {}},
    }
    record = json.loads(svm.record.read_text())
    record |= {"estimator": "sklearn.svm.SVC or mine.LDA", "params": {}, "grid": {"step1__k": [2, 3]}}
    svm.record.write_text(json.dumps(record | {"one_of": one_of}))
    params = json.dumps({"one_of": "svm", "C": 1.0, "step1__k": 2})
    pd.read_parquet(svm.selection).assign(point=1, params=params).to_parquet(svm.selection)
    expected = {
        "estimator": "sklearn.svm.SVC or mine.LDA",
        "one_of.lda": "mine.LDA",
        "grid.points": 6,
        "grid.step1__k": "2, 3",
        "grid.svm.C": "1, 2",
        "svm.tol": 0.1,
        "cv.one_of": "svm",
    }
    params = content().params
    assert {name: params[name] for name in expected} == expected


def test_a_run_without_criteria_has_the_diagnostic_selection_alone(untracked):
    """Its whole grid is shown by figures."""
    svm = untracked[0]
    rows = pd.read_parquet(svm.selection)
    rows[rows["criterion"] == "cv"].assign(criterion="oracle").to_parquet(svm.selection)
    models = STUDY.models | {"svm_rbf": STUDY.models["svm_rbf"].model_copy(update={"criteria": []})}
    made = content(study=STUDY.model_copy(update={"models": models}))
    metrics = {name: value for name, _, value in made.metrics}
    assert metrics["oracle/gmean"] == pytest.approx(80)
    assert "gmean" not in metrics
    assert "criterion" not in made.tags
    assert made.models == []


def test_a_run_that_left_nothing_but_a_record_has_failed_until_it_is_replaced(place, data):
    run = files_of(STUDY, "moons", "svm_rbf")
    write_run(run, success=False, status="no data", error="no moon")
    for path in (run.selection, run.predictions, run.candidates, facts_of(run)):
        path.unlink()
    track_run("svm_rbf")
    failed = run_of("svm_rbf")
    assert (failed.info.status, failed.data.tags["failure.reason"]) == ("FAILED", "no data: no moon")
    assert set(failed.data.metrics) == {"n_candidates", "n_failed", "train_seconds"}
    write_run(run, estimator=SVC().fit(*data))
    track_run("svm_rbf")
    assert run_of("svm_rbf").info.status == "FINISHED"


def test_a_metric_that_is_not_finite_is_a_tag():
    metrics = [("gmean", 0, 0.8), ("cv/gmean", 1, math.nan), ("cv/gmean", 3, -math.inf), ("cv/gmean", 2, 0.7)]
    finite = [("gmean", 0, 0.8), ("cv/gmean", 2, 0.7)]
    assert finite_and_not(metrics) == (finite, {"nonfinite.cv/gmean": "nan at step 1, -inf at step 3"})


def test_a_run_of_a_further_seed_is_tagged_and_has_no_model(place, data):
    run = files_of(STUDY.model_copy(update={"seed": 3}), "moons", "svm_rbf")
    write_run(run, estimator=SVC().fit(*data))
    track_run("svm_rbf", seed=3)
    logged = runs_of()["small/seed3/moons/svm_rbf"]
    assert logged.data.tags["seed"] == "3"
    assert logged.data.metrics["gmean"] == pytest.approx(80)
    assert not logged.outputs.model_outputs
    assert not client().search_registered_models()


# ------------------------------------------------------------------------------------------ candidates


def test_the_grid_is_a_run_per_point_with_the_means_over_the_folds(runs):
    run_id = track_run("svm_rbf")
    found = client().search_runs(
        [client().get_experiment_by_name("small · candidates").experiment_id],
        order_by=["metrics.dcs_gaussian DESC"],
    )
    assert [run.data.params["C"] for run in found] == ["1.0", "10.0", "0.1"]
    assert [run.data.tags["chosen_by"] for run in found] == ["cv 3, dcs_kde 3", "cv 1, dcs_kde 1", ""]
    assert {run.data.tags["run"] for run in found} == {run_id}
    point = POINTS.iloc[1]
    expected = {name: point[name] + 0.015 for name in ("dcs_gaussian", "dcs_kde")}
    expected |= {name: 100 * (point[name] + 0.015) for name in ("cv_gmean", "test_gmean")}
    assert found[0].data.metrics == pytest.approx(expected | {"failed": 0})


def test_a_grid_that_is_written_again_replaces_the_earlier_one_also_as_a_table(runs):
    track_run("svm_rbf")
    last = track_run("svm_rbf")
    experiment = client().get_experiment_by_name("small · candidates").experiment_id
    assert [run.data.tags["run"] for run in client().search_runs([experiment])] == 3 * [last]
    run_id = track_run("svm_rbf", STUDY.model_copy(update={"log_candidates": "table"}))
    assert not client().search_runs([experiment])
    place = client().get_run(run_id).info.artifact_uri
    table = json.loads(mlflow.artifacts.load_text(f"{place}/candidates.json"))
    frame = pd.DataFrame(table["data"], columns=table["columns"])
    assert list(frame["C"]) == [0.1, 1, 10]
    assert list(frame["dcs_kde"]) == pytest.approx([0.515, 0.265, 1.015])


def test_a_point_without_a_result_has_failed(untracked):
    rows = pd.read_parquet(untracked[0].candidates)
    names = [name for name in POINTS if name != "C"]
    rows.loc[rows["point"] == 2, "success"] = False
    rows.loc[rows["point"] == 2, names] = np.nan
    rows.to_parquet(untracked[0].candidates)
    made = content()
    points = contents_of_candidates(made, mean_candidates(made))
    assert [(one.params["C"], bool(one.failure)) for one in points] == [(0.1, False), (1, False), (10, True)]


@pytest.mark.parametrize(("n_values", "grids"), [(249, "runs"), (250, "table")])
def test_grids_are_runs_up_to_500_points(tmp_path, n_values, grids):
    """Two data sets; the baseline is a point on each."""
    study = {"datasets": {"two": ["moons", "circles"]}}
    study["models"] = {"svm": {"estimator": "sklearn.svm.SVC", "grid": {"C": list(range(1, n_values + 1))}}}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(study))
    entry = {"task": "binary", "expect": {"rows": 100, "negative": 50, "positive": 50, "smallest": 50}}
    catalog = {"moons": entry, "circles": entry}
    assert load_study(tmp_path / "small.yaml", catalog).log_candidates == grids


# ---------------------------------------------------------------------------------------- measurements


MEASURED = "results/small/seed0/measured/table9/generated.parquet"


@pytest.mark.parametrize("places", [{}, {"die_{means}": "die"}])
def test_measured_numbers_are_a_run_per_method(place, places):
    """Places of a table are in front of names, starts are steps, and other readings are left out."""
    rows = [
        {"model": "melm", "metric": "best", "value": 2.0, "std": 0.5},
        {"model": "melm", "metric": "objective", "reading": "start 3", "value": 1.5},
        {"model": "melm", "metric": "best", "reading": "die_4.5", "value": 7.0},
        {"model": "pca", "status": "failed", "error": "singular"},
    ]
    write_frame(MEASURED, frame(rows))
    entry = SimpleNamespace(places=places, methods={})
    study = STUDY.model_copy(update={"tables": {"table9": entry}})
    at = {"study": "small", "table": "table9", "dataset": GENERATED, "seed": 0, "script": "starts"}
    contents = contents_of_measurement(study, Measurement(**at, params={"starts": 3}))
    with ledger.open_ledger(None, STUDY) as opened:
        for content in contents:
            opened.write(content)
    runs = runs_of()
    good, failed = (runs[f"small/seed0/table9/generated/{model}"] for model in ("melm", "pca"))
    expected = {"best": 2, "best_std": 0.5, "objective_starts": 1.5}
    assert good.data.metrics == (expected | {"die_4.5/best": 7} if places else expected)
    assert series(good, "objective_starts") == {3: 1.5}
    assert good.data.params == {
        "dataset": GENERATED,
        "model": "melm",
        "script": "starts",
        "seed": "0",
        "starts": "3",
    }
    assert good.data.tags["table"] == "table9"
    assert (failed.info.status, failed.data.tags["failure.reason"]) == ("FAILED", "singular")


ODD = {
    "it's": {},
    "brackets": {"metric": "error (5 %), mean"},
    "path": {"metric": "../up"},
    "folder": {"metric": ".."},
    "sign": {"reading": "d=1 (a)"},
    "long": {"metric": 300 * "x"},
    "infinite": {"value": math.inf},
}


@pytest.mark.fault("Store", "names and values of a script that MLflow refuses", "written under accepted ones")
def test_whatever_a_script_names_its_numbers_they_are_written_once(place):
    """With a parameter that is too long, and more of them than a request may have."""
    rows = [{"model": model, "metric": "best", "value": 1.0, **row} for model, row in ODD.items()]
    rows.append({"model": "brackets", "metric": "error [5 %], mean", "value": 2.0})
    write_frame(MEASURED, frame(rows))
    entry = SimpleNamespace(places={"d={d}": "d"}, methods={})
    study = STUDY.model_copy(update={"tables": {"table9": entry}})
    at = {"study": "small", "table": "table9", "dataset": GENERATED, "seed": 0, "script": "starts"}
    measured = Measurement(**at, params={"rows": list(range(5000)), **{f"p{k}": k for k in range(250)}})
    with ledger.open_ledger(None, STUDY) as opened:
        for _ in range(2):
            for one in contents_of_measurement(study, measured):
                opened.write(one)
        kept = [run.info.run_id for run in opened.runs()]
        search = opened.client.search_runs
        opened.client.search_runs = lambda *given, **asked: search(*given, **asked | {"max_results": 2})
        assert [run.info.run_id for run in opened.runs()] == kept
    assert len(kept) == 1 + len(ODD)
    found = [run for key, run in runs_of().items() if key != "small"]
    assert {run.info.status for run in found} == {"FINISHED"}
    n_metrics = {run.data.tags["model"]: len(run.data.metrics) for run in found}
    assert n_metrics == dict.fromkeys(ODD, 1) | {"brackets": 2, "infinite": 0}


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/", "//a", "a(b", 300 * "x", 299 * "/x", "\ud800"])
def test_a_name_that_changes_is_accepted_by_mlflow_and_the_name_of_nothing_else(name):
    accepted = ledger._accepted(name)
    _validate_metric_name(accepted)
    assert len(accepted) <= 250
    assert accepted != ledger._accepted(name + "[")
    assert ledger._accepted(accepted) == accepted


# ------------------------------------------------------------------------------------------------ models


@pytest.mark.parametrize("model", ["svm_rbf", "logistic"])
def test_a_logged_model_predicts_as_the_refit(tracked, data, model):
    [output] = run_of(model).outputs.model_outputs
    mlflow.set_tracking_uri(client().tracking_uri)
    loaded = mlflow.sklearn.load_model(f"models:/{output.model_id}")
    original = skops.io.load(model_of(tracked.runs[0 if model == "svm_rbf" else 1]))
    np.testing.assert_array_equal(loaded.decision_function(data[0]), original.decision_function(data[0]))


@pytest.mark.usefixtures("tracked")
def test_models_have_their_scores_on_the_data_set():
    experiment = client().get_experiment_by_name("small").experiment_id
    found = client().search_logged_models(
        [experiment], order_by=[{"field_name": "metrics.gmean", "ascending": False, "dataset_name": "moons"}]
    )
    assert len(found) == 2
    for model in found:
        scores = {metric.key: metric.value for metric in model.metrics}
        assert scores == pytest.approx(
            {"gmean": 80, "accuracy": 75, "dcs_gaussian": 2.765, "dcs_kde": 0.4525}
        )
        assert {metric.dataset_name for metric in model.metrics} == {"moons"}


@pytest.mark.usefixtures("tracked")
def test_a_model_is_a_version_with_its_score_commit_and_an_alias_for_each_criterion():
    found = client().search_model_versions("name = 'small.moons'")
    assert {version.tags["model"] for version in found} == {"svm_rbf", "logistic"}
    svm = next(version for version in found if version.tags["model"] == "svm_rbf")
    assert svm.description.startswith("GMEAN 80.00 %: SVM rbf · moons, C = 1.0, selected by cv, dcs_kde")
    assert svm.tags["criteria"] == "cv, dcs_kde"
    assert svm.tags["commit"] == code_tags()["commit"]
    aliases = client().get_registered_model("small.moons").aliases
    assert {aliases[f"svm_rbf-{criterion}"] for criterion in ("cv", "dcs_kde")} == {int(svm.version)}
    assert {"best", "cv", "dcs_kde", "logistic-cv", "logistic-dcs_kde"} < set(aliases)


def test_models_that_criteria_selected_differently_are_two_versions(runs, data):
    """The latest value of a metric is that of the first criterion, whatever the others selected."""
    svm = runs[0]
    facts = json.loads(facts_of(svm, "dcs_kde").read_text())
    facts_of(svm, "dcs_kde").write_text(json.dumps(facts | {"params": {"C": 10.0}}))
    skops.io.dump(SVC(C=10.0).fit(*data), model_of(svm, "dcs_kde"))
    rows = pd.read_parquet(svm.selection)
    rows.loc[rows["criterion"] == "dcs_kde", "gmean"] = 0.95
    rows.to_parquet(svm.selection)
    track()
    by_alias = client().get_registered_model("small.moons").aliases
    assert by_alias["svm_rbf-cv"] != by_alias["svm_rbf-dcs_kde"] == by_alias["dcs_kde"]
    assert run_of("svm_rbf").data.metrics["gmean"] == pytest.approx(80)
    scores = {
        model.params["C"]: {metric.key: metric.value for metric in model.metrics}["gmean"]
        for model in client().search_logged_models([run_of("svm_rbf").info.experiment_id])
        if model.source_run_id == run_of("svm_rbf").info.run_id
    }
    assert scores == pytest.approx({"1.0": 80, "10.0": 95})


def test_the_version_of_a_model_and_its_aliases_go_with_it(runs):
    track()
    write_run(runs[0], error="singular")
    track_run("svm_rbf")
    assert {alias.partition("-")[0] for alias in client().get_registered_model("small.moons").aliases} == {
        "logistic"
    }
    assert {one.tags["model"] for one in client().search_model_versions("name = 'small.moons'")} == {
        "logistic"
    }


def at(alias: str):
    return client().get_model_version_by_alias("small.moons", alias)


def test_the_alias_of_the_best_follows_the_scores_and_goes_when_there_is_none(runs, data):
    write_run(runs[0], estimator=SVC(C=1.0).fit(*data), gmeans=BETTER)
    track()
    assert at("best").run_id == run_of("svm_rbf").info.run_id
    assert run_of("svm_rbf").data.tags["best"] == "gmean"
    write_run(runs[0], estimator=SVC(C=1.0).fit(*data), gmeans=(0.1, 0.1, 0.1, 0.1))
    track_run("svm_rbf")
    track_study()
    assert at("best").tags["model"] == at("cv").tags["model"] == "logistic"
    assert "best" not in run_of("svm_rbf").data.tags
    assert run_of("logistic").data.tags["best"] == "gmean"


def test_a_score_of_another_criterion_does_not_stand_for_an_undefined_one(runs, data):
    """A fold of the first criterion has no score, all folds of the other have one."""
    write_run(runs[0], estimator=SVC(C=1.0).fit(*data), gmeans=BETTER)
    facts = json.loads(facts_of(runs[0], "dcs_kde").read_text())
    facts_of(runs[0], "dcs_kde").write_text(json.dumps(facts | {"params": {"C": 10.0}}))
    rows = pd.read_parquet(runs[0].selection)
    rows.loc[rows.index[rows["criterion"] == "cv"][0], "gmean"] = np.nan
    rows.to_parquet(runs[0].selection)
    track()
    assert "gmean" not in run_of("svm_rbf").data.metrics
    assert at("best").tags["model"] == "logistic"


def test_runs_of_others_in_the_experiment_are_left_alone(runs):
    track()
    experiment = run_of("svm_rbf").info.experiment_id
    other = client().create_run(experiment).info.run_id
    track_study()
    assert "mlflow.parentRunId" not in client().get_run(other).data.tags


def run_with(model="svm", metric="gmean", **metrics):
    """A run of the store whose first criterion is cv."""
    tags = {"model": model, "metric": metric, "criterion": "cv"}
    return SimpleNamespace(data=SimpleNamespace(tags=tags, metrics=metrics))


def test_the_best_run_has_the_best_score_of_a_criterion_in_every_fold():
    """A run with a fold without a score has no metric; the baseline is not ranked; the first of equals is."""
    runs = [run_with(gmean=80, **{"kde/gmean": 60}), run_with(**{"kde/gmean": 90}), run_with(gmean=80)]
    runs += [run_with("baseline", gmean=99)]
    assert ledger._best(runs, "best") == (runs[0], "cv")
    assert ledger._best(runs, "kde") == (runs[1], "kde")
    assert ledger._best(runs[3:], "best") == (None, "")
    errors = [run_with(metric="rmse", rmse=0.9), run_with(metric="rmse", rmse=0.5)]
    assert ledger._best(errors, "best") == (errors[1], "cv")


@pytest.mark.fault(
    "Trust", "a model that cannot be stored, beside others", "logged without it, with the reason"
)
def test_a_run_without_a_model_is_logged_with_the_reason(runs, capsys):
    write_run(runs[0], estimator=make_pipeline(FunctionTransformer(os.system), SVC()), gmeans=BETTER)
    track()
    best, other = run_of("svm_rbf"), run_of("logistic")
    assert best.info.status == "FINISHED"
    assert best.data.metrics["gmean"] == pytest.approx(90)
    assert best.data.tags["best"] == "gmean"
    assert "system" in best.data.tags["model.error"]
    assert not best.outputs.model_outputs
    assert len(other.outputs.model_outputs) == 1
    # The alias is not given to the second best.
    assert {"best", "cv"}.isdisjoint(client().get_registered_model("small.moons").aliases)
    [line] = capsys.readouterr().err.splitlines()
    assert "system" in line


# ---------------------------------------------------------------------------------------------- verdicts


@pytest.mark.usefixtures("tracked")
def test_a_run_has_the_published_value_and_the_verdict_of_each_criterion():
    svm, other = run_of("svm_rbf").data, run_of("logistic").data
    expected = {"published": 81.5, "difference": -1.5}
    expected |= {"dcs_kde/published": 60, "dcs_kde/difference": 20}
    assert {name: svm.metrics[name] for name in expected} == pytest.approx(expected)
    tags = {"verdict": "reproduced", "table": "table4", "metric": "gmean", "criterion": "cv"}
    tags |= {"verdict.dcs_kde": "higher", "table.dcs_kde": "table10"}
    assert tags.items() <= svm.tags.items()
    assert "verdict" not in other.tags
    assert not [name for name in other.metrics if "published" in name or "difference" in name]


def test_verdicts_of_a_criterion_are_those_of_the_whole_grid_first():
    tables = {
        "small_c": {**SCORES, "criterion": "cv", "among": {"C": {"max": 0.1}}},
        "again": {**SCORES, "criterion": "cv"},
        "table4": {**SCORES, "criterion": "cv"},
    }
    study = made_study(CONTENT | {"tables": tables, "criteria": ["cv"]}, "small")
    row = {"dataset": "moons", "model": "svm_rbf", "published": 81.5, "difference": -1.5, "verdict": "lower"}
    frames = {name: pd.DataFrame([row | {"difference": k}]) for k, name in enumerate(tables)}
    found = comparisons_of(study, frames, pd.DataFrame())
    expected = {"published": 81.5, "difference": 1}, {"verdict": "lower", "table": "again"}
    assert found == {("moons", "svm_rbf"): expected}


# ------------------------------------------------------------------------------------------------- study


def test_the_run_of_a_study_has_its_tables_figures_file_parameters_and_counts(tracked, tmp_path):
    run = client().get_run(tracked.ids[""])
    assert run.info.run_name == "small"
    expected = {"seed": "0", "criteria": "cv, dcs_kde", "protocol.folds": "2", "n_runs": "2"}
    assert expected.items() <= run.data.params.items()
    counts = {"reproduced": 1, "higher": 1, "ours only": 2, "table4/reproduced": 1, "table10/higher": 1}
    assert {name: run.data.metrics[name] for name in counts} == counts
    note = run.data.tags["mlflow.note.content"]
    assert "1 of 2 results reproduced" in note
    page = f"#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}/artifacts/tables/table4.html"
    assert f"[table4]({page})" in note
    folder = Path(client().download_artifacts(tracked.ids[""], "", str(tmp_path)))
    assert {path.name for path in (folder / "tables").iterdir()} == {"table4.csv", "table10.csv"}
    assert (folder / "config" / "small.yaml").exists()


def test_a_study_that_is_tracked_again_keeps_its_runs_and_writes_what_changed(runs):
    figure = Path("figure3.svg")
    figure.write_text("first")
    for model in ("svm_rbf", "logistic"):
        track_run(model)
    first = track_study(figures=[figure])
    before = {key: run.to_dictionary() for key, run in runs_of().items() if key != "small"}
    figure.write_text("second")
    assert track_study(figures=[figure]) == first
    assert {key: run.to_dictionary() for key, run in runs_of().items() if key != "small"} == before
    place = client().get_run(first).info.artifact_uri
    assert mlflow.artifacts.load_text(f"{place}/figures/figure3.svg") == "second"


def test_findings_are_tags_of_the_runs_that_they_are_about_as_long_as_they_are_found(runs):
    findings = Path("findings.csv")
    head = "code,dataset,model,found"
    findings.write_text(f"{head}\nEL01,moons,,few\nEL07,moons,svm_rbf,90 and 60\n")
    track_run("svm_rbf"), track_run("logistic")
    track_study(findings=[str(findings)])
    tags = {model: run_of(model).data.tags for model in ("svm_rbf", "logistic")}
    assert {tags[model]["check.EL01"] for model in tags} == {"few"}
    assert tags["svm_rbf"]["check.EL07"] == "90 and 60"
    assert "check.EL07" not in tags["logistic"]
    findings.write_text(f"{head}\n")
    track_study(findings=[str(findings)])
    assert not [name for name in run_of("svm_rbf").data.tags if name.startswith("check.")]


def test_the_note_of_a_study_without_published_values_has_no_verdict():
    study = STUDY.model_copy(update={"published": None})
    assert "verdict" not in note_of_study(study, {"table4": {"ours only": 1}}, Agreement(0, 0, 0, 0, 0), "")


@pytest.mark.usefixtures("tracked")
def test_the_columns_of_mlflows_page_name_source_and_commit():
    for run in runs_of().values():
        assert run.data.tags["mlflow.source.name"] == "snakemake small"
        assert run.data.tags["mlflow.source.type"] == "LOCAL"


@pytest.mark.fault("Surroundings", "results in a folder of another repository", "the code's commit")
def test_the_commit_of_a_run_is_that_of_its_code(runs, monkeypatch):
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "another"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setenv("GIT_DIR", str(Path(".git").resolve()))
    track_run("svm_rbf")
    tags = run_of("svm_rbf").data.tags
    assert {name: tags[name] for name in ("commit", "dirty", "lock")} == code_tags()
    another = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert tags["commit"] != another.stdout.strip()


# ------------------------------------------------------------------------------------------------ faults


def parents() -> dict[str, str | None]:
    return {key: run.data.tags.get("mlflow.parentRunId") for key, run in runs_of().items()}


@pytest.mark.fault("Store", "a run or that of a study deleted by hand, on a server", "written again")
@pytest.mark.fault("Store", "an experiment deleted in the UI", "restored with its runs")
def test_what_was_deleted_or_has_other_parameters_is_written_again(runs, monkeypatch):
    first = track()
    client().delete_experiment(run_of("logistic").info.experiment_id)
    assert track_study() == first[""]
    client().delete_run(first[""])
    client().delete_run(first["svm_rbf"])
    second = track_study()
    assert second != first[""]
    assert parents() == {"small": None, SVM: second, LR: second}
    assert run_of("svm_rbf").data.tags["verdict"] == "reproduced"
    assert run_of("logistic").info.run_id == first["logistic"]
    change_study(monkeypatch, metrics=["gmean"])
    third = track_study()
    assert third != second
    assert parents() == {"small": None, SVM: third, LR: third}
    assert f"/runs/{third}/artifacts/tables/" in runs_of()["small"].data.tags["mlflow.note.content"]


KILLED_WHILE_LOGGING = f"""
import os, pickle, sys
sys.path.append({str(Path(__file__).parents[1] / "support")!r})
import told_scores, tracked_runs
told_scores.predictions.score_selection = told_scores.as_told
from entrolab.jobs.job_logging import job_log
from entrolab.tracking.ledger import Ledger

Ledger._log_model = lambda *_: os.kill(os.getpid(), int(sys.argv[1]))
with job_log("track.log", "track"):
    tracked_runs.track_run("logistic")
"""


@pytest.mark.fault("Store", "a tracker that is killed as it writes a run", "the next run replaces it")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_after_a_kill_a_run_is_written_once(runs, number):
    program = [sys.executable, "-c", KILLED_WHILE_LOGGING, str(int(number))]
    heard = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)  # noqa: E731 - tests may run under nohup
    ended = subprocess.run(program, capture_output=True, text=True, check=False, preexec_fn=heard)
    left = run_of("logistic")
    if number == signal.SIGKILL:
        assert ended.returncode == -signal.SIGKILL
        assert left.info.status == "RUNNING"
    else:
        assert (ended.returncode, ended.stderr, left.info.status) == (1, "", "KILLED")
    track()
    assert {key: run.info.status for key, run in runs_of().items()} == dict.fromkeys(
        ("small", SVM, LR), "FINISHED"
    )


@pytest.mark.fault("Store", "a full disk as a model is written", "one line; no run stays open")
def test_no_run_stays_open_after_an_error(runs, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "/somewhere/model")

    with monkeypatch.context() as patched:
        patched.setattr(ledger.Ledger, "_log_model", full)
        with pytest.raises(StoreUnavailable, match="No space left on device"):
            track_run("svm_rbf")
    assert run_of("svm_rbf").info.status == "KILLED"


DAMAGED = ("record", "selection", "predictions", "candidates", "facts", "model")


@pytest.mark.parametrize("which", DAMAGED)
def test_a_damaged_file_is_named(untracked, which):
    of_models = {"facts": facts_of, "model": model_of}
    damaged = of_models[which](untracked[0]) if which in of_models else getattr(untracked[0], which)
    damaged.write_bytes(b"")
    with pytest.raises(ValueError, match=rf"^{damaged}: not a complete .*; delete it and run again$"):
        content()


def test_a_study_travels_to_a_job(tracked):
    """Jobs of a cluster get the part of the study that a run shows."""
    part = pickle.loads(pickle.dumps(STUDY.part_for_run("moons", "svm_rbf")))
    assert part.title == STUDY.title
    assert list(part.models) == ["svm_rbf"]
    assert part.protocol_of("moons", "svm_rbf") == STUDY.protocol_of("moons", "svm_rbf")
