"""The workflow, run for real: what it makes, what it makes anew, and what it survives."""

import copy
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
import yaml
from golden_tables import check_golden
from scripted_server import answer
from sklearn.svm import SVR

from entrolab.data.dataset import load_dataset, load_folds
from entrolab.fit.predictions import read_scores
from entrolab.results.frames import read_figure, read_table

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]
TABLE = "results/tiny/tables/table1.csv"
RUNS = [
    (dataset, model) for dataset in ("sklearn-wine-0", "my-moons") for model in ("lda", "svm")
]  # fmt: skip

ALL_RUNS = [*RUNS, ("my-moons", "broken"), ("my-moons", "eem")]


def planned(output: str) -> set[tuple[str, str]]:
    """The rules that a dry run would execute, each with its wildcards."""
    jobs = re.findall(r"^(?:local)?rule (\w+):\n(.*?)(?=^\[|\Z)", output, flags=re.M | re.S)
    found = set()
    for rule, text in jobs:
        said = re.search(r"^ +wildcards: (.*)$", text, flags=re.M)
        found.add((rule, said[1] if said else ""))
    return found


def wildcards(plan: set[tuple[str, str]], rule: str) -> set[str]:
    """Those of each job of a rule that is planned."""
    return {those for name, those in plan if name == rule}


def rules(output: str) -> set[str]:
    return {rule for rule, _ in planned(output)} - {"tiny"}


def scores_of(project, dataset: str, model: str, metrics: list[str]) -> pd.DataFrame:
    """What each criterion chose in a run, and its scores by some metrics."""
    folder, file = project.folder / "results" / "tiny" / "seed0", f"{dataset}/{model}.parquet"
    return read_scores(folder / "selection" / file, folder / "predictions" / file, metrics)


# ------------------------------------------------------------------------------------------- what it makes


def test_the_score_tables_are_the_golden_ones(finished):
    check_golden("tiny", finished.folder / "results" / "tiny" / "tables")


def test_a_table_comes_in_every_format(finished):
    made = {path.name for path in (finished.folder / "results/tiny/tables").iterdir()}
    assert made == {f"table{k}.{suffix}" for k in range(1, 7) for suffix in ("csv", "html", "tex", "md")}


def test_a_figure_comes_in_every_format(finished):
    made = {path.name for path in (finished.folder / "results/tiny/figures").iterdir()}
    assert made == {f"figure{k}.{suffix}" for k in range(1, 5) for suffix in ("svg", "png", "csv")}


def test_a_projection_has_all_rows_or_the_reason_for_none(finished):
    drawn = read_figure(finished.folder / "results/tiny/figures/figure3.csv")
    shown = drawn.dropna(subset="row").groupby(["dataset", "model"]).size().to_dict()
    assert shown == {("sklearn-wine-0", "melm"): 178}
    assert drawn["reason"].str.contains("LinearDiscriminantAnalysis maps").any()


def test_starts_are_measured_once_for_their_table_and_figure(finished):
    table = read_table(finished.folder / "results/tiny/tables/table5.csv").set_index(["dataset", "metric"])
    assert table.loc[("all", "expected"), "ours"] in (0, 100)
    starts = read_figure(finished.folder / "results/tiny/figures/figure4.csv")
    assert len(starts) == 16
    assert table.loc[("my-moons", "best"), "ours"] == pytest.approx(starts["objective"].max(), rel=1e-5)


def test_what_a_table_measures_for_itself_is_there_and_what_fails_is_a_footnote(finished):
    growth = read_table(finished.folder / "results/tiny/tables/table6.csv").set_index("model")
    assert growth.loc["svm", "ours"].notna().all()
    assert growth.loc["broken", "reason"].str.contains("Precomputed matrix must be a square matrix").all()


def test_each_run_has_a_record_candidates_predictions_and_a_model(finished):
    results = finished.folder / "results" / "tiny" / "seed0"
    for dataset, model in RUNS:
        record = json.loads((results / "records" / dataset / f"{model}.json").read_text())
        facts = json.loads((results / "models" / dataset / model / "cv.json").read_text())
        candidates = pd.read_parquet(results / "candidates" / dataset / f"{model}.parquet")
        scores = scores_of(finished, dataset, model, ["gmean"])
        predictions = pd.read_parquet(results / "predictions" / dataset / f"{model}.parquet")
        n_points = 4 if model == "svm" else 1

        assert record["success"]
        assert len(candidates) == record["n_candidates"] == 3 * n_points
        assert sorted(scores["criterion"].unique()) == ["cv", "dcs_gaussian", "oracle"]
        assert set(predictions["row"]) == set(range(178 if dataset == "sklearn-wine-0" else 90))
        assert facts["fit_seconds"] > 0
        assert (results / "models" / dataset / model / "cv.skops").stat().st_size > 0


def test_the_report_lists_the_study(finished):
    report = finished.folder / "results" / "report"
    assert 'href="tiny.html"' in (report / "index.html").read_text()
    page = (report / "tiny.html").read_text()
    assert "GMEAN of two learners" in page
    assert re.search(r"<dt>peak memory</dt><dd>\d.* [MG]iB \(tiny/.*\)</dd>", page)
    assert 'src="../tiny/figures/figure1.svg"' in page


def test_each_run_is_one_run_in_the_store(finished):
    """A grid point each in an experiment of its own, and what tables measure."""
    with closing(sqlite3.connect(finished.folder / "mlflow.db")) as store:
        keys = store.execute(
            "SELECT experiments.name, value FROM runs JOIN experiments USING (experiment_id) "
            "JOIN tags USING (run_uuid) WHERE key = 'entrolearn.key' AND runs.lifecycle_stage = 'active'"
        ).fetchall()
    runs = [key for name, key in keys if name == "tiny"]
    assert len(set(runs)) == len(runs)
    expected = {f"tiny/seed0/{dataset}/{model}" for dataset, model in ALL_RUNS}
    expected |= {f"tiny/seed0/table6/my-moons/{model}" for model in ("svm", "broken")}
    assert {*runs} == {"tiny", "tiny/seed0/table5/my-moons/melm", *expected}
    points = [key for name, key in keys if name == "tiny · candidates"]
    assert {key: points.count(key) for key in points if key.endswith("svm")} == {
        "tiny/seed0/sklearn-wine-0/svm": 4,
        "tiny/seed0/my-moons/svm": 4,
    }


@pytest.mark.fault("Store", "runs or the store deleted by hand", "the same command writes them again")
def test_what_was_deleted_from_the_store_is_written_again(finished, tmp_path):
    folder = shutil.copytree(finished.root, tmp_path / "copy", symlinks=True) / finished.folder.name
    project = copy.copy(finished)
    project.root, project.folder = folder.parent, folder
    store = folder / "mlflow.db"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid IN (SELECT run_uuid FROM tags "
            "WHERE key = 'entrolearn.key' AND value = 'tiny/seed0/my-moons/svm')"
        )
    plan = planned(project.run("-n", "-p", "tiny").stdout)
    assert wildcards(plan, "track") == {"study=tiny, seed=0, dataset=my-moons, model=svm"}
    assert {rule for rule, _ in plan} == {"tiny", "track", "track_study"}
    for file in folder.glob("mlflow.db*"):
        file.unlink()
    plan = planned(project.run("-n", "-p", "tiny").stdout)
    assert len(wildcards(plan, "track")) == len(ALL_RUNS)
    assert {rule for rule, _ in plan} == {"tiny", "track", "track_table", "track_study"}


def test_every_job_has_a_log(finished):
    logs = {str(path.relative_to(finished.folder)) for path in (finished.folder / "logs").rglob("*.log")}
    assert {f"logs/tiny/seed0/fit/{dataset}/{model}.log" for dataset, model in RUNS} <= logs


# ------------------------------------------------------------------------------------------- random trials


def test_the_score_tables_of_trials_are_the_golden_ones(trials):
    check_golden("trials", trials.folder / "results" / "tiny" / "tables")


def test_values_are_scaled_and_their_errors_are_those_of_the_chosen_machine(trials):
    dataset = load_dataset(trials.folder / "results/tiny/scaled/sklearn-diabetes.npz")
    parts = load_folds(trials.folder / "results/tiny/seed0/folds/sklearn-diabetes.npz")
    assert (dataset.y.min(), dataset.y.max()) == (0, 1)
    scores = scores_of(trials, "sklearn-diabetes", "svm", ["rmse"])
    for row in scores[scores["criterion"] == "cv"].itertuples():
        part = parts[row.repeat]
        machine = SVR(**json.loads(row.params)).fit(dataset.X[part > 0], dataset.y[part > 0])
        errors = machine.predict(dataset.X[part == 0]) - dataset.y[part == 0]
        assert row.rmse == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-3)


def test_a_learner_runs_on_the_tasks_that_it_has_and_a_printed_one_nowhere(trials):
    records = {
        path.parent.name + "/" + path.stem for path in trials.folder.glob("results/*/seed0/records/*/*.json")
    }
    assert records == {
        "sklearn-iris/svm", "sklearn-iris/knn", "my-moons/svm", "my-moons/knn", "sklearn-diabetes/svm"
    }  # fmt: skip


def test_the_model_that_is_kept_learnt_the_first_trials_training_rows(trials):
    facts = json.loads((trials.folder / "results/tiny/seed0/models/my-moons/knn/cv.json").read_text())
    assert facts["params"] == {"n_neighbors": 3}
    machine = skops.io.load(
        trials.folder / "results/tiny/seed0/models/my-moons/knn/cv.skops",
        trusted=skops.io.get_untrusted_types(
            file=trials.folder / "results/tiny/seed0/models/my-moons/knn/cv.skops"
        ),
    )
    assert machine.n_samples_fit_ == 50


def test_what_is_measured_on_generated_data_needs_no_data_set(trials):
    sparse = read_table(trials.folder / "results/tiny/tables/sparse.csv")
    assert len(sparse) == 4 * 3
    assert (sparse["ours"] > 0).all()
    assert sparse["dataset"].unique().tolist() == [
        "d20_density0.5",
        "d20_density0.1",
        "d30_density0.5",
        "d30_density0.1",
    ]


def test_figures_of_trials_show_the_scores(trials):
    figures = trials.folder / "results/tiny/figures"
    made = {path.name for path in figures.iterdir()}
    names = ("each", "density", "kept")
    assert made == {f"{name}.{suffix}" for name in names for suffix in ("svg", "png", "csv")}
    each = read_figure(figures / "each.csv").groupby(["dataset", "model"]).size()
    assert each.to_dict() == {
        ("my-moons", "knn"): 3,
        ("my-moons", "svm"): 2,
        ("sklearn-diabetes", "svm"): 2,
        ("sklearn-iris", "knn"): 3,
        ("sklearn-iris", "svm"): 2,
    }
    assert (read_figure(figures / "density.csv")["seconds"] > 0).all()


# -------------------------------------------------------------------------------------- what it makes anew


def test_a_second_run_of_the_configured_studies_with_another_mirror_does_nothing(finished):
    result = finished.run(papers="[tiny]", mirror="elsewhere")
    assert (result.returncode, "Nothing to be done" in result.stdout) == (0, True)


@pytest.mark.fault("Disk", "results of each kind deleted by hand", "the next command makes them again")
def test_deleted_results_are_made_by_the_next_command(finished):
    results, deleted = finished.folder / "results", finished.folder / "deleted"
    deleted_by_rule = {
        "refit": "models/my-moons/lda",
        "fit": "predictions/my-moons/eem.parquet",
        "select": "selection/my-moons/broken.parquet",
    }
    files = ["data/sklearn-wine-0.npz", *(f"tiny/seed0/{file}" for file in deleted_by_rule.values())]
    for file in files:
        (deleted / file).parent.mkdir(parents=True, exist_ok=True)
        (results / file).rename(deleted / file)
    try:
        plan = planned(finished.run("-n", "-p", "tiny").stdout)
    finally:
        for file in files:
            (deleted / file).rename(results / file)
    assert wildcards(plan, "prepare") == {"dataset=sklearn-wine-0"}
    for rule, file in deleted_by_rule.items():
        assert f"study=tiny, seed=0, dataset=my-moons, model={Path(file).stem}" in wildcards(plan, rule)


def append(*files: str, text: str = "\nEDITED = True\n") -> Callable[[object], None]:
    """An edit that appends code to files of the packages."""

    def edit(project) -> None:
        for file in files:
            with (project.root / "src" / file).open("a") as opened:
                opened.write(text)

    return edit


def with_study(change: Callable[[dict], object]) -> Callable[[object], None]:
    """An edit of the study."""

    def edit(project) -> None:
        file = project.folder / "studies" / "tiny.yaml"
        study = yaml.safe_load(file.read_text())
        change(study)
        file.write_text(yaml.safe_dump(study, sort_keys=False))

    return edit


def document_and_touch(project) -> None:
    """Edits that concern no result of the study: a docstring, times of files, a reader of another format."""
    append("entrolab/data/formats/csv.py")(project)
    file = project.root / "src" / "entrolearn" / "machines" / "eem.py"
    file.write_text(file.read_text().replace('"""', '"""Other words. ', 1))
    for file in [*(project.root / "src").rglob("*"), *(project.root / "config").rglob("*")]:
        os.utime(file)


def fewer_criteria(study: dict) -> None:
    study["models"]["svm"] |= {"criteria": ["cv"], "candidates": ["cv", "dcs_gaussian"]}
    study["tables"]["table3"]["criterion"] = "cv"


# The job that corrects the absolute paths of the store in a folder that was moved.
MOVED = {"track_study"}
PAGES = {"page", "track_study"}
TRACKED = {"track", "track_table", *PAGES}
SHOWN = {"table", *PAGES}
RUNS_AGAIN = {"fit", "select", "refit", "track"}
# Edit -> the rules that a dry run plans, and the models that are fitted again.
EDITS = {
    "nothing of the study": (document_and_touch, MOVED, set()),
    "a caption": (
        with_study(lambda study: study["tables"]["table2"].update(caption="Other words")),
        SHOWN,
        set(),
    ),
    "criteria among the candidates": (
        with_study(fewer_criteria),
        {"select", "refit", "track", *SHOWN},
        set(),
    ),
    "metrics": (with_study(lambda study: study["metrics"].extend(["f1", "auc"])), {"track", *SHOWN}, set()),
    "a grid": (
        with_study(lambda study: study["models"]["svm"]["grid"].update(C=[1, 10, 100])),
        {*RUNS_AGAIN, *SHOWN},
        {"svm"},
    ),
    "folds": (
        with_study(lambda study: study["protocol"].update(folds=4)),
        {"split", "figure", *RUNS_AGAIN, *SHOWN},
        {"svm", "lda", "eem", "broken"},
    ),
    "a measurement": (
        with_study(lambda study: study["tables"]["table5"]["params"].update(starts=17)),
        {"measure", "figure", "track_table", *SHOWN},
        set(),
    ),
    # Of figures and measurements that fit, too.
    "the code of selection": (
        append("entrolab/fit/selection.py"),
        {"select", "refit", "figure", "measure", *TRACKED, *SHOWN},
        set(),
    ),
    "a learner": (append("entrolearn/machines/eem.py"), {"figure", *RUNS_AGAIN, *PAGES}, {"eem"}),
    "a script": (append("../workflow/scripts/figures/starts.py"), {"figure", *PAGES}, set()),
    "a template": (append("entrolab/templates/table.html.j2"), SHOWN, set()),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_makes_again_what_depends_on_it(finished, tmp_path, name):
    """In a copy of the checkout with its results and times, as `cp -a` makes it."""
    edit, rules_again, fitted_again = EDITS[name]
    root = shutil.copytree(finished.root, tmp_path / "copy", symlinks=True)
    project = copy.copy(finished)
    project.root, project.folder = root, root / finished.folder.name
    edit(project)
    result = project.run("-n", "-p", "tiny")
    assert result.returncode == 0, result.stdout
    plan = planned(result.stdout)
    assert {rule for rule, _ in plan} - {"tiny"} == rules_again
    assert {of_job.rpartition("=")[2] for of_job in wildcards(plan, "fit")} == fitted_again


def test_another_seed_makes_all_random_things_anew(finished):
    again = rules(finished.run("-n", "-p", "tiny", seed=1).stdout)
    assert {"split", "measure", *RUNS_AGAIN, *SHOWN} <= again
    assert not {"prepare", "scale"} & again


# ---------------------------------------------------------------------------------------- what it survives


def test_data_that_cannot_be_had_are_a_line_and_are_asked_for_again(
    finished, tmp_path, server, entry_of_table
):
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(60, 2)), np.arange(60) % 2
    content = "".join(f"{a:.3f},{b:.3f},{y}\n" for (a, b), y in zip(features, labels, strict=True)).encode()
    study = yaml.safe_load((finished.folder / "studies" / "tiny.yaml").read_text())
    study["datasets"]["both"] = ["my-table", "my-moons"]
    study["tables"]["table1"]["models"] = ["lda"]
    catalog = yaml.safe_load((finished.folder / "data.yaml").read_text())
    folder = shutil.copytree(finished.folder, tmp_path / "project", symlinks=True)
    project = type(finished)(folder, study, {**catalog, "my-table": entry_of_table(content, server.url)})

    server.steps = [answer(status=404)]
    result = project.run(TABLE, mirror="no-such-folder")
    assert result.returncode == 0, result.stdout[-5000:]
    table = read_table(project.folder / TABLE).set_index("dataset")
    assert table["verdict"].to_dict() == {"my-table": "no data", "my-moons": "ours only"}
    assert "404" in table.loc["my-table", "reason"]
    assert "404" in result.stdout

    again = project.run("-n", "-p", TABLE, mirror="no-such-folder")
    assert "download" in rules(again.stdout)
    assert not any("my-moons" in of_job for _, of_job in planned(again.stdout))

    server.steps = [answer(content)]
    prepared = "results/data/my-table.npz"
    assert project.run(prepared, mirror="no-such-folder").returncode == 0
    np.testing.assert_allclose(load_dataset(project.folder / prepared).X, features, atol=5e-4)
    assert "Nothing to be done" in project.run("-n", prepared).stdout


# ------------------------------------------------------------------------------------------- what it refuses


@pytest.mark.fault(
    "Configuration",
    "a wrong study, catalog or table of published numbers, in real runs",
    "one line with its place and what is accepted; exit status 1 before any job",
)
def test_a_mistake_in_a_study_is_one_line_before_any_job(new_project):
    project = new_project()
    file = project.folder / "studies" / "tiny.yaml"
    file.write_text(file.read_text().replace("sklearn.svm.SVC\n", "sklearn.svm.SVCC\n"))
    result = project.run("tiny")
    assert result.returncode == 1
    (line,) = [line for line in result.stdout.splitlines() if "studies/tiny.yaml: models.svm" in line]
    assert "did you mean 'SVC'?" in line
    assert "Traceback" not in result.stdout
    assert not (project.folder / "results").exists()
