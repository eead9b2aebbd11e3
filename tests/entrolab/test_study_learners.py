"""Mistakes in what a study sets of its learners, found by importing them."""

import copy
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import yaml
from refused_studies import CATALOG, STUDY, spoilt

from entrolab.jobs.children import GIVEN, JobFailed
from entrolab.stages.check import check, passes
from entrolab.study.config import load_study
from entrolab.study.learners import Asked, learners_asked, mistakes

LEARNER = """
from sklearn.base import BaseEstimator, ClassifierMixin

class Mine(ClassifierMixin, BaseEstimator):
    def __init__(self, alpha=1):
        self.alpha = alpha

    def fit(self, X, y):
        return self

    def predict(self, X):
        return [0] * len(X)
"""
A_MISTAKE = pytest.mark.fault("Configuration", "a mistake in a learner", "one line, before any fit")


@pytest.fixture
def found(tmp_path):
    """A function that writes and reads a study, and finds the mistakes in its learners."""

    def of(study: dict) -> list[str]:
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        return mistakes(learners_asked(load_study(tmp_path / "mine.yaml", CATALOG)))

    return of


@A_MISTAKE
@pytest.mark.parametrize(
    ("place", "value", "at", "hint"),
    [
        # Classes that are not there.
        ("models.svm.estimator", "sklearn.svm.SVCC", "models.svm", "'SVC'"),
        ("models.svm.estimator", "sklaern.svm.SVC", "models.svm", "'sklearn'"),
        ("models.svm.estimator", "catbust.CatBoost", "models.svm", "installed"),
        ("models.svm.estimator", "entrolearn.EEMClasifier", "models.svm", "'EEMClassifier'"),
        ("models.svm.estimator", "sklearn.smv.SVC", "models.svm", "'svm'"),
        ("models.svm.estimator", "sklearn.svm", "models.svm", "a class"),
        ("models.svm.estimator", "sklearn.base.clone", "models.svm", "a class"),
        ("models.svm.estimator", "__main__.SVC", "models.svm", "a class"),
        ("models.svm.steps.0.estimator", "sklearn.decomposition.PCAA", "models.svm.steps.0", "'PCA'"),
        ("models.knn.one_of.knn.estimator", "sklearn.svm.SVCC", "models.knn.one_of.knn", "'SVC'"),
        # Parameters that are not there.
        ("models.svm.params", {"kernl": 1}, "models.svm.params.kernl", "'kernel'"),
        ("models.svm.grid", {"c": [1]}, "models.svm.grid.c", "'C'"),
        ("models.svm.grid", {"pca__whiten": [True]}, "models.svm.grid.pca__whiten", "C, "),
        ("models.svm.grid", {"step1__whitn": [True]}, "models.svm.grid.step1__whitn", "'whiten'"),
        (
            "models.knn.one_of.knn.grid",
            {"n_neighbor": [1]},
            "models.knn.one_of.knn.grid.n_neighbor",
            "hbors'",
        ),
        ("models.knn.grid", {"n_neighbors": [1]}, "models.knn.grid.n_neighbors", "n_hidden"),
        ("tables.growth.models.svm.params", {"gama": 1}, "tables.growth.models.svm.params.gama", "'gamma'"),
        ("figures.plane.params", {"gama": 3}, "figures.plane.params.gama", "'gamma'"),
        # Values that the constraints of scikit-learn refuse.
        ("models.svm.grid.C", [1, 0], "models.svm.grid.C", "(0.0, inf]"),
        ("models.svm.grid.C", ["1"], "models.svm.grid.C", "'1'"),
        ("models.svm.params.kernel", "rbff", "models.svm.params.kernel", "'rbf'"),
        ("models.svm.params", {"degree": 1.5}, "models.svm.params.degree", "an int"),
        ("models.svm.params", {"class_weight": "balancd"}, "models.svm.params.class_weight", "'balanced'"),
        ("models.svm.grid.step1__whiten", ["yes"], "models.svm.grid.step1__whiten", "bool"),
        ("models.svm.steps.0.params.n_components", -1, "models.svm.steps.0.params.n_components", "an int"),
        ("of_dataset.sizes.waves", [0], "models.knn.one_of.knn.grid.n_neighbors", "[1, inf)"),
        ("models.knn.one_of.eem.params.n_hidden", 0, "models.knn.one_of.eem.params.n_hidden", "[1, inf)"),
        ("tables.growth.models.svm.params.C", 0, "tables.growth.models.svm.params.C", "(0.0, inf]"),
        ("figures.plane.params.C", 0, "figures.plane.params.C", "(0.0, inf]"),
        # What no learner is: the methods of a learner and of a step, and the task of a data set.
        ("models.svm.estimator", "sklearn.impute.SimpleImputer", "models.svm", "predict"),
        ("models.svm.steps.0.estimator", "sklearn.svm.SVC", "models.svm.steps.0", "transform"),
        ("models.svm.estimator", "sklearn.svm.SVR", "models.svm", "'moons'"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(found, place, value, at, hint):
    study = spoilt(copy.deepcopy(STUDY), place, value)
    if place == "models.svm.steps.0.estimator":
        del study["models"]["svm"]["steps"][0]["params"], study["models"]["svm"]["grid"]["step1__whiten"]
    if place == "models.svm.estimator":
        study["models"]["svm"] |= {"params": {}, "grid": {}}
        del study["tables"]["growth"], study["figures"]
    [line] = found(study)
    assert line.startswith(f"{at}: ")
    assert hint in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("learner", "params", "hint"),
    [
        ("KELMClassifier", {"gama": 1.0}, "did you mean 'gamma'?"),
        ("LSSVC", {"kernel": "poly", "kernel_params": {"degre": 2}}, "did you mean 'degree'?"),
        ("LSSVC", {"kernel_params": {"degree": 2}}, "'rbf'"),
    ],
)
def test_a_misspelt_parameter_is_one_line_with_the_nearest(learner, params, hint):
    [line] = mistakes([Asked("models.mine", f"entrolearn.{learner}", params=[params])])
    assert hint in line
    assert "\n" not in line


def test_all_mistakes_of_a_study_are_found_at_once_and_each_at_its_first_place(found):
    study = copy.deepcopy(STUDY)
    assert found(study) == []
    study["models"]["svm"]["grid"]["C"] = [0, -1]
    study["models"]["knn"]["one_of"]["knn"]["estimator"] = "sklearn.neighbors.Knn"
    study["figures"]["plane"]["params"]["C"] = -1  # the same value of the same class
    places = [line.partition(":")[0] for line in found(study)]
    assert places == ["models.svm.grid.C", "models.svm.grid.C", "models.knn.one_of.knn"]


def test_each_value_is_asked_once_however_many_data_sets_have_it(tmp_path):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    asked = {entry.place: entry for entry in learners_asked(load_study(tmp_path / "mine.yaml", CATALOG))}
    grid = {"models.svm.grid.C": ["C", [1, 10]], "models.svm.grid.step1__whiten": ["whiten", [True, False]]}
    assert asked["models.svm"].grid | asked["models.svm.steps.0"].grid == grid
    # {of_dataset: sizes} is [1, 2], and [3] on waves.
    values = {"models.knn.one_of.knn.grid.n_neighbors": ["n_neighbors", [1, 2, 3]]}
    assert asked["models.knn.one_of.knn"].grid == values


@A_MISTAKE
@pytest.mark.parametrize(
    ("part", "other", "params", "hint"),
    [
        ("class Mine(ClassifierMixin, BaseEstimator)", "class Mine", {}, "get_params"),
        ("def predict", "def foretell", {}, "predict"),
        ("def fit", "def learn", {}, "fit"),
        ("= alpha", "= float(alpha)", {"alpha": 2}, "alpha"),
        ("self.alpha", "self.strength", {"alpha": 2}, "alpha"),
        ("alpha=1", "**alpha", {"alpha": 2}, "alpha"),
        ("self.alpha = alpha", "raise OSError('no card')", {}, "no card"),
        ("class Mine(ClassifierMixin, BaseEstimator):", "def Mine():", {}, "a class"),
        ("ClassifierMixin", "RegressorMixin", {}, "classifier"),
        ("ClassifierMixin, ", "", {}, None),  # either kind
        ("y):", "y, sample_weight=None):", {}, None),
    ],
)
def test_a_class_of_a_user_is_a_learner_or_one_line(tmp_path, monkeypatch, part, other, params, hint):
    assert part in LEARNER
    asked = of_users(tmp_path, monkeypatch, LEARNER.replace(part, other))
    lines = mistakes([replace(asked, params=[params], tasks={"binary": "moons"})])
    assert len(lines) == (hint is not None)
    assert all(line.startswith("models.mine: ") and hint in line for line in lines)


@A_MISTAKE
@pytest.mark.parametrize(
    ("source", "line", "hint"),
    [
        ("class Mine\n    pass\n", 1, "SyntaxError"),
        ("import numpy\nimport torchh\nclass Mine: pass\n", 2, "torchh"),
        ("from torchh.nn import Module\nclass Mine: pass\n", 1, "torchh"),
        ("x = 1\n\nx / 0\n", 3, "ZeroDivisionError"),
        ("import numpy\nnumpy.linalg.inv(numpy.zeros((2, 2)))\n", 2, "LinAlgError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line_with_its_file_and_line(
    tmp_path, monkeypatch, source, line, hint
):
    [told] = mistakes([of_users(tmp_path, monkeypatch, source)])
    assert f".py: line {line}: " in told
    assert hint in told
    assert "\n" not in told


def of_users(tmp_path, monkeypatch, source: str) -> dict:
    """What is asked of a user's learner, whose module has some source."""
    module = f"of_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, module, raising=False)
    return Asked("models.mine", f"{module}.Mine", methods=["fit", "predict"], params=[{}])


def test_weights_and_thresholds_ask_for_sample_weight_and_decision_values(tmp_path, monkeypatch):
    asked = of_users(tmp_path, monkeypatch, LEARNER)
    [weights, threshold] = mistakes([replace(asked, weights="shop", threshold="shop")])
    assert "sample_weight" in weights
    assert threshold.startswith("models.mine.threshold: ")
    logistic = replace(asked, learner="sklearn.linear_model.LogisticRegression")
    assert mistakes([replace(logistic, weights="shop", threshold="shop")]) == []


def test_a_study_is_checked_again_when_what_it_asks_changes_and_only_then(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs = []

    def run_job(function, *given) -> None:
        job = SimpleNamespace(**dict(zip(GIVEN, given, strict=True)))
        jobs.append(job.output)
        try:
            check(job)
        except SystemExit:
            raise JobFailed("check") from None

    def passed(study: dict) -> bool:
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
        return passes(run_job, "mine", load_study(tmp_path / "mine.yaml", CATALOG))

    study = copy.deepcopy(STUDY)
    assert [passed(study), passed(study), len(jobs)] == [True, True, 1]
    assert [passed({**study, "title": "Another title"}), len(jobs)] == [True, 1]
    kept = (tmp_path / "results/mine/checked.json").read_bytes()
    study["models"]["svm"]["grid"]["C"] = [1, -1]
    assert [passed(study), passed(study), len(jobs)] == [False, False, 3]
    assert "models.svm.grid.C: " in capsys.readouterr().err
    assert (tmp_path / "results/mine/checked.json").read_bytes() == kept
    study["models"]["svm"]["grid"]["C"] = [1, 3]
    assert [passed(study), len(jobs)] == [True, 4]
    (tmp_path / "results/mine/checked.json").write_text("{")  # cut
    assert [passed(study), len(jobs)] == [True, 5]
