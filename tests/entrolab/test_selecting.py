"""Selection: the rules of choice."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from logistic_run import changed, logistic_run
from sklearn.datasets import make_classification

from entrolab.data.dataset import Dataset
from entrolab.fit.predictions import score_selection
from entrolab.fit.protocols import Folds
from entrolab.fit.selection import most_chosen, restrict_grid, select
from entrolab.fit.training import train_run
from entrolab.io import limits
from entrolab.results.reader import Results
from entrolab.tables.scores import Limits
from entrolab.text import Unreadable

SPEC = logistic_run()
CRITERIA, METRICS = SPEC.candidates, SPEC.metrics

NAN, INF = np.nan, np.inf


def candidates(*folds: dict) -> pd.DataFrame:
    """Candidate rows of one repeat: for each fold a dict of columns, one value per grid point."""
    rows = []
    for fold, columns in enumerate(folds):
        n_points = len(columns["test_gmean"])
        for point in range(n_points):
            rows.append(
                {
                    "study": "mine", "dataset": "points", "model": "logistic",
                    "repeat": 0, "fold": fold, "point": point, "params": f'{{"C": {point}}}',
                    "cv_gmean": 0.5, "dcs_gaussian": 1.0, "dcs_kde": 1.0,
                    "test_accuracy": 0.25, "success": True, "note": "", "error": "",
                }
                | {name: values[point] for name, values in columns.items()}
            )  # fmt: skip
    return pd.DataFrame(rows)


def points(table: pd.DataFrame, criterion: str) -> list[int]:
    scores = select(table, CRITERIA, METRICS)
    return scores.loc[scores["criterion"] == criterion, "point"].tolist()


def test_limits_are_inclusive_and_leave_other_candidates_alone():
    table = candidates({"test_gmean": [0.1, 0.2, 0.3, 0.4]})  # C = 0, 1, 2, 3
    assert restrict_grid(table, {"C": {"max": 1.0}})["point"].tolist() == [0, 1]
    assert restrict_grid(table, {"C": {"min": 1, "max": 2 - 1e-12}})["point"].tolist() == [1, 2]
    assert len(restrict_grid(table, {"gamma": {"max": 0}})) == 4
    assert len(restrict_grid(table[:0], {"C": {"max": 1}})) == 0


def test_values_that_are_not_numbers_are_not_within_limits():
    table = candidates({"test_gmean": [0.1, 0.2, 0.3]})
    table = pd.concat([table, table])
    table["params"] = [f'{{"gamma": {value}}}' for value in ('"scale"', "1.0", "[1]", "null", "true", "NaN")]
    assert restrict_grid(table, {"gamma": {"min": 0.5}})["point"].tolist() == [1]


def test_choosing_within_limits_is_choosing_from_a_smaller_grid():
    table = candidates({"dcs_gaussian": [1.0, 2.0, 9.0], "test_gmean": [0.1, 0.2, 0.9]})
    limited = restrict_grid(table, {"C": {"max": 1}})
    assert points(table, "dcs_gaussian") == [2]
    assert points(limited, "dcs_gaussian") == points(limited, "oracle") == [1]


@pytest.mark.parametrize(
    ("cv", "gaussian", "chosen"),
    [
        ([0.1, 0.9, 0.5], [3, 2, 1], 1),  # the largest value
        ([NAN, 0.2, NAN], [9, 1, 9], 1),  # never an undefined one
        ([0.7, 0.7, 0.6], [1, 2, 9], 1),  # ties: the larger Gaussian divergence
        ([0.7, 0.7, 0.6], [NAN, 2, 9], 1),  # in which undefined counts as the smallest
        ([0.7, 0.7, 0.7], [2, 2, 1], 0),  # then the earlier grid point
    ],
)
def test_the_rules_of_choice(cv, gaussian, chosen):
    table = candidates({"cv_gmean": cv, "dcs_gaussian": gaussian, "test_gmean": [0.1, 0.2, 0.3]})
    assert points(table, "cv") == [chosen]


def test_infinite_kernel_divergences_are_told_apart_by_the_gaussian_one():
    table = candidates({"dcs_kde": [INF, 5.0, INF], "dcs_gaussian": [1, 9, 2], "test_gmean": [0.1, 0.2, 0.3]})
    assert points(table, "dcs_kde") == [2]


def test_a_failed_fit_is_never_chosen():
    table = candidates(
        {"cv_gmean": [0.9, 0.1], "success": [False, True], "error": ["why", ""], "test_gmean": [NAN, 0.2]}
    )
    assert points(table, "cv") == [1]


def test_each_fold_chooses_for_itself_and_reports_the_scores_of_its_choice():
    table = candidates(
        {"cv_gmean": [0.9, 0.1], "test_gmean": [0.11, 0.12], "test_accuracy": [0.21, 0.22]},
        {"cv_gmean": [0.1, 0.8], "test_gmean": [0.13, 0.14], "test_accuracy": [0.23, 0.24]},
    )
    scores = select(table, CRITERIA, METRICS)
    cv = scores[scores["criterion"] == "cv"]

    assert cv["point"].tolist() == [0, 1]
    assert cv["params"].tolist() == ['{"C": 0}', '{"C": 1}']
    assert cv["criterion_value"].tolist() == [0.9, 0.8]
    assert cv["gmean"].tolist() == [0.11, 0.14]
    assert cv["accuracy"].tolist() == [0.21, 0.24]
    assert cv["success"].all()


def test_the_oracle_takes_one_point_for_all_folds():
    """Means 0.5, 0.55, 0.45: the second, though each fold has a better one of its own."""
    table = candidates({"test_gmean": [0.9, 0.6, 0.0]}, {"test_gmean": [0.1, 0.5, 0.9]})
    scores = select(table, CRITERIA, METRICS)
    oracle = scores[scores["criterion"] == "oracle"]

    assert oracle["point"].tolist() == [1, 1]
    assert oracle["gmean"].tolist() == [0.6, 0.5]
    assert oracle["criterion_value"].tolist() == pytest.approx([0.55, 0.55])


def test_the_oracle_leaves_out_points_that_failed_in_a_fold():
    table = candidates(
        {"test_gmean": [0.9, 0.2]}, {"test_gmean": [NAN, 0.2], "success": [False, True], "error": ["x", ""]}
    )
    assert points(table, "oracle") == [1, 1]


def test_a_fold_without_a_usable_candidate_says_why():
    table = candidates(
        {"test_gmean": [0.9, 0.2]},
        {"test_gmean": [NAN, NAN], "success": [False, False], "error": ["out of memory", "out of memory"]},
    )
    scores = select(table, CRITERIA, METRICS)
    lost = scores[(scores["fold"] == 1) & (scores["criterion"] == "cv")].iloc[0]

    assert (lost["success"], lost["point"], lost["error"]) == (False, -1, "out of memory")
    assert np.isnan(lost["gmean"])
    # No point has a score in both folds: there is no oracle.
    assert not scores.loc[scores["criterion"] == "oracle", "success"].any()


def test_a_criterion_that_is_undefined_everywhere_says_so():
    table = candidates({"dcs_kde": [NAN, NAN], "test_gmean": [0.1, 0.2]})
    scores = select(table, CRITERIA, METRICS).set_index("criterion")

    assert not scores.loc["dcs_kde", "success"]
    assert "undefined" in scores.loc["dcs_kde", "error"]
    assert scores.loc["cv", "success"]


def test_without_criteria_the_oracle_alone_selects():
    scores = select(candidates({"test_gmean": [0.5, 0.75]}), [])
    assert list(scores["criterion"]) == ["oracle"]
    assert most_chosen(scores) == {}


@pytest.mark.parametrize("criteria", [["dcs_kde"], ["dcs_gaussian", "cv"], []])
def test_a_selection_by_some_criteria_is_those_rows_of_the_selection_by_all(criteria):
    rng = np.random.default_rng(0)
    columns = ["cv_gmean", "dcs_gaussian", "dcs_kde", "test_gmean"]
    table = candidates(*(dict(zip(columns, rng.integers(0, 3, (4, 5)) / 4, strict=True)) for _ in range(3)))
    whole = select(table, CRITERIA, METRICS)
    some = select(table, criteria, METRICS).set_index("criterion")
    for criterion in [*criteria, "oracle"]:
        assert some.loc[[criterion]].equals(whole.set_index("criterion").loc[[criterion]])
    assert set(some.index) == {*criteria, "oracle"}


def test_what_was_chosen_in_most_folds_and_of_equally_many_the_earlier_point():
    scores = pd.DataFrame(
        {
            "criterion": ["cv", "cv", "cv", "cv", "oracle", "dcs_kde"],
            "point": [2, 1, 1, 2, 3, -1],
            "params": ['{"C": 2}', '{"C": 1}', '{"C": 1}', '{"C": 2}', '{"C": 3}', ""],
            "success": [True] * 5 + [False],
        }
    )
    assert most_chosen(scores) == {"cv": {"C": 1}}
    assert most_chosen(scores.iloc[[0, 1, 3]]) == {"cv": {"C": 2}}
    by_two = pd.concat([scores[:4], scores[:1].assign(criterion="dcs_kde")])
    assert most_chosen(by_two) == {"cv": {"C": 1}, "dcs_kde": {"C": 2}}


def errors(cv: list[float], test: list[float]) -> pd.DataFrame:
    """The candidates of one fold of a regression."""
    table = candidates({"test_gmean": test}).drop(columns=["cv_gmean", "test_accuracy"])
    return table.rename(columns={"test_gmean": "test_rmse"}).assign(cv_rmse=cv, dcs_gaussian=NAN)


def test_of_errors_the_smallest_is_chosen():
    scores = select(errors([NAN, 0.2, 0.3], [0.4, 0.5, 0.1]), ["cv"], ["rmse"]).set_index("criterion")
    assert scores["point"].to_dict() == {"cv": 1, "oracle": 2}
    assert scores["criterion_value"].to_dict() == {"cv": 0.2, "oracle": 0.1}
    assert scores["rmse"].to_dict() == {"cv": 0.5, "oracle": 0.1}
    assert select(errors([0.2, 0.2, INF], [1, 2, 3]), ["cv"])["point"].tolist() == [0, 0]


def test_selecting_within_limits_takes_the_metrics_of_candidates_and_the_criteria_of_the_model(tmp_path):
    errors([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]).drop(columns="dcs_gaussian").to_parquet(tmp_path / "ridge")
    study = SimpleNamespace(
        metrics=["accuracy", "rmse"], criteria=["dcs_kde"], models={"ridge": SimpleNamespace(criteria=["cv"])}
    )
    results = Results(study)
    results.file = lambda stage, dataset, model: tmp_path / model
    found = results.scores("points", "ridge", {"C": Limits(min=1)})
    assert [*found] == ["cv", "oracle"]
    assert found["cv"].loc[:, ["dataset", "point", "rmse"]].values.tolist() == [["points", 1, 0.5]]


def test_the_only_candidate_that_is_left_has_its_value():
    table = errors([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    only = select(restrict_grid(table, {"C": {"min": 2}}), ["cv"]).set_index("criterion").loc["cv"]
    assert (only["point"], only["criterion_value"]) == (2, 0.3)


def test_a_criterion_without_a_column_is_refused():
    with pytest.raises(ValueError, match="found no values of the criterion 'dcs_kde'"):
        select(candidates({"test_gmean": [1.0]}).drop(columns="dcs_kde"), ["cv", "dcs_kde"])


@pytest.fixture(scope="module")
def dataset():
    X, y = make_classification(80, 4, random_state=0)
    return Dataset(X, y.astype(np.int64), list("abcd"), "binary", ["no", "yes"], np.zeros(80, np.int8))


def test_predictions_are_stored_for_all_that_a_criterion_selects(dataset):
    spec = changed(SPEC, {"estimator": "sklearn.svm.SVC", "grid": {"gamma": [0.1, 100.0]}})
    trained = train_run(dataset, Folds(3, 2).draw(dataset.y, 0), spec, limits.Limits(seconds=3600))
    scores = select(trained.candidates, CRITERIA, METRICS)
    assert len(scores) == 2 * 3 * 4  # repeats x folds x (three criteria and the oracle)
    assert scores["success"].all()
    place = ["repeat", "fold", "point"]
    selected = scores[place].drop_duplicates().sort_values(place)
    stored = trained.predictions[place].drop_duplicates().astype("int64")
    assert stored.to_numpy().tolist() == selected.to_numpy().tolist()
    assert len(stored) == 2 * 3 * 2  # divergences select the narrow kernels, which separate all training rows


def test_the_only_point_is_taken_without_validation(dataset):
    spec = changed(SPEC, {"grid": {"C": [1.0]}, "candidates": ["cv"]})
    table, *_ = train_run(dataset, Folds(3, 1).draw(dataset.y, 0), spec, limits.Limits(seconds=3600))
    scores = select(table, ["cv"])
    assert scores["success"].all()
    assert (scores["point"] == 0).all()
    lost = select(table.assign(success=False, error="singular"), ["cv"])
    assert set(lost["error"]) == {"singular"}
    assert not lost["success"].any()


def test_a_selected_point_without_predictions_is_an_error_and_no_missing_score():
    """As after an edit of the code of selection, which fits nothing again."""
    place = {"study": "s", "dataset": "d", "model": "m", "repeat": 0, "fold": 0, "criterion": "cv"}
    selection = pd.DataFrame([{**place, "point": 1, "support": 0.0, "iterations": 0.0, "success": True}])
    rows = {"repeat": 0, "fold": 0, "point": [0], "row": 0, "y": 0, "prediction": 0}
    with pytest.raises(Unreadable, match="s/d/m"):
        score_selection(selection, pd.DataFrame(rows), ["accuracy"])
