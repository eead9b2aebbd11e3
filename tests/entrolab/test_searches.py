"""Searches by divergence beside searches by cross-validation: measured, summed up, asked for."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study, with_entry
from refused_studies import refused
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolab.data.dataset import Dataset
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import frame
from entrolab.experiments.searches import measure as searches
from entrolab.experiments.searches.table import MEASURES
from entrolab.fit.learners import parts_seed, seed_from
from entrolab.fit.protocols import Folds, protocol
from entrolab.study.sections import ConfigError
from entrolab.tables.making import COLUMNS, make_table
from entrolab.tables.rendering import layout, render
from entrolab.tables.types import TABLE_TYPES
from entrolearn.measures import cauchy_schwarz_gaussian
from entrolearn.metrics import gmean_score

HERE = __name__


def dataset(n=90, seed=0):
    """Two classes in three dimensions that overlap, twice as many of the first."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, 3)) + 1.2 * y[:, None] * [1, 0.5, 0]
    return Dataset(X, y, list("abc"), "binary", ["0", "1"], np.zeros(n, dtype=np.int8))


def model(estimator, grid, **changes):
    return {"estimator": estimator, "params": {}, "steps": [], "grid": grid, "one_of": {}, **changes}


LOGISTIC = model(
    "sklearn.linear_model.LogisticRegression",
    {"C": [0.001, 0.03, 1.0, 30.0]},
    params={"class_weight": "balanced"},
    steps=[{"estimator": "sklearn.preprocessing.StandardScaler"}],
)


def spec(models, **changes):
    asked = {
        "study": "paper",
        "table": "searches",
        "dataset": "data",
        "measured_by": "entrolab.experiments.searches.measure",
        "seed": 0,
        "folds": None,
        "criterion": "gaussian",
        "scoring": "gmean",
        "inner": 3,
        "seconds": 60,
        "gib": 8,
        "protocol": {"folds": 3, "repeats": 1},
        "models": models,
    }
    return Measurement(**asked | changes)


def measured(models, data=None, **changes):
    """What is measured, by model, metric and reading; and how often progress was told."""
    told = []
    rows = searches.measure(
        lambda which: data or dataset(), spec(models, **changes), lambda *done: told.append(done)
    )
    return frame(rows).set_index(["model", "metric", "reading"]).sort_index(), told


# --- what is measured ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    return measured({"logistic": LOGISTIC})


def naive(data, divergence_of, scoring):
    """Both searches written out: a loop over folds, points and inner folds, and nothing shared."""
    part = Folds(3, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    seed = seed_from(0, "paper", "data", "logistic", 0)
    points = LOGISTIC["grid"]["C"]

    def fitted(C, rows):
        learner = LogisticRegression(C=C, class_weight="balanced")
        return make_pipeline(StandardScaler(), learner).fit(data.X[rows], data.y[rows])

    for fold in range(3):
        learnt, tested = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        inner = Folds(3, 1).draw(data.y[learnt], seed)[0]
        machines = [fitted(C, learnt) for C in points]
        divergences = [divergence_of(machine, data.X[learnt], data.y[learnt]) for machine in machines]
        validated = []
        for C in points:
            halves = [(learnt[inner != k], learnt[inner == k]) for k in range(3)]
            each = [scoring(data.y[out], fitted(C, rows).predict(data.X[out])) for rows, out in halves]
            validated.append(np.mean(each))
        for way, values in (("divergence", divergences), ("cv", validated)):
            best = int(np.argmax(values))
            yield fold + 1, way, best, machines[best].predict(data.X[tested]), data.y[tested]


def divergence_of(machine, X, y):
    projection = machine.decision_function(X)
    moments = [number for k in (1, 0) for number in (projection[y == k].mean(), projection[y == k].var())]
    return cauchy_schwarz_gaussian(*moments)


def test_what_is_chosen_and_scored_equals_a_loop_over_folds_and_points(found):
    rows, _ = found
    chosen = set()
    for fold, way, best, predicted, y in naive(dataset(), divergence_of, gmean_score):
        point = rows.loc[("logistic", f"point_{way}", f"fold {fold}: C = {LOGISTIC['grid']['C'][best]}")]
        assert point["value"] == best
        chosen.add((way, best))
        for name, score in (("gmean", gmean_score), ("balanced_accuracy", balanced_accuracy_score)):
            value = rows.loc[("logistic", f"{name}_{way}", f"fold {fold}"), "value"]
            assert value == pytest.approx(100 * score(y, predicted))
    assert len(chosen) > 2  # the ways part, or a fold parts from others: nothing is right by chance


def test_cross_validation_on_the_path_chooses_what_refits_choose(found):
    rows, _ = found
    for name in ("gmean", "balanced_accuracy"):
        ours, theirs = (rows.loc[("logistic", f"{name}_{way}")]["value"] for way in ("path_cv", "cv"))
        pd.testing.assert_series_equal(ours, theirs)


def test_means_are_over_folds_ratios_of_means_and_differences_divergence_less_cv(found):
    of = found[0].loc["logistic"]["value"]
    for metric in MEASURES:
        folds = [of[metric, f"fold {fold}"] for fold in (1, 2, 3)]
        if not metric.startswith("ratio"):
            assert of[metric, ""] == pytest.approx(np.mean(folds))
    for ratio, above in (("ratio", "seconds_cv"), ("ratio_path", "seconds_path_cv")):
        for reading in ("", "fold 1", "fold 3"):
            assert of[ratio, reading] == pytest.approx(of[above, reading] / of["seconds_divergence", reading])
    for name in ("gmean", "balanced_accuracy"):
        difference = of[f"{name}_divergence", ""] - of[f"{name}_cv", ""]
        assert of[f"{name}_difference", ""] == pytest.approx(difference)
    deviations = found[0].loc["logistic"]["std"]
    folds = [of["gmean_difference", f"fold {fold}"] for fold in (1, 2, 3)]
    assert deviations["gmean_difference", ""] == pytest.approx(np.std(folds, ddof=1))
    assert np.isnan([deviations["ratio", ""], deviations["same", ""]]).all()


def test_ways_that_choose_the_same_score_the_same(found):
    of = found[0].loc["logistic"]["value"]
    same = [fold for fold in (1, 2, 3) if of["same", f"fold {fold}"] == 100]
    for fold in same:
        assert of["gmean_difference", f"fold {fold}"] == 0
    only = measured({"one": {**LOGISTIC, "grid": {"C": [1.0]}}})[0].loc["one"]["value"]
    assert only["same", ""] == 100
    assert only["gmean_difference", ""] == only["balanced_accuracy_difference", ""] == 0


def test_progress_is_told_fold_by_fold(found):
    assert found[1] == [(1, 3), (2, 3), (3, 3), (3, 3)]


def test_learners_to_choose_from_are_searched_together():
    chooses = model(
        None,
        {},
        steps=[{"estimator": "sklearn.preprocessing.StandardScaler"}],
        one_of={
            "logistic": {"estimator": LOGISTIC["estimator"], "params": {}, "grid": {"C": [0.1, 1.0]}},
            "lda": {
                "estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
                "params": {},
                "grid": {},
            },
        },
    )
    rows, _ = measured({"chooses": chooses}, folds=1)
    (taken,) = rows.loc[("chooses", "point_divergence")].index
    data = dataset()
    part = Folds(3, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    X, y = data.X[part != 0], data.y[part != 0]
    candidates = {
        "fold 1: one_of = logistic, C = 0.1": LogisticRegression(C=0.1),
        "fold 1: one_of = logistic, C = 1.0": LogisticRegression(C=1.0),
        "fold 1: one_of = lda": LinearDiscriminantAnalysis(),
    }
    scaled = StandardScaler().fit_transform(X)
    values = {name: divergence_of(clone(one).fit(scaled, y), scaled, y) for name, one in candidates.items()}
    assert taken == max(values, key=values.get)


def test_folds_may_be_fewer_and_trials_are_divisions_too():
    rows, _ = measured({"logistic": LOGISTIC}, folds=2, inner=2)
    assert list(rows.loc[("logistic", "ratio")].index) == ["", "fold 1", "fold 2"]
    trials = protocol(
        {"trials": 2, "train": 50, "test": 20, "inner": {"folds": 4, "used": 4}, "shuffle": True}
    )
    divided = list(searches.splits(trials, dataset().y, 0))
    assert [(len(learnt), len(tested)) for learnt, tested in divided] == [(50, 20), (50, 20)]
    assert not any(np.intersect1d(learnt, tested).size for learnt, tested in divided)


class Unused:
    """A protocol that leaves rows aside."""

    @staticmethod
    def draw(y, seed):
        return np.array([[0, 1, -1, 0, 1, -1]])

    partition = Folds(2, 1).partition


def test_rows_that_a_protocol_leaves_aside_are_neither_learnt_nor_tested():
    divided = [(learnt.tolist(), tested.tolist()) for learnt, tested in searches.splits(Unused, None, 0)]
    assert divided == [([1, 4], [0, 3]), ([0, 3], [1, 4])]


# --- what goes wrong -------------------------------------------------------------------------------------


class Slow(ClassifierMixin, BaseEstimator):
    """Answers by the first feature; takes for ever on rows that add up to a number."""

    def __init__(self, forever=0.0, threshold=0.0):
        self.forever, self.threshold = forever, threshold

    def fit(self, X, y):
        if np.isclose(X.sum(), self.forever):
            time.sleep(60)
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return X[:, 0] - self.threshold

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_a_search_that_takes_too_long_says_after_how_many_folds():
    data = dataset()
    part = Folds(3, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    second = float(data.X[part != 1].sum())
    slow = model(f"{HERE}.Slow", {"threshold": [0.5, 0.7]}, params={"forever": second})
    rows, told = measured({"slow": slow, "logistic": LOGISTIC}, data, seconds=6.0)
    (error,) = rows.loc["slow"]["error"]
    assert error == "after 1 of 3 folds: time limit of 6 s"
    assert rows.loc[("logistic", "ratio", ""), "status"] == "ok"
    assert told[:2] == [(1, 6), (3, 6)]


def test_a_learner_that_divergence_cannot_compare_is_a_row_with_the_reason():
    tree = model("sklearn.tree.DecisionTreeClassifier", {"max_depth": [1, 2]})
    rows, _ = measured({"tree": tree}, folds=1)
    assert rows.loc["tree"]["status"].tolist() == ["failed"]
    assert rows.loc["tree"]["error"].item().startswith("TypeError: DecisionTreeClassifier has neither")


# --- the table -------------------------------------------------------------------------------------------


ENTRY = {
    "type": "searches",
    "datasets": "all",
    "caption": "Searches",
    "models": ["eem", "svm"],
    "measures": ["seconds_cv", "ratio", "gmean_difference"],
}


class Results:
    """What was measured of each data set: seconds, a ratio and a difference of one model of two."""

    def __init__(self, **found):
        self.by_dataset = found

    def measured(self, table, dataset):
        if dataset not in self.by_dataset:
            return [*frame([{"status": "no data", "error": "404"}]).itertuples(index=False)]
        ratio, difference = self.by_dataset[dataset]
        rows = [
            {"model": "eem", "metric": "seconds_cv", "value": 0.0123, "std": 0.001},
            {"model": "eem", "metric": "ratio", "value": ratio},
            {"model": "eem", "metric": "ratio", "reading": "fold 1", "value": 3},
            {"model": "eem", "metric": "gmean_difference", "value": difference, "std": 1},
            {"model": "svm", "status": "failed", "error": "after 1 of 3 folds: time limit of 6 s"},
        ]
        return [*frame(rows).itertuples(index=False)]


def table_of(datasets, results, **changes):
    study = made_study(
        {
            "metrics": ["gmean"],
            "datasets": {"all": datasets},
            "models": {"eem": "entrolearn.EEMClassifier", "svm": "sklearn.svm.SVC"},
            "tables": {"costs": {**ENTRY, **changes}},
        }
    )
    asked = study.spec_of_table("costs")
    nothing = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])
    return make_table(results, nothing, asked), asked


def test_the_last_row_has_the_geometric_mean_of_ratios_and_the_mean_of_differences():
    results = Results(iris=(2, 1.0), wine=(8, -2.5))
    table, asked = table_of(["iris", "wine", "zoo"], results)
    of_all = table[table["dataset"] == "all"].set_index(["model", "metric"])
    assert of_all.loc[("eem", "ratio"), "ours"] == pytest.approx(4)
    assert (
        of_all.loc[("eem", "ratio"), "reason"]
        == "1 of 3 data sets have no number; 2 to 8 on single data sets"
    )
    difference = of_all.loc[("eem", "gmean_difference")]
    assert difference["ours"] == pytest.approx(-0.75)
    assert difference["ours_std"] == pytest.approx(np.std([1.0, -2.5], ddof=1))
    assert difference["reason"].endswith("higher on 1 of 2 data sets and lower on 1")
    assert set(of_all.loc["svm", "reason"]) == {"no data set has a number"}
    assert "seconds_cv" not in of_all.index.get_level_values("metric")
    shown = layout(table[COLUMNS], asked)
    assert [cell.ours for cell in shown["rows"][-1]["cells"]] == ["-0.8", ""]
    assert [[cell.ours for cell in row["cells"]][0] for row in shown["rows"][:3]] == ["0.012", "2.0", "1.0"]
    page = render(table, asked, "md")
    assert "time limit of 6 s" in page
    assert "all data sets" in page


def test_enough_differences_are_tested_and_equal_ones_count_for_neither():
    """Six of one sign have a two-sided p of 2 / 2^6; the seventh is no difference."""
    results = Results(**{f"d{k}": (1, float(k)) for k in range(7)})
    table, _ = table_of([f"d{k}" for k in range(7)], results)
    reason = table.set_index(["dataset", "model", "metric"]).loc[("all", "eem", "gmean_difference"), "reason"]
    assert reason == (
        "divergence is higher on 6 of 7 data sets and lower on 0 (Wilcoxon signed-rank p = 0.031)"
    )


def test_a_table_says_what_is_compared_and_of_the_path_only_where_it_is_shown():
    asked = table_of(["iris"], Results())[1]
    said = TABLE_TYPES["searches"].says(asked)
    assert "all folds" in said
    assert "5 stratified inner folds" in said
    assert "GMEAN" in said
    assert "On the path" not in said
    assert "On the path" in TABLE_TYPES["searches"].says(with_entry(asked, measures=["ratio_path"]))
    of_trials = replace(with_entry(asked, folds=2, scoring="balanced_accuracy"), trials=9)
    fewer = TABLE_TYPES["searches"].says(of_trials)
    assert "the first 2 trials" in fewer
    assert "balanced accuracy" in fewer


# --- the entry of a study --------------------------------------------------------------------------------


@pytest.fixture
def study_of_searches(study):
    study["of_dataset"] = {"sizes": {"heart": [5, 10], "default": [20]}}
    study["models"]["sized"] = {
        "label": "Sized",
        "estimator": "entrolearn.EEMClassifier",
        "grid": {"n_hidden": {"of_dataset": "sizes"}},
        "criteria": ["dcs_gaussian"],
    }
    study["tables"]["costs"] = {
        "type": "searches",
        "caption": "Costs",
        "datasets": "small",
        "models": ["svm", "sized"],
    }
    return study


def test_a_measurement_holds_what_decides_it_and_trains_nothing(load, study_of_searches):
    study_of_searches["protocol"]["repeats"] = 4
    study_of_searches["tables"]["costs"]["measures"] = ["ratio"]
    study = load(study_of_searches)
    found = study.measurement("costs", "heart", 0)
    assert found.models["sized"]["grid"] == {"n_hidden": [5, 10]}
    assert found.models["svm"]["params"] == {"kernel": "rbf"}
    assert (found.folds, found.inner, found.criterion) == (None, 5, "gaussian")
    assert found.protocol["repeats"] == 1  # the first is what it is, however many there are
    assert not hasattr(found, "measures")  # what is shown decides nothing
    assert not {"sized"} & {model for _, model in study.runs()}
    assert study.files_of_table("costs") == [
        f"results/mine/seed0/measured/costs/{dataset}.parquet" for dataset in ("heart", "sonar")
    ]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("models", ["lda"], "unknown model with a grid and a learner of classes 'lda'; accepted: svm, eem"),
        ("models", [], "tables.costs.models: found [], expected all, or a list of model names"),
        ("measures", ["ration"], "tables.costs.measures.0: found 'ration'"),
        ("scoring", "accuracy", "tables.costs.scoring: found 'accuracy'"),
        ("inner", 1, "tables.costs.inner: found 1"),
    ],
)
def test_a_mistake_in_searches_is_one_line(load, study_of_searches, key, value, message):
    study_of_searches["tables"]["costs"][key] = value
    assert message in refused(load, study_of_searches)


def test_a_grid_that_differs_between_data_sets_is_a_list_for_each(load, study_of_searches):
    study_of_searches["of_dataset"]["sizes"]["default"] = 20
    with pytest.raises(
        ConfigError, match="models.sized.grid.n_hidden: found 20 for 'sonar', expected a list"
    ):
        load(study_of_searches)


def test_divergence_is_that_of_two_classes(load, study_of_searches, entries):
    entries["heart"]["task"] = "multiclass"
    with pytest.raises(ConfigError, match="costs.datasets: unknown binary data set 'heart'; accepted: sonar"):
        load(study_of_searches)
