"""Figures of tables and of what is measured for them: densities, random starts, evaluations, ranks."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn, text_of
from numpy.testing import assert_allclose

from entrolab.experiments.measuring import frame
from entrolab.figure_types.making import reasons
from entrolab.tables.base import Head
from entrolab.tables.making import COLUMNS
from entrolearn.measures import expected_maximum

# ------------------------------------------------------------------------------------------------- density


def test_a_figure_of_densities_shows_what_was_measured_for_its_table(tmp_path):
    spec = {
        "type": "density",
        "caption": "Density",
        "table": SimpleNamespace(dims=[10, 1000], densities=[0.5, 0.1]),
        "models": {"rkelm": Head("RKELM"), "elm": Head("ELM")},
    }
    rows = [
        {"reading": f"d10_density{density}", "model": model, "metric": "fit_seconds", "value": seconds}
        for model, seconds in (("rkelm", 1.0), ("elm", 2.0))
        for density in (0.1, 0.5)
    ]
    rows += [
        {"reading": f"d1000_density{one}", "status": "failed", "error": "too large"} for one in (0.1, 0.5)
    ]
    frame(rows).to_parquet(tmp_path / "measured.parquet")
    table = drawn(tmp_path, spec, [tmp_path / "measured.parquet"])
    assert table["density"].tolist() == [0.1, 0.5] * 4
    assert table["seconds"].dropna().tolist() == [1, 1, 2, 2]
    assert reasons(table) == [
        "d = 1,000, rkelm: too large (at 2 values)",
        "d = 1,000, elm: too large (at 2 values)",
    ]
    assert "too large" in (tmp_path / "figure.svg").read_text()


# -------------------------------------------------------------------------------------------------- starts


STARTS = {
    "type": "starts",
    "caption": "Starts",
    "table": "starts",
    "datasets": ["iris", "wine"],
    "models": {"fast": Head("fast"), "good": Head("good", "slow")},
}


@pytest.fixture
def started(tmp_path):
    """Twenty starts of two models on iris, of which one came to nothing; no data for wine."""
    rng = np.random.default_rng(0)
    found = {"fast": rng.uniform(0, 2, 20), "good": rng.uniform(1, 2, 20)}
    rows = [
        {"model": model, "metric": metric, "reading": f"start {k}", "value": value}
        for model, values in found.items()
        for k, one in enumerate(values, start=1)
        for metric, value in (("objective", one), ("seconds", 0.5 * len(model)), ("evaluations", 10))
    ]
    rows[3] |= {"value": np.nan, "status": "failed", "error": "singular"}
    found["fast"][1] = np.nan
    rows.append({"model": "fast", "metric": "best", "value": 2.0})
    frame(rows).to_parquet(tmp_path / "iris.parquet")
    frame([{"status": "no data", "error": "wine: 404"}]).to_parquet(tmp_path / "wine.parquet")
    return found, [tmp_path / "iris.parquet", tmp_path / "wine.parquet"]


def test_histograms_of_starts_show_what_was_measured(tmp_path, started):
    found, sources = started
    table = drawn(tmp_path, STARTS, sources)
    for model, values in found.items():
        mine = table[table["model"] == model].dropna(subset="start")
        assert mine["start"].tolist() == list(range(1, 21))
        assert_allclose(mine["objective"], values, rtol=1e-5)
    assert reasons(table) == ["iris, fast: singular", "wine, fast: wine: 404", "wine, good: wine: 404"]
    svg = (tmp_path / "figure.svg").read_text()
    for said in ("fast: nothing from 1 of 20", "wine: 404", ">good slow<", "divergence"):
        assert said in svg
    low, middle, high = np.quantile(found["good"], [0, 0.5, 1])


@pytest.mark.parametrize("against", ["starts", "seconds"])
def test_expected_maxima_are_relative_to_the_best_of_all(tmp_path, started, against):
    found, sources = started
    spec = {**STARTS, "type": "expected_maximum", "against": against}
    table = drawn(tmp_path, spec, sources)
    best = max(np.nanmax(values) for values in found.values())
    for model, values in found.items():
        mine = table[table["model"] == model].dropna(subset="starts")
        twin = expected_maximum(values[np.isfinite(values)])
        assert_allclose(mine["expected"], twin, rtol=1e-5)
        assert_allclose(mine["percent_of_best"], 100 * twin / best, rtol=1e-5)
        assert_allclose(mine["seconds"], 2.0 * mine["starts"], rtol=1e-5)
    assert reasons(table) == ["iris, fast: singular", "wine, fast: wine: 404", "wine, good: wine: 404"]
    assert f"best {best:.3g}" in (tmp_path / "figure.svg").read_text()


# --------------------------------------------------------------------------------------------- evaluations


EVALUATIONS = {
    "type": "evaluations",
    "caption": "Speed",
    "table": SimpleNamespace(n_rows=[100, 1000]),
    "models": {"exact": Head("exact"), "binned": Head("binned")},
}


def test_a_figure_of_evaluations_shows_seconds_and_errors_by_the_number_of_rows(tmp_path):
    rows = [
        {"model": "exact", "reading": "n100", "metric": "seconds", "value": 0.5},
        {"model": "binned", "reading": "n100", "metric": "seconds", "value": 0.125},
        {"model": "binned", "reading": "n100", "metric": "value_error", "value": 1e-4},
        {"model": "binned", "reading": "n100", "metric": "gradient_error", "value": 0.015},
        {"model": "binned", "reading": "n1000", "metric": "seconds", "value": 0.25},
    ]
    frame(rows).to_parquet(tmp_path / "measured.parquet")
    table = drawn(tmp_path, EVALUATIONS, [tmp_path / "measured.parquet"])
    assert table[["series", "rows", "seconds"]].to_numpy().tolist() == [
        ["exact", 100, 0.5],
        ["binned", 100, 0.125],
        ["binned", 1000, 0.25],
    ]
    assert reasons(table) == []


def test_evaluations_that_failed_say_why(tmp_path):
    frame([{"status": "failed", "error": "MemoryError"}]).to_parquet(tmp_path / "measured.parquet")
    table = drawn(tmp_path, EVALUATIONS, [tmp_path / "measured.parquet"])
    assert reasons(table) == ["MemoryError"]
    assert "MemoryError" in (tmp_path / "figure.svg").read_text()
    assert "MemoryError" in text_of(tmp_path)


# --------------------------------------------------------------------------------------------------- ranks

RANKS = {
    "type": "critical_difference",
    "caption": "Ranks",
    "table": "table1",
    "metric": "gmean",
    "models": {name: Head(name.upper(), "rbf") for name in ("eem", "welm", "svm", "slow")},
}


@pytest.fixture
def table1(tmp_path):
    """A table of six data sets on which the last model has a number once, and another metric."""
    scores = [[90, 80, 70, 60], [91, 81, 71, None], [92, 72, 82, None], *[[93, 83, 73, None]] * 3]
    rows = [
        {"dataset": f"data{k}", "model": model, "metric": metric, "ours": score if metric == "gmean" else 50}
        for k, of_set in enumerate(scores)
        for model, score in zip(RANKS["models"], of_set, strict=True)
        for metric in ("gmean", "accuracy")
    ]
    path = tmp_path / "table1.csv"
    pd.DataFrame(rows, columns=COLUMNS).to_csv(path, index=False)
    return path


def test_a_figure_of_ranks_shows_a_tables_ranks_and_pairs(tmp_path, table1):
    table = drawn(tmp_path, RANKS, [table1])
    models, pairs = table[table["rank"].notna()], table[table["other"].notna()]
    assert models[["model", "rank", "scored", "datasets"]].to_numpy().tolist() == [
        ["eem", 1, 6, 6], ["welm", 2.16667, 6, 6], ["svm", 2.83333, 6, 6]
    ]  # fmt: skip
    assert pairs[["model", "other", "wins", "ties", "losses"]].to_numpy().tolist() == [
        ["eem", "welm", 6, 0, 0], ["eem", "svm", 6, 0, 0], ["welm", "svm", 5, 0, 1]
    ]  # fmt: skip
    assert reasons(table) == ["SLOW rbf: no number on more than half of the data sets"]
    assert text_of(tmp_path) == (
        "Average ranks on 6 data sets, the best first: EEM rbf 1.00, WELM rbf 2.17, SVM rbf 2.83. "
        "Not significantly different from the best by Nemenyi's test: WELM rbf."
    )
    svg = (tmp_path / "figure.svg").read_text()
    assert ">EEM rbf<" in svg
    assert "SLOW" not in svg


def test_a_figure_of_too_few_ranks_says_so(tmp_path, table1):
    pd.read_csv(table1).query("dataset < 'data4'").to_csv(table1, index=False)
    table = drawn(tmp_path, RANKS, [table1])
    said = "no ranks: fewer than 3 models or 5 data sets with numbers"
    assert reasons(table) == [said]
    assert text_of(tmp_path) == said
    assert "no ranks" in (tmp_path / "figure.svg").read_text()
