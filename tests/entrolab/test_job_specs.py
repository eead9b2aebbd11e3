"""Cells, and what decides each of them: what a study comes down to."""

import ast

from entrolab.fit.metrics import METRICS
from entrolab.fit.run import Run
from entrolab.io.files import FILES
from entrolab.tables.types import TABLE_TYPES

DATASETS = ("heart", "sonar", "two-moons")  # of each study here


def test_runs_are_those_that_tables_and_figures_show(load, study):
    study = load(study)
    four = [("heart", "svm"), ("heart", "lda"), ("sonar", "svm"), ("sonar", "lda")]

    assert study.runs_of_table("table1") == four
    assert study.runs_of_table("table2") == [("two-moons", "svm")]
    assert study.runs_of_table("seconds") == [("two-moons", "lda")]
    for measured in ("counts", "ranks", "growth"):
        assert study.runs_of_table(measured) == []
    assert study.runs_of_figure("figure1") == []
    assert study.runs_of_figure("figure2") == [("two-moons", "eem")]
    moons = [("two-moons", model) for model in ("svm", "lda", "eem")]
    assert study.runs() == [*four, *moons]


def test_runs_are_those_that_have_a_learner(load_trials, study_of_trials):
    study = load_trials(study_of_trials)
    assert study.tables["errors"].models == ["ridge", "svm"]
    assert study.runs() == [
        ("heart", "ridge"), ("heart", "svm"), ("sonar", "ridge"), ("sonar", "svm"), ("two-moons", "ridge")
    ]  # fmt: skip
    assert "results/mine/seed0/records/heart/other.json" not in study.files_of_table("accuracies")


def test_the_files_of_a_table_are_those_that_its_kind_reads(load, study):
    study["tables"]["table2"]["among"] = {"gamma": {"max": 1}}
    study = load(study)

    assert study.files_of_table("counts") == ["results/data/heart.npz", "results/data/sonar.npz"]
    assert study.files_of_table("ranks") == [
        "results/mine/seed0/measured/ranks/heart.parquet",
        "results/mine/seed0/measured/ranks/sonar.parquet",
    ]
    assert study.files_of_table("seconds") == [
        "results/mine/seed0/models/two-moons/lda",
        "results/mine/seed0/records/two-moons/lda.json",
    ]
    assert study.files_of_table("table2") == [
        "results/mine/seed0/candidates/two-moons/svm.parquet",
        "results/mine/seed0/records/two-moons/svm.json",
    ]


def test_figures_and_tables_are_made_of_what_their_kinds_read(load_trials, study_of_all_trials):
    study = load_trials(study_of_all_trials)
    assert study.files_of_table("sparse") == ["results/mine/seed0/measured/sparse/generated.parquet"]
    assert study.files_of_figure("density") == ["results/mine/seed0/measured/sparse/generated.parquet"]
    assert study.files_of_figure("plane") == ["results/mine/scaled/heart.npz"]
    stages = (
        "seed0/records/{}/ridge.json",
        "seed0/selection/{}/ridge.parquet",
        "seed0/predictions/{}/ridge.parquet",
    )
    of_run = (
        "results/mine/" + stages[0],
        "results/data/{}.npz",
        *(f"results/mine/{one}" for one in stages[1:]),
    )
    assert study.files_of_figure("each") == [
        file.format(dataset) for dataset, _ in study.runs_of_figure("each") for file in of_run
    ]
    assert "results/mine/seed0/folds/heart.npz" in study.files_of_table("sizes")
    assert ("two-moons", "svm") not in study.runs_of_table("chosen")


def test_all_that_tables_read_has_a_path():
    assert {stage for one in TABLE_TYPES.values() for stage in one.stages} <= FILES.keys()


def test_a_run_whose_criteria_select_nothing_has_no_models(load, study):
    study["models"]["lda"]["criteria"] = []
    study["tables"]["table1"]["models"] = ["svm", "lda"]
    study = load({**study, "tables": {"table1": study["tables"]["table1"]}})
    for stage, without in {"models": {"lda"}, "selection": set()}.items():
        assert study.files_of_runs(stage) == [
            FILES[stage].format(study="mine", seed=0, dataset=dataset, model=model)
            for dataset, model in study.runs()
            if model not in without
        ]


def test_score_tables_are_those_of_a_data_set_or_all(load, study):
    study = load(study)
    assert study.score_tables() == ["table1", "table2"]
    assert (study.score_tables("heart"), study.score_tables("two-moons")) == (["table1"], ["table2"])


def test_a_run_does_not_change_with_criteria_that_its_candidates_have_or_metrics_of_selected_models(
    load, study
):
    study["candidates"] = ["cv", "dcs_gaussian", "dcs_kde"]
    before = load(study)
    study["criteria"] = ["dcs_kde", "dcs_gaussian", "cv"]
    study["metrics"] = [*study["metrics"], *(name for name in METRICS if name not in study["metrics"])]
    after = load(study)
    for dataset, model in before.runs():
        assert before.run(dataset, model, 0) == after.run(dataset, model, 0)
    fewer = load({**study, "candidates": study["criteria"][1:], "criteria": ["cv", "dcs_gaussian"]})
    assert fewer.run("heart", "svm", 0) != after.run("heart", "svm", 0)


def test_a_run_changes_with_its_own_model_alone(load, study):
    before = load(study)
    study["models"]["svm"]["grid"]["C"] = [1, 10]
    study["tables"]["table1"]["caption"] = "Another"
    after = load(study)

    assert before.run("heart", "svm", 0) != after.run("heart", "svm", 0)
    assert before.run("heart", "lda", 0) == after.run("heart", "lda", 0)


def test_a_run_holds_the_values_of_its_data_set(load_trials, study_of_trials):
    study = load_trials(study_of_trials)
    heart, sonar = (study.run(dataset, "ridge", 0) for dataset in ("heart", "sonar"))

    assert (heart.params, heart.grid) == ({"max_iter": 7}, {"alpha": [0.5, 1.0, 2.0]})
    assert (sonar.params, sonar.grid) == ({"max_iter": 9}, {"alpha": [1, 2]})
    assert heart.protocol == {
        "trials": 20, "train": 100, "test": 30, "inner": {"folds": 4, "used": 1}
    }  # fmt: skip
    assert sonar.protocol["inner"] == {"folds": 4, "used": 4}
    assert [study.scaling_of(dataset)["method"] for dataset in DATASETS] == ["minmax", "maxabs", "minmax"]


def test_a_run_is_read_from_its_values_of_builtin_types_whose_text_is_the_same_for_equal_runs(
    load, study_of_alternatives
):
    """Snakemake repeats a fit when the text of its params changes, see `run_of` in common.smk."""
    runs = [load(study_of_alternatives).run("heart", "chooses", 0) for _ in range(2)]
    dumped = [run.model_dump() for run in runs]
    assert ast.literal_eval(repr(dumped[0])) == dumped[0]
    assert repr(dumped[0]) == repr(dumped[1])
    assert Run.model_validate(dumped[0]) == runs[0]


def test_a_run_has_the_learner_and_the_metrics_of_its_task(load_trials, study_of_trials):
    study = load_trials(study_of_trials)
    runs = [study.run(dataset, "ridge", 0) for dataset in DATASETS]
    assert [run.estimator.rpartition(".")[2] for run in runs] == ["RidgeClassifier"] * 2 + ["Ridge"]
    assert [run.metrics for run in runs] == [["accuracy"], ["accuracy"], ["rmse"]]


def test_a_run_holds_all_learners_that_a_model_chooses_from(load, study_of_alternatives):
    study = load(study_of_alternatives)
    heart, sonar = (study.run(dataset, "chooses", 0) for dataset in ("heart", "sonar"))

    assert (heart.estimator, heart.grid) == (None, {"step1__n_components": [1, 2]})
    assert heart.one_of["svm"].params == {"class_weight": "balanced"}
    assert heart.one_of["svm"].grid == {"C": [1.0, 10.0]}
    assert sonar.one_of["svm"].grid == {"C": [3]}
    assert heart.one_of["knn"].grid == {"n_neighbors": [1, 3, 5]}
    assert ("heart", "chooses") in study.runs_of_table("table1")
    assert study.run("heart", "svm", 0).one_of == {}


def test_a_model_may_have_fewer_trials_and_shares_the_draws(load_trials, study_of_trials):
    study = load_trials(study_of_trials)
    assert study.run("heart", "svm", 0).protocol["trials"] == 5
    assert study.protocol_of("heart")["trials"] == 20


def test_training_needs_its_runs_trained_and_information_is_measured(load_trials, study_of_training):
    study = load_trials(study_of_training)
    runs = [(dataset, model) for dataset in ("heart", "sonar") for model in ("ridge", "svm")]
    assert study.runs_of_table("taken") == runs
    assert study.files_of_table("taken") == [
        *(f"results/mine/seed0/selection/{dataset}/{model}.parquet" for dataset, model in runs),
        *(f"results/mine/seed0/predictions/{dataset}/{model}.parquet" for dataset, model in runs),
        *(f"results/mine/seed0/records/{dataset}/{model}.json" for dataset, model in runs),
        *(f"results/mine/seed0/models/{dataset}/{model}" for dataset, model in runs),
    ]
    assert study.runs_of_table("known") == []
    assert study.files_of_table("known") == [
        "results/mine/seed0/measured/known/heart.parquet",
        "results/mine/seed0/measured/known/sonar.parquet",
    ]
    heart = study.measurement("known", "heart", seed=0)
    assert heart.models == {
        "ridge": {
            "estimator": "sklearn.linear_model.RidgeClassifier",
            "params": {"max_iter": 7},
            "steps": [],
        },
        "svm": {"estimator": "sklearn.svm.SVC", "params": {"C": 2}, "steps": []},
    }
    assert heart.protocol == study.protocol_of("heart")


def test_rows_in_the_order_of_the_files_have_one_trial(load_trials, study_of_trials):
    study_of_trials["of_dataset"]["shuffled"] = {"default": True, "heart": False}
    study_of_trials["protocol"]["shuffle"] = {"of_dataset": "shuffled"}
    study = load_trials(study_of_trials)
    for model in ("ridge", "svm"):
        assert study.run("heart", model, 0).protocol["trials"] == 1
    assert study.protocol_of("heart")["trials"] == 1
    assert study.protocol_of("sonar")["trials"] == 20


def test_generated_data_are_measured_with_the_learner_of_their_task(load_trials, study_of_all_trials):
    study = load_trials(study_of_all_trials)
    measured = study.measurement("sparse", "generated", 0)
    assert measured.models["ridge"]["estimator"] == "sklearn.linear_model.RidgeClassifier"
    assert measured.models["ridge"]["params"]["alpha"] == 2
    assert (measured.task, measured.params["dims"]) == ("binary", [10, 100])


def test_a_figure_resolves_its_names(load, study):
    study = load(study)

    process = study.spec_of_figure("figure1")
    assert list(process.learners.values()) == [
        {
            "estimator": "entrolearn.EEMClassifier",
            "steps": [],
            "params": {"activation": "rbf", "n_hidden": 9},
        }
    ]
    assert process.seed != study.model_copy(update={"seed": 1}).spec_of_figure("figure1").seed
    curves = study.spec_of_figure("figure2")
    assert (curves.datasets, list(curves.models)) == (["two-moons"], ["eem"])
    assert study.figures["figure1"].notes == []


def test_projections_are_fitted_anew_and_need_nothing_trained(load, study_of_projections):
    study = load(study_of_projections)
    assert study.runs_of_figure("planes") == []
    assert study.files_of_figure("planes") == [
        f"results/mine/scaled/{dataset}.npz" for dataset in ("heart", "heart", "sonar", "sonar")
    ]
    learners = study.spec_of_figure("planes").learners
    assert list(learners) == [
        (dataset, model) for dataset in ("heart", "sonar") for model in ("pca", "mixture")
    ]
    each = list(learners.values())
    assert [each[k]["params"] for k in (0, 2)] == [{"n_components": 2}, {"n_components": 1}]
    assert each[1] == {"estimator": "sklearn.mixture.GaussianMixture", "params": {}, "steps": []}


def test_separability_is_measured_of_the_steps_and_their_grid_alone(load, study_of_alternatives):
    study_of_alternatives["tables"]["apart"]["models"] = ["lda", "chooses"]
    study_of_alternatives["models"]["lda"]["grid"] = {"shrinkage": [0.1, 0.2]}  # of the learner
    measured = load(study_of_alternatives).measurement("apart", "heart", seed=0)
    pca = [{"estimator": "sklearn.decomposition.PCA"}]
    grid = {"step1__n_components": [1, 2]}
    assert measured.steps == {"lda": [{"estimator": "sklearn.preprocessing.StandardScaler"}], "chooses": pca}
    assert measured.grids == {"lda": {"grid": {}, "one_of": {}}, "chooses": {"grid": grid, "one_of": {}}}
    nothing = {"estimator": None, "params": {}, "one_of": {}}
    assert measured.learners()["chooses"] == nothing | {"steps": pca, "grid": grid}
