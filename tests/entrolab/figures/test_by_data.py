"""Where a model is ahead of others by properties of the data: what is compared, said and refused."""

import json

import numpy as np
import pandas as pd
import pytest
from refused_studies import refused
from scipy.stats import spearmanr, theilslopes

from entrolab.figures.by_data import compared, facts_of, trend_of
from entrolab.figures.making import reasons

MODELS = ("eem", "eekm", "svm", "forest")
WHERE = {
    "type": "by_data",
    "table": "table1",
    "metric": "gmean",
    "best_of": ["eem", "eekm"],
    "against": ["svm"],
}
# GMEAN of eem, eekm, svm, forest; rows, features, rows of the positive class.
FOUND = {
    "heart": ((90, 95, 93, 99), (150, 4, 50)),
    "wdbc": ((80, 70, 85, 99), (178, 13, 59)),
    "fourclass": ((60, np.nan, 50, 99), (214, 9, 29)),
    "sonar": ((70, 71, 71, 99), (208, 60, 97)),
    "diabetes": ((40, 30, 60, 99), (1484, 8, 51)),
    "splice": ((80, 80, np.nan, 99), (1000, 60, 517)),
}
ABSENT = "ionosphere"  # a data set without a file


@pytest.fixture
def compare(results):
    """The results of a table of scores in two metrics, and the records of its runs."""
    results.study["datasets"]["all"] = [*FOUND, ABSENT]
    results.study["models"] = {
        name: {"label": name.upper(), "estimator": "sklearn.svm.SVC"} for name in MODELS
    }
    table = {"type": "scores", "caption": "", "datasets": "all", "models": list(MODELS), "criterion": "cv"}
    results.study["tables"] = {"table1": {**table, "metric": ["gmean", "accuracy"]}}
    rows = []
    for dataset, (scores, (n, d, positive)) in FOUND.items():
        counts = {"n_samples": n, "n_features": d, "n_negative": n - positive, "n_positive": positive}
        for model, score in zip(MODELS, scores, strict=True):
            results.record(dataset, model, data={} if model == "eem" else counts)
            rows.append({"dataset": dataset, "model": model, "metric": "gmean", "ours": score})
            rows.append({"dataset": dataset, "model": model, "metric": "accuracy", "ours": 1.0})
    for model in MODELS:
        results.record(ABSENT, model, "no data: 404")
        rows.append({"dataset": ABSENT, "model": model, "metric": "gmean"})
    results.table("table1", rows)
    return results


def test_the_csv_has_the_best_of_each_side_their_difference_and_the_properties_of_the_data(compare):
    table = compare.draw(WHERE)
    assert reasons(table) == ["splice: SVM: no number", f"{ABSENT}: SVM: no number"]
    table = table.set_index("dataset")
    assert table["difference"].dropna().to_dict() == pytest.approx(
        {"heart": 2, "wdbc": -5, "fourclass": 10, "sonar": 0, "diabetes": -20}
    )
    best = ["eekm", "eem", "eem", "eekm", "eem", "eem"]
    assert table["best"].dropna().to_dict() == dict(zip(FOUND, best, strict=True))
    assert table.loc["diabetes", ["rows", "features"]].tolist() == [1484, 8]
    shares = {"heart": 50 / 150, "sonar": 97 / 208, "splice": 483 / 1000}
    assert table.loc[list(shares), "smaller"].tolist() == pytest.approx(
        [100 * share for share in shares.values()], rel=1e-5
    )
    assert "of the best of EEM, EEKM over SVM on 5 data sets: ahead on 2, behind on 2" in compare.text
    assert "median 0, from -20 (diabetes) to 10 (fourclass)" in compare.text
    # heart, wdbc and sonar have up to 208 rows.
    assert "by size (rows) ahead on 1 of 3 up to 208 and on 1 of 2 above 208, Spearman's ρ = " in compare.text
    assert "by dimension: Spearman's ρ" in compare.svg
    assert "the best of EEM, EEKM ahead" in compare.svg


def test_less_is_better_is_turned_over(compare):
    rows = [("heart", "eem", 0.2), ("heart", "eekm", 0.4), ("heart", "svm", 0.5), ("heart", "forest", 0.3)]
    scores = pd.DataFrame(rows, columns=["dataset", "model", "ours"]).assign(metric="error_rate", verdict="")
    compare.study["metrics"] = ["gmean", "error_rate"]
    compare.study["tables"]["table1"]["metric"] = "error_rate"
    entry = {**WHERE, "metric": "error_rate", "against": ["svm", "forest"]}
    found = compared(scores, pd.DataFrame(), compare.load(entry).spec_of_figure("figure")).iloc[0]
    assert (found["best"], found["against"]) == ("eem", "forest")
    assert found["difference"] == pytest.approx(0.1)


def test_data_of_several_classes_have_a_size_and_no_smaller_class(tmp_path):
    file = tmp_path / "iris.json"
    file.write_text(json.dumps({"dataset": "iris", "data": {"n_samples": 150, "n_features": 4}}))
    facts = facts_of([str(file)])
    assert facts.loc["iris", ["rows", "features"]].tolist() == [150, 4]
    assert np.isnan(facts.loc["iris", "smaller"])


def test_a_trend_is_that_of_theil_and_sen_with_spearmans_rho_of_what_is_known():
    rng = np.random.default_rng(0)
    x, y = pd.Series(10 ** rng.uniform(1, 4, size=12)), pd.Series(rng.normal(size=12))
    y[3] = np.nan
    trend, kept = trend_of(x, y), y.notna()
    assert trend.slope == pytest.approx(theilslopes(y[kept], np.log10(x[kept])).slope)
    assert (trend.rho, trend.p) == pytest.approx(tuple(spearmanr(x[kept], y[kept])))
    exact = trend_of(x, 3 - 2 * np.log10(x))
    assert (exact.intercept, exact.slope, exact.rho) == pytest.approx((3, -2, -1))
    assert str(exact).startswith("Spearman's ρ = −1.00, p = ")


def test_data_sets_that_are_few_or_alike_have_no_trend():
    x, y = pd.Series([1.0, 2, 3, 4]), pd.Series([1.0, 0, 2, 3])
    assert trend_of(x, y) is None
    assert trend_of(pd.Series([7.0] * 6), pd.Series([1.0, 0, 2, 3, 4, 5])) is None
    assert trend_of(pd.Series(range(1, 7)), pd.Series([0.0] * 6)) is None


def test_many_names_are_a_number_in_a_panel_and_data_without_properties_are_not_in_one(compare):
    for name in MODELS:
        compare.study["models"][name]["label"] = f"A rather long name of {name}"
    compare.draw(WHERE)
    assert "the best of 2 ahead" in compare.svg
    for dataset in FOUND:
        for model in MODELS:
            compare.record(dataset, model)
    assert compare.draw(WHERE)["difference"].notna().sum() == 5
    assert compare.svg.count("no data set has scores") == 3


# --- the entry of a study --------------------------------------------------------------------------------


@pytest.fixture
def study_by_data(study):
    study["figures"]["where"] = {
        "type": "by_data",
        "caption": "Where",
        "table": "table1",
        "metric": "gmean",
        "best_of": ["svm"],
        "against": ["lda"],
    }
    return study


def test_a_figure_is_drawn_from_the_tables_csv_and_the_records_of_its_cells(load, study_by_data):
    cells = [(dataset, model) for dataset in ("heart", "sonar") for model in ("svm", "lda")]
    study = load(study_by_data)
    assert study.files_of_figure("where") == [
        "results/mine/tables/table1.csv",
        *(f"results/mine/seed0/records/{dataset}/{model}.json" for dataset, model in cells),
    ]
    assert study.runs_of_figure("where") == []
    assert set(cells) <= set(study.runs())
    spec = study.spec_of_figure("where")
    assert (spec.entry.best_of, spec.entry.against) == (["svm"], ["lda"])
    assert spec.name_of("svm") == "SVM"


@pytest.mark.parametrize(("key", "accepted"), [("best_of", "svm, lda"), ("against", "lda")])
def test_a_model_with_known_values_is_not_compared(load, study_by_data, key, accepted):
    study_by_data["models"]["best"] = {"known": {"heart": {"gmean": 90.0}}}
    study_by_data["tables"]["table1"]["models"] = ["svm", "lda", "best"]
    study_by_data["figures"]["where"][key] = ["best"]
    assert refused(load, study_by_data).endswith(f"'best'; accepted: {accepted}")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("table", "tabel1", "where.table: unknown table of type scores 'tabel1', did you mean 'table1'?"),
        ("table", "seconds", "unknown table of type scores 'seconds'; accepted: table1, table2"),
        ("metric", "gmeen", "where.metric: unknown metric of this table 'gmeen', did you mean 'gmean'?"),
        ("best_of", ["svn"], "where.best_of: unknown model of this table 'svn', did you mean 'svm'?"),
        ("best_of", ["eem"], "unknown model of this table 'eem'; accepted: svm, lda"),
        ("against", ["svm"], "where.against: unknown other model of this table 'svm'; accepted: lda"),
        ("best_of", [], "where.best_of: found [], expected a list of the table's models"),
        ("models", ["svm"], "figures.where: unknown key 'models'"),
    ],
)
def test_a_mistake_in_what_is_compared_is_one_line(load, study_by_data, key, value, message):
    study_by_data["figures"]["where"][key] = value
    assert message in refused(load, study_by_data)
