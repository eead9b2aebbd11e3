"""The ledger holds exactly one live run per run, whatever happened before."""

import getpass
import json
import math
import os
import pickle
import signal
import subprocess
import sys
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from told_scores import write_scores
from tracked_runs import (
    GMEANS,
    SCORES,
    STUDY,
    change_study,
    client,
    facts_of,
    mlflow,
    model_of,
    runs_of,
    track,
    write_run,
    write_tables,
)

from entrolab.jobs.checkout import code_tags
from entrolab.tables.making import COLUMNS
from entrolab.tracking import StoreUnavailable, StudyRun, ledger, track_study
from entrolab.tracking.stores import opened


def series(run, name):
    history = client().get_metric_history(run.info.run_id, name)
    return {point.step: point.value for point in history}


@pytest.fixture(scope="module")
def first_tracked() -> dict:
    """Runs that were tracked for the first test that asked for them, and their folder."""
    return {}


@pytest.fixture
def tracked(first_tracked, request, monkeypatch) -> SimpleNamespace:
    """Two tracked runs, and what tracking gave, shared by the tests that only read them."""
    if not first_tracked:
        runs = request.getfixturevalue("runs")
        first_tracked |= {"folder": Path.cwd(), "runs": runs, "done": track(runs)}
    monkeypatch.chdir(first_tracked["folder"])
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return SimpleNamespace(**first_tracked)


@pytest.mark.usefixtures("tracked")
def test_every_run_is_one_finished_run_beside_that_of_its_study_which_it_names():
    runs = runs_of()
    assert set(runs) == {"small", "small/moons/svm_rbf", "small/moons/logistic"}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    named = {run.data.tags.get("study.run") for key, run in runs.items() if key != "small"}
    assert named == {runs["small"].info.run_id}
    # The page shows what lies under a parent only when asked.
    assert not any("mlflow.parentRunId" in run.data.tags for run in runs.values())


@pytest.mark.usefixtures("tracked")
def test_run_says_what_the_record_says():
    run = runs_of()["small/moons/svm_rbf"]
    assert run.info.run_name == "SVM rbf · moons"
    assert run.info.end_time - run.info.start_time == 1500  # the record's seconds
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
        "chosen.cv.C": "1.0",  # three folds of four
        "chosen.dcs_kde.C": "1.0",
    }
    assert expected.items() <= run.data.params.items()
    assert {"study": "small", "dataset": "moons", "model": "svm_rbf"}.items() <= run.data.tags.items()
    note = run.data.tags["mlflow.note.content"]
    assert "entrolab results/small/seed0/selection/moons/svm_rbf.parquet --config extra_studies=. " in note
    assert "C = 1.0 (3 of 4 folds)" in note
    assert "80.00 ± 8.16" in note
    assert "81.50 ± 2.00" in note
    [dataset] = run.inputs.dataset_inputs
    assert (dataset.dataset.name, dataset.dataset.digest) == ("moons", "ab" * 18)


@pytest.mark.usefixtures("tracked")
def test_the_columns_of_mlflows_page_name_user_source_and_commit():
    for run in runs_of().values():
        assert run.info.user_id == getpass.getuser()
        assert run.data.tags["mlflow.source.name"] == "snakemake small"
        assert run.data.tags["mlflow.source.type"] == "LOCAL"


def test_the_note_of_a_study_without_published_values_has_no_verdict(runs):
    done = track(runs, study=STUDY.model_copy(update={"published": None}))
    tags = client().get_experiment(done["experiment"]).tags
    assert "verdict" not in tags["mlflow.note.content"]


def test_the_steps_of_fold_scores_follow_the_folds_of_the_data_set(runs):
    splits = {"moons": {"splits": {"folds": 3, "repeats": 2}}}
    track(runs, study=STUDY.model_copy(update={"own_data": splits}))
    scores = series(runs_of()["small/moons/svm_rbf"], "cv_folds/gmean")
    assert scores == pytest.approx({0: 80, 1: 90, 3: 70, 4: 80})


@pytest.mark.usefixtures("tracked")
def test_scores_are_percent_beside_the_number_printed_for_their_criterion():
    run = runs_of()["small/moons/svm_rbf"]
    metrics = run.data.metrics
    assert metrics["cv/gmean_mean"] == pytest.approx(80)
    assert metrics["cv/gmean_std"] == pytest.approx(10 * math.sqrt(2 / 3))
    assert metrics["cv/published"] == 81.5
    assert metrics["cv/difference"] == pytest.approx(-1.5)
    assert metrics["dcs_kde/published"] == 60
    assert metrics["dcs_kde/difference"] == pytest.approx(20)
    assert series(run, "cv_folds/gmean") == pytest.approx({0: 80, 1: 90, 2: 70, 3: 80})
    assert metrics["n_stored_numbers"] == 123
    assert metrics["fit_seconds"] == pytest.approx(0.15)


@pytest.mark.usefixtures("tracked")
def test_run_says_ours_beside_the_printed_number_in_the_same_words_as_in_every_study():
    runs = runs_of()
    published, not_published = (runs[f"small/moons/{model}"].data for model in ("svm_rbf", "logistic"))
    assert {name: published.metrics[name] for name in ("ours", "published", "difference")} == {
        "ours": 80,
        "published": 81.5,
        "difference": -1.5,
    }
    said = {"verdict": "reproduced", "metric": "gmean", "criterion": "cv", "table": "table4"}
    assert said.items() <= published.tags.items()
    assert not_published.metrics["ours"] == 80
    assert "verdict" not in not_published.tags
    assert not [name for name in not_published.metrics if "published" in name or "difference" in name]
    note = published.tags["mlflow.note.content"]
    assert (
        "GMEAN 80.00 ± 8.16 % over the folds, published 81.50 ± 2.00 %: **reproduced** ([table4](#/" in note
    )


def test_the_note_of_an_experiment_names_the_command_and_the_reference(tracked):
    note = client().get_experiment(tracked.done["experiment"]).tags["mlflow.note.content"]
    assert note.startswith("**A small paper** · `entrolab small.yaml`\n\nSomeone, 2020\n\n")


def test_errors_of_trials_are_as_they_are_and_judged_as_their_table_says(runs, monkeypatch):
    """A mean of 0.21 beside a published 0.2: within 10 %, not within 4 %."""
    svm = runs[0]
    rows = [
        {
            "repeat": trial, "fold": 0, "criterion": "cv", "point": 1, "params": '{"C": 1.0}',
            "criterion_value": 0.5, "rmse": rmse, "success": True, "error": "",
        }
        for trial, rmse in enumerate((0.2, 0.22, 0.21))
    ]  # fmt: skip
    write_scores(svm.selection, svm.predictions, pd.DataFrame(rows))
    Path("published.csv").write_text("table,dataset,model,metric,value,std\ntable3,moons,svm_rbf,rmse,0.2,\n")
    for percent, verdict in ((10, "reproduced"), (4, "higher")):
        table = {**SCORES, "metric": "rmse", "models": ["svm_rbf"], "criterion": "cv"}
        table["tolerance"] = {"percent": percent}
        inner = {"folds": 4, "used": 1}
        change_study(
            monkeypatch,
            "regression",
            metrics=["accuracy", "rmse"],
            criteria=["cv"],
            protocol={"trials": 3, "train": {"of_dataset": "rows"}, "test": 5, "inner": inner},
            of_dataset={"rows": {"moons": 30}},
            tables={"table3": table},
        )
        track([svm])
        run = runs_of()["small/moons/svm_rbf"]
        assert run.data.metrics["cv/rmse_mean"] == pytest.approx(0.21)
        assert run.data.metrics["cv/difference"] == pytest.approx(0.01)
        assert series(run, "cv_folds/rmse") == pytest.approx({0: 0.2, 1: 0.22, 2: 0.21})
        assert run.data.tags["verdict.cv"] == verdict
        assert (run.data.params["protocol.train"], run.data.params["protocol.trials"]) == ("30", "3")
        note = run.data.tags["mlflow.note.content"]
        row = ["cv", "rmse", "0.2100 ± 0.0100", "0.2000", "+0.0100", verdict, "[table3](#/experiments/"]
        assert f"| {'&emsp; | '.join(row)}" in note
        assert "C = 1.0 (3 of 3 trials)" in note


def test_support_vectors_are_logged_where_a_learner_has_them_and_the_first_metric_is_judged(
    runs, monkeypatch
):
    Path("published.csv").write_text(
        "table,dataset,model,metric,value,std\n"
        "table2,moons,svm_rbf,error_rate,20,1\ntable2,moons,svm_rbf,support,60,1\n"
    )
    table = {**SCORES, "metric": ["error_rate", "support"], "criterion": "cv"}
    change_study(monkeypatch, metrics=["error_rate", "support"], criteria=["cv"], tables={"table2": table})
    for run, support in zip(runs, (0.5, math.nan), strict=True):
        rows = [
            {
                "repeat": repeat, "fold": fold, "criterion": "cv", "point": 1, "params": '{"C": 1.0}',
                "criterion_value": 0.2, "error_rate": 0.2, "support": support, "success": True, "error": "",
            }
            for repeat in range(2)
            for fold in range(2)
        ]  # fmt: skip
        write_scores(run.selection, run.predictions, pd.DataFrame(rows))
    track(runs)
    svm, other = (runs_of()[f"small/moons/{model}"].data for model in ("svm_rbf", "logistic"))
    assert (svm.metrics["cv/error_rate_mean"], svm.metrics["cv/support_mean"]) == (20, 50)
    assert svm.tags["verdict.cv"] == "reproduced"
    assert other.metrics["cv/error_rate_mean"] == 20
    assert not [name for name in {**other.metrics, **other.tags} if "support" in name]


def test_a_run_says_what_its_learner_was_chosen_from(runs):
    svm = runs[0]
    one_of = {
        "svm": {"estimator": "sklearn.svm.SVC", "params": {"tol": 0.1}, "grid": {"C": [1.0, 2.0]}},
        "lda": {"estimator": "mine.LDA", "params": {}, "grid": {}},
    }
    record = json.loads(svm.record.read_text())
    record |= {"estimator": "sklearn.svm.SVC or mine.LDA", "params": {}, "grid": {"step1__k": [2, 3]}}
    svm.record.write_text(json.dumps(record | {"one_of": one_of}))
    params = json.dumps({"one_of": "svm", "C": 1.0, "step1__k": 2})
    pd.read_parquet(svm.selection).assign(point=1, params=params).to_parquet(svm.selection)
    track([svm])
    run = runs_of()["small/moons/svm_rbf"].data
    assert {
        "estimator": "sklearn.svm.SVC or mine.LDA",
        "one_of.lda": "mine.LDA",
        "grid.points": "6",
        "grid.step1__k": "2, 3",
        "grid.svm.C": "1, 2",
        "svm.tol": "0.1",
        "chosen.cv.one_of": "svm",
    }.items() <= run.params.items()
    assert r"- cv: one\_of = svm, C = 1.0, step1\_\_k = 2 (4 of 4 folds)" in run.tags["mlflow.note.content"]


def test_a_table_of_other_printed_numbers_and_one_of_part_of_the_grid_are_compared_as_they_are(
    runs, monkeypatch
):
    """Runs have the verdicts of tables, whatever these are published beside or choose from."""
    rows = pd.DataFrame(
        {"repeat": 0, "fold": fold, "point": point, "params": json.dumps({"C": C}), "success": True}
        | {"error": "", "dcs_gaussian": 1.0, "cv_gmean": score, "test_gmean": score, "test_accuracy": 0.5}
        for fold in range(2)
        for point, (C, score) in enumerate({0.1: 0.6, 1.0: 0.8}.items())
    )
    rows.assign(study="small", dataset="moons", model="svm_rbf").to_parquet(runs[0].candidates)
    tables = {
        "again": {**SCORES, "criterion": "cv", "published": "table4"},
        "small_c": {**SCORES, "criterion": "cv", "published": "table10", "among": {"C": {"max": 0.1}}},
    }
    tables = {name: {**table, "models": ["svm_rbf"]} for name, table in tables.items()}
    change_study(monkeypatch, tables=tables, criteria=["cv"])
    track(runs[:1])
    run = runs_of()["small/moons/svm_rbf"].data
    assert (run.tags["table"], run.tags["verdict"], run.metrics["published"]) == ("again", "reproduced", 81.5)
    assert run.metrics["cv/gmean_mean"] == pytest.approx(80)
    note = run.tags["mlflow.note.content"]
    assert (
        f"| {'&emsp; | '.join(['cv', 'gmean (%)', '60.00 ± 0.00', '60.00', '+0.00', 'reproduced'])}" in note
    )


def test_artifacts_hold_the_record_the_scores_and_the_candidates(tracked, tmp_path):
    folder = Path(client().download_artifacts(tracked.done["runs"]["svm_rbf"], "", str(tmp_path)))
    assert json.loads((folder / "record.json").read_text())["key"] == "small/moons/svm_rbf"
    assert list(pd.read_csv(folder / "scores.csv")["gmean"][:4]) == list(GMEANS)
    assert list(pd.read_parquet(folder / "candidates.parquet")["point"]) == [0, 1, 2]


@pytest.mark.parametrize("model", ["svm_rbf", "logistic"])
def test_logged_model_loads_back_and_predicts_the_same(tracked, data, model):
    run = runs_of()[f"small/moons/{model}"]
    [output] = run.outputs.model_outputs
    mlflow.set_tracking_uri(client().tracking_uri)
    try:
        loaded = mlflow.sklearn.load_model(f"models:/{output.model_id}")
    finally:
        mlflow.set_tracking_uri(None)
    original = skops.io.load(model_of(tracked.runs[0 if model == "svm_rbf" else 1]))
    np.testing.assert_array_equal(loaded.decision_function(data[0]), original.decision_function(data[0]))
    assert tracked.done["runs"][model] == run.info.run_id


def test_a_changed_score_replaces_the_run_and_its_model_and_other_seconds_change_nothing(runs, data):
    first = track(runs)
    before = {key: run.to_dictionary() for key, run in runs_of().items()}
    assert first["written"] == ["svm_rbf", "logistic"]
    write_run(runs[0], estimator=SVC(C=1.0).fit(*data), seconds=99.0)
    again = track(runs)
    assert (again["written"], again["runs"]) == ([], first["runs"])
    assert {key: run.to_dictionary() for key, run in runs_of().items()} == before
    write_run(runs[0], estimator=SVC(C=1.0).fit(*data), gmeans=(0.8, 0.9, 0.7, 0.9))
    second = track(runs)
    assert second["written"] == ["svm_rbf"]
    assert second["runs"]["logistic"] == first["runs"]["logistic"]
    assert second["runs"]["svm_rbf"] != first["runs"]["svm_rbf"]
    assert runs_of()["small/moons/svm_rbf"].data.metrics["cv/gmean_mean"] == pytest.approx(82.5)
    models = client().search_logged_models([second["experiment"]])
    assert {model.source_run_id for model in models} == set(second["runs"].values())


KILLED_WHILE_LOGGING = f"""
import json, os, pickle, signal, sys
sys.path.append({str(Path(__file__).parent.parent)!r})
import told_scores
told_scores.predictions.score_selection = told_scores.as_told
from entrolab.tracking import StudyRun, track_dataset
from entrolab.jobs.job_logging import job_log
from entrolab.tracking.ledger import Ledger

write = Ledger._log_model
def killed(self, run_id, content, *rest):
    if content.run.model == "logistic":
        os.kill(os.getpid(), int(sys.argv[3]))
    write(self, run_id, content, *rest)
Ledger._log_model = killed
study, tables = pickle.loads(bytes.fromhex(sys.argv[1])), json.loads(sys.argv[2])
runs = [StudyRun.at(study, "moons", model) for model in ("svm_rbf", "logistic")]
with job_log("track.log", "track"):
    track_dataset(study, "moons", runs, tables=tables)
"""


def tracker_ended_by(number: signal.Signals) -> subprocess.CompletedProcess:
    """A tracker that a signal meets as it logs the second of two models."""
    program = [
        sys.executable,
        "-c",
        KILLED_WHILE_LOGGING,
        pickle.dumps(STUDY).hex(),
        json.dumps(write_tables()),
    ]
    heard = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)  # these tests may run under nohup
    command = [*program, str(int(number))]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=heard)


@pytest.mark.fault("Store", "a run left RUNNING by a kill", "the next run replaces it")
def test_after_a_kill_every_run_gets_its_one_finished_run(runs):
    assert tracker_ended_by(signal.SIGKILL).returncode == -signal.SIGKILL
    assert runs_of()["small/moons/logistic"].info.status == "RUNNING"
    with ledger.open_ledger(
        None, STUDY.model_copy(update={"name": "other"}), patience=5, own="tags.dataset = 'other'"
    ):
        left = runs_of()["small/moons/logistic"]
    assert left.info.status == "KILLED"
    assert left.data.tags["failure.reason"] == "its tracker was killed"
    done = track(runs)
    assert done["written"] == ["logistic"]  # the other was finished before the kill
    runs = runs_of()
    assert set(runs) == {"small", "small/moons/svm_rbf", "small/moons/logistic"}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}


@pytest.mark.fault(
    "Store", "a tracker that an error or a signal ends", "no run stays RUNNING; its tag says why"
)
@pytest.mark.parametrize("ended_by", ["a full disk", "the end of its terminal"])
def test_no_run_stays_open_after_a_tracker_that_could_close_it(runs, monkeypatch, ended_by):
    if ended_by == "a full disk":

        def full(*_):
            raise OSError(28, "No space left on device", "/tmp/model")

        with monkeypatch.context() as patched:
            patched.setattr(ledger.Ledger, "_log_model", full)
            with pytest.raises(
                StoreUnavailable, match="No space left on device: '/tmp/model'; free some space there,"
            ):
                track(runs)
    else:
        ended = tracker_ended_by(signal.SIGHUP)
        assert (ended.returncode, ended.stderr) == (1, "")
    left = runs_of().values()
    assert "RUNNING" not in {run.info.status for run in left}
    closed = [run.data.tags["failure.reason"] for run in left if run.info.status == "KILLED"]
    assert closed
    assert all(reason.startswith("its tracker ended: ") for reason in closed)
    track(runs)
    assert {run.info.status for run in runs_of().values()} == {"FINISHED"}


@pytest.mark.fault("Store", "the run of a paper deleted by hand", "made again, with its runs")
def test_run_of_the_paper_deleted_by_hand_comes_back_with_its_runs(runs):
    first = track(runs)
    client().delete_run(first["study_run"])
    second = track(runs)
    assert second["study_run"] != first["study_run"]
    assert len(second["written"]) == 2
    assert len(runs_of()) == 3


@pytest.mark.fault("Store", "an experiment deleted in the UI", "restored with its runs")
def test_experiment_deleted_by_hand_is_restored(runs):
    first = track(runs)
    client().delete_experiment(first["experiment"])
    assert track(runs)["experiment"] == first["experiment"]
    assert len(runs_of()) == 3


@pytest.mark.parametrize("status", ["no data", "time limit"])
def test_failed_run_is_one_failed_run_with_its_reason(place, status):
    run = StudyRun.at(STUDY, "moons", "svm_rbf")
    write_run(run, success=False, status=status, error="the moon was not there")
    done = track([run])
    logged = runs_of()[run.key]
    assert logged.info.status == "FAILED"
    assert logged.data.tags["failure"] == status
    assert logged.data.tags["verdict"] == ("no data" if status == "no data" else "failed")
    assert logged.data.tags["failure.reason"] == "the moon was not there"
    assert "the moon was not there" in logged.data.tags["mlflow.note.content"]
    assert not any("/" in name or name == "ours" for name in logged.data.metrics)  # no scores
    assert track([run])["runs"] == done["runs"]


def test_run_whose_last_fit_failed_keeps_its_scores_and_says_so(place):
    run = StudyRun.at(STUDY, "moons", "svm_rbf")
    write_run(run, error="singular")
    track([run])
    logged = runs_of()[run.key]
    assert logged.info.status == "FINISHED"
    assert logged.data.metrics["cv/gmean_mean"] == pytest.approx(80)
    assert logged.data.tags["model.error"] == "singular"
    assert not logged.outputs.model_outputs


def test_stages_that_left_nothing_but_a_record_are_tracked_and_replaced_when_mended(place, data):
    run = StudyRun.at(STUDY, "moons", "svm_rbf")
    write_run(run, success=False, status="failed", error="singular")
    for path in (run.selection, run.predictions, run.candidates, facts_of(run)):
        path.unlink()
    track([run])
    assert runs_of()[run.key].info.status == "FAILED"
    write_run(run, estimator=SVC().fit(*data))
    track([run])
    assert runs_of()[run.key].info.status == "FINISHED"


@pytest.mark.parametrize(("value", "word"), [(math.nan, "nan"), (-math.inf, "-inf")])
def test_metric_that_is_not_finite_is_tagged_and_not_stored(place, value, word):
    run = StudyRun.at(STUDY, "moons", "svm_rbf")
    write_run(run, gmeans=(0.8, value, 0.7, 0.8))
    track([run])
    logged = runs_of()[run.key]
    assert series(logged, "cv_folds/gmean") == pytest.approx({0: 80, 2: 70, 3: 80})
    assert logged.data.tags["nonfinite.cv_folds/gmean"] == f"{word} at step 1"
    assert "cv/gmean_mean" not in logged.data.metrics
    assert "nonfinite.cv/gmean_mean" in logged.data.tags


BETTER = (0.9, 0.9, 0.9, 0.9)


class Unloadable(SVC):
    """A learner that can be stored, and whose file cannot be loaded."""

    def __setstate__(self, state):
        raise RuntimeError("no such library")


def foreign(data):
    """A model that names a function of no package of the study."""
    return make_pipeline(FunctionTransformer(os.system), SVC()), "system"


def unloadable(data):
    return Unloadable().fit(*data), "no such library"


@pytest.mark.fault(
    "Trust", "a model that cannot be stored, beside others", "logged without it, with the reason"
)
@pytest.mark.parametrize("without", [foreign, unloadable])
def test_a_run_without_a_model_is_logged_with_the_reason_and_the_others_with_theirs(
    runs, data, monkeypatch, capsys, without
):
    monkeypatch.setattr(STUDY.models["svm_rbf"], "estimator", f"{__name__}.Unloadable")
    track(runs[1:])
    assert client().get_model_version_by_alias("small.moons", "best").tags["model"] == "logistic"
    model, reason = without(data)
    write_run(runs[0], estimator=model, gmeans=BETTER)
    assert track(runs)["written"] == ["svm_rbf", "logistic"]
    best, other = (runs_of()[run.key] for run in runs)
    assert best.info.status == "FINISHED"
    assert best.data.metrics["cv/gmean_mean"] == pytest.approx(90)
    assert best.data.tags["best"] == "gmean"
    assert reason in best.data.tags["model.error"]
    assert not best.outputs.model_outputs
    assert len(other.outputs.model_outputs) == 1
    # The alias is not given to the second best.
    assert client().get_registered_model("small.moons").aliases == {}
    [line] = capsys.readouterr().err.splitlines()
    assert reason in line
    assert track(runs)["written"] == []


DAMAGED = {name: attrgetter(name) for name in ("record", "selection", "predictions", "candidates")}
DAMAGED |= {"facts": facts_of, "model": model_of}


@pytest.mark.parametrize("which", DAMAGED)
def test_damaged_file_is_named(runs, which):
    damaged = DAMAGED[which](runs[0])
    damaged.write_bytes(b"")
    with pytest.raises(ValueError, match=rf"^{damaged}: not a complete .*; delete it and run again$"):
        track(runs)


@pytest.mark.fault("Store", "taken by another tracking job for too long", "one line")
def test_store_locked_by_another_tracking_job_is_waited_for(runs):
    with opened(None, patience=1), pytest.raises(StoreUnavailable, match="keeps it locked"):
        track(runs, patience=0.02)


@pytest.mark.fault("Store", "an address that leads to no store", "one line that says what is accepted")
def test_what_is_no_store_gives_one_line_that_names_it(runs):
    Path("notes.db").write_text("this is not a database\n" * 100)
    Path("folder.db").mkdir()
    for uri, reason in [
        ("sqlite:///notes.db", "not a database"),
        ("sqlite:///folder.db", "unable to open"),
        ("sqlite:///published.csv/mlflow.db", "Not a directory|File exists"),
        (
            "carrier-pigeon://home",
            "unknown type of store; accepted are addresses .*http.*sqlite",
        ),
        ("localhost:5000", "unknown type of store; .* as in sqlite:///mlflow.db or http://127.0.0.1:5000"),
        ("mlruns", "maintenance mode"),
        ("sqlite://mlflow.db", "names no file .* three slashes"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///what?/mlflow.db", r"has a `\?`, which ends the path"),
        (
            "mysql://127.0.0.1:9/runs",
            "No module named .*; install the packages that this type",
        ),
        ("postgresql://127.0.0.1:9/runs", "Connection refused; make it reachable|No module named .*psycopg2"),
    ]:
        with pytest.raises(StoreUnavailable, match=reason) as caught:
            track(runs, store_uri=uri)
        assert str(caught.value).startswith(f"tracking store {uri.partition('?')[0]}: ")
        assert "\n" not in str(caught.value)


@pytest.fixture
def tables(place):
    folder = Path("rendered")
    folder.mkdir()
    verdicts = ["reproduced", "higher", "reproduced", "no data", "no data"]
    published = [80.0, 70.0, 60.0, 50.0, None]  # the last one owes nothing to print
    table = pd.DataFrame({"verdict": verdicts, "published": published}, columns=COLUMNS)
    table.to_csv(folder / "table4.csv", index=False)
    (folder / "table4.html").write_text("<table></table>")
    (folder / "times.csv").write_text("dataset,model,seconds\na,svm_rbf,1\n")
    Path("small.yaml").write_text("title: A small paper\n")
    return sorted(folder.iterdir())


def track_tables(tables):
    return track_study(STUDY, tables, config="small.yaml", receipt="receipt.json", patience=5)


def test_run_of_the_paper_carries_its_tables_and_counts_their_verdicts(tables, tmp_path):
    done = track_tables(tables)
    run = runs_of()["small"]
    assert (run.info.run_name, run.info.status) == ("small · tables", "FINISHED")
    assert client().get_experiment(done["experiment"]).tags["reproduced"] == "2 of 3"
    counts = {"reproduced": 2, "higher": 1, "no data": 2}
    assert run.data.metrics == counts | {f"table4/{verdict}": count for verdict, count in counts.items()}
    note = run.data.tags["mlflow.note.content"]
    assert "entrolab small.yaml" in note
    said = "2 of 3 results reproduced, 0 of 0 data and settings equal, 1 not comparable"
    assert f"Published values: {said}." in note
    assert "`results/report/small.html`" in note
    page = f"#/experiments/{done['experiment']}/runs/{done['study_run']}/artifacts/tables/table4.html"
    assert f"[table4]({page})" in note
    folder = Path(client().download_artifacts(done["study_run"], "", str(tmp_path)))
    assert {path.name for path in (folder / "tables").iterdir()} == {path.name for path in tables}
    assert (folder / "config" / "small.yaml").exists()
    assert json.loads(Path("receipt.json").read_text()) == done


def test_run_of_the_paper_carries_its_figures_and_is_reopened_when_one_changed(tables, tmp_path):
    figures = [Path("results/small/figures/figure3.svg"), Path("results/small/figures/figure3.csv")]
    figures[0].parent.mkdir(parents=True)
    for file in figures:
        file.write_text("first")

    def track():
        return track_study(STUDY, tables, figures, config="small.yaml", patience=5)

    done = track()
    assert not track()["written"]
    figures[0].write_text("second")
    assert track()["written"]
    folder = Path(client().download_artifacts(done["study_run"], "figures", str(tmp_path)))
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "figure3.svg": "second",
        "figure3.csv": "first",
    }


def test_run_of_the_paper_is_reopened_when_a_table_changed_and_only_then(tables, runs):
    track(runs)
    first = track_tables(tables)
    assert first["written"]
    assert not track_tables(tables)["written"]
    tables[0].write_text(tables[0].read_text().replace("higher", "lower"))
    third = track_tables(tables)
    assert third["written"]
    assert third["study_run"] == first["study_run"]
    metrics = runs_of()["small"].data.metrics
    assert (metrics["table4/higher"], metrics["table4/lower"]) == (0, 1)
    assert (metrics["higher"], metrics["lower"], metrics["reproduced"]) == (0, 1, 2)
    assert track(runs)["written"] == []


@pytest.mark.fault("Surroundings", "results in a folder of another repository", "the code's commit")
def test_the_commit_of_a_run_is_that_of_its_code(runs, monkeypatch):
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "another"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setenv("GIT_DIR", str(Path(".git").resolve()))
    track(runs)
    tags = runs_of()["small/moons/svm_rbf"].data.tags
    assert {name: tags[name] for name in ("commit", "dirty", "lock")} == code_tags()
    another = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert tags["commit"] != another.stdout.strip()
