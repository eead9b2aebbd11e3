"""The page of a learner: whose it is, where it wins and where it loses."""

from dataclasses import replace

import numpy as np
import pandas as pd
from html_pages import Page
from reported_study import CATALOG

from entrolab.report import build_report
from entrolab.report.models import learners, model_page, standing

SVM, TREE = "sklearn.svm.SVC", "sklearn.tree.DecisionTreeClassifier"


def test_a_model_is_about_its_learner_or_about_what_comes_before_a_choice_of_learners():
    study = {
        "models": {
            "plain": {"estimator": SVM, "steps": [{"estimator": "sklearn.decomposition.PCA"}]},
            "by_task": {"estimators": {"classification": SVM, "regression": "sklearn.svm.SVR"}, "steps": []},
            "projection": {
                "one_of": {"svm": {"estimator": SVM}, "tree": {"estimator": TREE}},
                "steps": [{"estimator": "sklearn.preprocessing.StandardScaler"}, {"estimator": "mine.Plane"}],
            },
            "chosen": {"one_of": {"svm": {"estimator": SVM}, "tree": {"estimator": TREE}}, "steps": []},
            "print": {"published_only": True, "steps": []},
        }
    }
    assert learners(study) == {
        SVM: ["plain", "by_task", "chosen"],
        "sklearn.svm.SVR": ["by_task"],
        "mine.Plane": ["projection"],
        TREE: ["chosen"],
    }


def scored(results, metric, *scores):
    """The study's table with scores of both models, data set by data set."""
    rows = [
        (dataset, model, metric, score)
        for dataset, pair in zip(("a", "b", "c"), scores, strict=True)
        for model, score in zip(("eem_rbf", "svm_rbf"), pair, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "model", "metric", "ours"]).assign(verdict="ours only")
    return replace(results, tables={"table4": table})


def test_wins_losses_and_ties_are_counted_where_two_have_a_number(results):
    first, second = standing(scored(results, "gmean", (90, 80), (70, 70), (np.nan, 60)))
    assert (first["n"], first["n_best"], first["n_worst"], first["behind"]) == (2, 2, 1, 0)
    assert (second["n"], second["n_best"], second["n_worst"], second["behind"]) == (2, 1, 2, 5)
    assert first["best"] == {"keys": ["a", "b"], "more": 0}
    assert second["worst"] == {"keys": ["a", "b"], "more": 0}


def test_of_errors_less_is_better(results):
    first, second = standing(scored(results, "rmse", (0.1, 0.2), (0.3, 0.2), (0.1, 0.4)))
    assert (first["n_best"], second["n_best"]) == (2, 1)


def test_a_learner_of_one_task_is_not_judged_by_scores_of_another(results):
    models = results.study["models"] | {
        "eem_rbf": {
            **results.study["models"]["eem_rbf"],
            "estimators": {"classification": SVM, "regression": TREE},
        }
    }
    del models["eem_rbf"]["estimator"]
    own = replace(results, study={**results.study, "models": models})
    lines = standing(scored(own, "rmse", (0.1, 0.2), (0.1, 0.2), (0.1, 0.2)))
    pages = {path: model_page(path, [own], {own.key: lines}) for path in (SVM, TREE)}
    assert {path: [line["key"] for line in page["uses"][0]["standing"]] for path, page in pages.items()} == {
        SVM: ["svm_rbf"],
        TREE: ["eem_rbf"],
    }
    # Both data sets are binary.
    assert [pages[path]["uses"][0]["models"][0]["n_cells"] for path in (SVM, TREE)] == [2, 0]


def test_a_grid_is_said_in_short_and_powers_of_two_as_such(results):
    grid = {
        "C": [2.0**k for k in range(-30, 10, 5)],
        "n": [1, 2],
        "w": [0.5, 0.0],
        "size": {"of_dataset": "s"},
    }
    models = {"eem_rbf": {**results.study["models"]["eem_rbf"], "grid": grid}}
    page = model_page(
        "entrolearn.EEMClassifier",
        [replace(results, study={**results.study, "models": models}, records=[])],
        {results.key: []},
    )
    said = page["uses"][0]["models"][0]["grid"]
    assert said == "C = 2^-30, 2^-25 … 2^5; n = 1, 2; w = 0.5, 0; size by data set"


def test_a_page_says_what_it_is_and_where_its_runs_are(report):
    page = Page(report / "models" / "entrolearn.EEMClassifier.html")
    for said in (
        "Extreme entropy machine: random hidden units",
        "arXiv:1501.05279",
        "n_hidden = 50, 100",
        "2, 1 without a result",
        "tags.model = 'eem_rbf'",
        "from entrolearn import EEMClassifier",
    ):
        assert said in page.said
    assert "../paper.html#table4" in page.links
    assert "../datasets/iris.html" in page.links


def test_a_learner_without_a_source_to_read_has_a_page(results, tmp_path):
    models = {name: {**model, "estimator": "mine.Machine"} for name, model in results.study["models"].items()}
    own = replace(results, study={**results.study, "models": models})
    index = build_report([own], tmp_path / "report", catalog=CATALOG)
    page = Page(index.with_name("models") / "mine.Machine.html")
    assert "no docstring" in page.said
