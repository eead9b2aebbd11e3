"""The best models of a row, by tests over its folds."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from demsar import DEMSAR
from made_studies import made_study
from reported_study import score_rows
from scipy.stats import binom
from told_scores import as_told, write_scores

from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import DELETED, _p_values, best, best_of_rows, best_of_study, winners
from entrolab.fit import predictions
from entrolab.results.reader import Results
from entrolab.tables.evidence import ALPHA
from entrolab.tables.making import make_table
from entrolab.tables.rendering import render, write_table

PUBLISHED = ["table", "dataset", "model", "metric", "value", "std"]
FOLDS = 5


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make the table of three models from the scores of their folds: its numbers and its frame."""
    monkeypatch.setattr(predictions, "score_selection", as_told)

    def make(scores, metric="gmean", published=()):
        study = made_study(
            {
                "protocol": {"folds": FOLDS},
                "metrics": [metric],
                "datasets": {"real": ["iris"]},
                "models": {name: {"label": name, "estimator": "sklearn.svm.SVC"} for name in scores},
                "tables": {"table4": {"type": "scores", "datasets": "real"}},
            },
            task="regression" if metric == "rmse" else "binary",
        )
        folder = tmp_path / "results" / "paper"
        for name, values in scores.items():
            rows = score_rows("iris", name, [{}, {}]).iloc[[0] * len(values)]
            rows = rows.assign(fold=range(len(values)), **{metric: values})
            file = f"iris/{name}.parquet"
            results = folder / "seed0"
            write_scores(results / "selection" / file, results / "predictions" / file, rows)
            record = results / "records" / "iris" / f"{name}.json"
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(
                '{"success": true, "status": "ok", "notes": {}, "n_failed": 0, "n_candidates": 1}'
            )
        spec = study.spec_of_table("table4")
        frame = make_table(Results(study, tmp_path), pd.DataFrame(published, columns=PUBLISHED), spec)
        write_table(frame, spec, folder / "tables" / "table4.csv")
        return Numbers(study, tmp_path), frame, spec

    return make


SCORES = {
    "first": [0.90, 0.92, 0.88, 0.91, 0.89],
    "near": [0.91, 0.89, 0.90, 0.90, 0.88],
    "far": [0.60, 0.63, 0.57, 0.60, 0.59],
}


def marked(made):
    numbers, frame, _ = made
    return winners(best_of_rows(numbers, "table4", frame))


def cells(*models, metric="gmean"):
    return {("iris", model, metric) for model in models}


def test_what_is_within_the_noise_of_the_best_is_marked_like_it(made):
    numbers, frame, spec = made(SCORES)
    marks = winners(best_of_rows(numbers, "table4", frame))
    assert marks == cells("first", "near")
    html = render(frame, spec, "html", marks).partition("</style>")[2]
    assert html.count("ours-only best") == 2
    assert "Nadeau and Bengio" in html
    line = next(line for line in render(frame, spec, "md", marks).splitlines() if "iris" in line)
    assert line == "| iris | **90.0 ± 1.6** | **89.6 ± 1.1** | 59.8 ± 2.2 |"
    assert render(frame, spec, "tex", marks).count(r"\textbf{") == 2
    assert render(frame, spec, "csv", marks) == render(frame, spec, "csv")


def test_a_clear_winner_is_alone_and_less_is_better_where_it_is(made):
    apart = {**SCORES, "near": [value - 0.1 for value in SCORES["first"]]}
    assert marked(made(apart)) == cells("first")
    assert marked(made(apart, metric="error_rate")) == cells("far", metric="error_rate")


def test_nothing_is_marked_where_no_model_is_significantly_worse(made):
    once = {name: values[:1] for name, values in SCORES.items()}
    assert not marked(made(once))


def test_nothing_is_marked_beside_published_values_or_without_a_rival(made):
    published = [("table4", "iris", "first", "gmean", 80.0, 1.0)]
    assert not marked(made(SCORES, published=published))
    assert not marked(made({"first": SCORES["first"]}))


def test_nothing_is_marked_where_predictions_are_gone(made, tmp_path):
    one = made(SCORES)
    (tmp_path / "results/paper/seed0/predictions/iris/near.parquet").unlink()
    assert not marked(one)
    numbers, frame, _ = one
    found = best(numbers, "table4", frame, "gmean")
    assert (found.test, found.untested) == ("", DELETED)
    assert DELETED in found.in_words({})


@pytest.mark.parametrize(("n_models", "n_tables"), [(2, 300), (5, 150)])
def test_of_tables_with_equal_models_one_in_twenty_has_a_significant_difference(n_models, n_tables):
    """Folds are correlated as the corrected variance assumes: by the share of test rows in all rows.

    The number of tables with a model that is called worse than the best is at most binomial with 5 %. The
    one-sided tests of all but the best had 10 % of tables with two models, 14 % with five.
    """
    n_folds, names = 10, list("abcde"[:n_models])
    rng = np.random.default_rng(0)
    called = 0
    for _ in range(n_tables):
        means = np.sqrt(0.1) * rng.normal(size=n_models)
        folds = pd.DataFrame(means + np.sqrt(0.9) * rng.normal(size=(n_folds, n_models)), columns=names)
        numbers = SimpleNamespace(folds=lambda *cell, by=folds: by[cell[2]], test_to_train=lambda _: 1 / 9)
        p_values = _p_values(numbers, "table", "iris", names, "gmean")
        best_model = folds.mean().idxmax()
        called += any(p <= ALPHA for pair, p in p_values.items() if best_model in pair)
    assert 0 < called < binom.isf(0.01, n_tables, ALPHA)


def test_the_best_of_one_data_set_has_a_lead_over_the_second_and_a_test(made):
    numbers, frame, _ = made(SCORES)
    found = best(numbers, "table4", frame, "gmean")
    assert (found.model, found.second, found.not_worse, found.n_rivals) == ("first", "near", ("near",), 2)
    assert (found.score, found.lead) == pytest.approx((90.0, 0.4))  # the means of the folds above
    assert not found.is_significant
    assert best_of_study(numbers, {"table4": frame}) == ("table4", found)
    apart = {**SCORES, "near": [value - 0.1 for value in SCORES["first"]]}
    numbers, frame, _ = made(apart)
    assert best(numbers, "table4", frame, "gmean").is_significant


def test_without_folds_the_best_is_named_and_no_lead_is_significant(made):
    once = {name: values[:1] for name, values in SCORES.items()}
    numbers, frame, _ = made(once)
    found = best(numbers, "table4", frame, "gmean")
    assert (found.model, found.lead, found.test) == ("near", pytest.approx(1.0), "")
    assert not found.is_significant


def test_equal_scores_are_no_lead(made):
    numbers, frame, _ = made({"first": SCORES["first"], "same": SCORES["first"][::-1]})
    found = best(numbers, "table4", frame, "gmean")
    assert (found.lead, found.is_significant) == (pytest.approx(0.0), False)
    assert "equal to same" in found.in_words({})
    assert "ahead" not in found.in_words({})


def table_of(scores):
    rows = scores.rename_axis("dataset").reset_index().melt("dataset", var_name="model", value_name="ours")
    return rows.assign(metric="auc", verdict="ours only")


def test_the_best_of_several_data_sets_is_that_of_the_average_ranks():
    """The average ranks of J. Demšar, JMLR 7 (2006), table 6, and his conclusion on them."""
    found = best(None, "table6", table_of(DEMSAR), "auc")
    assert (found.model, found.second, len(found.datasets)) == ("C4.5+m+cf", "C4.5+m", 14)
    assert (found.rank, found.lead) == pytest.approx((1.964, 0.036), abs=1e-3)
    assert not found.is_significant


def test_two_data_sets_have_a_best_model_and_no_test():
    scores = pd.DataFrame({"a": [90.0, 80.0], "b": [80.0, 85.0], "c": [95.0, 90.0]}, index=["one", "two"])
    found = best(None, "table6", table_of(scores), "auc")
    assert (found.model, found.rank, found.lead, found.test) == ("c", 1.0, 1.5, "")  # a: 2 and 3, b: 3 and 2
    assert not found.is_significant
    assert best(None, "table6", table_of(scores).assign(ours=float("nan")), "auc") is None


def test_data_sets_and_models_that_are_not_ranked_are_not_counted():
    """A model with a number on two of seven data sets is not ranked, nor is the set that only it has."""
    scores = pd.DataFrame({"a": [90.0] * 6, "b": [80.0] * 6, "c": [70.0] * 6, "rare": [99.0] + [np.nan] * 5})
    scores.loc[6] = [np.nan, np.nan, np.nan, 50.0]
    scores.index = [f"set{k}" for k in scores.index]
    found = best(None, "table6", table_of(scores), "auc")
    assert (found.model, found.rank, found.score, found.n_rivals) == ("a", 1.0, 90.0, 2)
    assert found.datasets == tuple(f"set{k}" for k in range(6))
