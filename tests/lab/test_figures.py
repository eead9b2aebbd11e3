"""Figures of studies: what is drawn is what was computed, and what is absent is said."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from entrolearn import EEMClassifier
from entrolearn.lab.datasets import DataUnavailable, passing_absence, prepare, save_dataset, scale
from entrolearn.lab.figures import alternative_text, make_figure, read_figure, reasons

PROCESS = {
    "paper": "paper",
    "figure": "figure2",
    "kind": "process",
    "caption": "A plane",
    "dataset": "rings",
    "model": {
        "label": "EEM",
        "sublabel": "",
        "estimator": "entrolearn.EEMClassifier",
        "steps": [],
        "params": {"n_hidden": 10},
    },
    "seed": 3,
}
CURVES = {
    "paper": "paper",
    "figure": "figure3",
    "kind": "grid_curves",
    "caption": "Sizes",
    "datasets": ["iris", "wine"],
    "models": {"eem": {"label": "EEM", "sublabel": "rbf"}, "welm": {"label": "WELM", "sublabel": ""}},
    "parameter": "n_hidden",
    "metric": "gmean",
    "cells": [(dataset, model) for dataset in ("iris", "wine") for model in ("eem", "welm")],
}


@pytest.fixture(scope="module")
def rings(catalog):
    return scale(prepare("rings", catalog["rings"]), "minmax", (0, 1), "all")


def drawn(folder, spec, sources, records=()):
    """The csv of a figure that is written in every format."""
    outputs = [folder / f"figure.{suffix}" for suffix in ("svg", "png", "csv")]
    make_figure(spec, list(map(str, sources)), list(map(str, records)), list(map(str, outputs)))
    assert all(output.stat().st_size for output in outputs)
    return read_figure(outputs[-1])


# ------------------------------------------------------------------------------------------------- process


@pytest.fixture
def process(tmp_path, rings):
    save_dataset(tmp_path / "rings.npz", rings)
    return drawn(tmp_path, PROCESS, [tmp_path / "rings.npz"])


def points(table, panel, series):
    return table.loc[(table["panel"] == panel) & (table["series"] == series), ["x", "y"]].to_numpy()


def test_csv_of_a_process_holds_the_machine_that_the_spec_describes(process, rings):
    machine = EEMClassifier(10, random_state=3).fit(rings.X, rings.y)
    assert_allclose(points(process, "projected", "threshold")[:, 0], machine.thresholds_, rtol=1e-5)
    assert len(machine.thresholds_) == 2
    for code, label in enumerate(rings.classes):
        rows = rings.X[rings.y == code]
        assert_allclose(points(process, "input", f"rows of {label}"), rows, rtol=1e-5, atol=1e-12)
        projected = points(process, "projected", f"rows of {label}")[:, 0]
        assert_allclose(projected, machine.project(rows), rtol=1e-5)
        assert len(points(process, "hidden", f"rows of {label}")) == len(rows)


def test_drawn_densities_cross_at_the_drawn_thresholds(process, rings):
    (t, negative), (_, positive) = (points(process, "projected", f"density of {k}").T for k in rings.classes)
    for threshold in points(process, "projected", "threshold")[:, 0]:
        heights = [np.interp(threshold, t, height) for height in (negative, positive)]
        assert heights[0] == pytest.approx(heights[1], rel=0.02)


def test_ellipses_of_the_csv_are_one_and_two_deviations_from_the_mean(process, rings):
    for label in rings.classes:
        ((x, y),) = points(process, "hidden", f"mean of {label}")
        one, two = (points(process, "hidden", f"{sd} sd of {label}") - [x, y] for sd in (1, 2))
        assert_allclose(two, 2 * one, atol=1e-5)


def test_a_process_in_words(process):
    text = alternative_text(PROCESS, process)
    thresholds = points(process, "projected", "threshold")[:, 0]
    assert f"thresholds: {thresholds[0]:.3g} and {thresholds[1]:.3g}" in text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"estimator": "sklearn.svm.SVC", "params": {}},
            "failed: TypeError: SVC has no Gaussians in a hidden",
        ),
        ({"params": {"n_hidden": -1}}, "failed: InvalidParameterError: The 'n_hidden' parameter"),
    ],
)
def test_a_machine_that_fails_is_said_in_figure_and_csv(tmp_path, rings, change, reason):
    save_dataset(tmp_path / "rings.npz", rings)
    spec = {**PROCESS, "model": PROCESS["model"] | change}
    table = drawn(tmp_path, spec, [tmp_path / "rings.npz"])
    assert table["reason"].str.startswith(reason).tolist() == [True]
    assert "failed" in (tmp_path / "figure.svg").read_text()
    assert reason in alternative_text(spec, table)


def test_data_that_cannot_be_had_are_said(tmp_path):
    with passing_absence(tmp_path / "rings.npz"):
        raise DataUnavailable("rings: 404")
    table = drawn(tmp_path, PROCESS, [tmp_path / "rings.npz"])
    assert reasons(table) == ["no data: rings: 404"]


# ------------------------------------------------------------------------------------------------- curves


def candidates(scores, errors=None):
    """Rows of two folds × three sizes; a score that is NaN failed with its error."""
    rows = [
        {
            "repeat": 0,
            "fold": fold,
            "point": point,
            "params": json.dumps({"n_hidden": size}),
            "test_gmean": scores[fold][point],
            "success": bool(np.isfinite(scores[fold][point])),
            "error": "" if np.isfinite(scores[fold][point]) else errors,
        }
        for fold in (0, 1)
        for point, size in enumerate((50, 5, 10))
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def cells(tmp_path):
    """Two models on iris, one of them with a failed fit; no data for wine."""
    good = candidates([[0.9, 0.5, 0.7], [0.8, 0.6, 0.7]])
    holed = candidates([[0.9, np.nan, 0.7], [0.8, 0.6, 0.7]], "LinAlgError: singular")
    nothing = good.iloc[:0]
    found = {"success": True, "kind": "", "error": ""}
    absent = {"success": False, "kind": "no data", "error": "wine: 404"}
    sources, records = [], []
    for number, (rows, record) in enumerate(
        [(good, found), (holed, found), (nothing, absent), (nothing, absent)]
    ):
        sources.append(tmp_path / f"{number}.parquet")
        records.append(tmp_path / f"{number}.json")
        rows.to_parquet(sources[-1])
        records[-1].write_text(json.dumps(record))
    return sources, records


def test_curves_are_means_and_deviations_of_the_candidates(tmp_path, cells):
    table = drawn(tmp_path, CURVES, *cells)
    curve = table[(table["dataset"] == "iris") & (table["model"] == "eem")]
    assert curve["value"].tolist() == [5, 10, 50]
    rows = pd.read_parquet(cells[0][0])
    rows["size"] = [json.loads(params)["n_hidden"] for params in rows["params"]]
    twin = 100 * rows.groupby("size")["test_gmean"].agg(["mean", "std"])
    assert_allclose(curve[["mean", "std"]], twin, rtol=1e-5)
    assert curve["folds"].tolist() == [2, 2, 2]


def test_a_size_with_a_failed_fold_is_a_gap_with_its_reason(tmp_path, cells):
    table = drawn(tmp_path, CURVES, *cells)
    curve = table[(table["dataset"] == "iris") & (table["model"] == "welm")].set_index("value")
    assert np.isnan(curve.loc[5, "mean"])
    assert (curve.loc[5, "folds"], curve.loc[5, "reason"]) == (1, "LinAlgError: singular")
    assert curve.loc[10, "mean"] == pytest.approx(70)
    assert "WELM: no score at 1 of 3" in (tmp_path / "figure.svg").read_text()


def test_a_data_set_that_cannot_be_had_is_a_text_in_its_panel(tmp_path, cells):
    table = drawn(tmp_path, CURVES, *cells)
    assert table.loc[table["dataset"] == "wine", "reason"].tolist() == ["no data: wine: 404"] * 2
    svg = (tmp_path / "figure.svg").read_text()
    assert "no data: wine: 404" in svg
    assert ">iris<" in svg
    assert reasons(table) == [
        "iris, welm: LinAlgError: singular",
        "wine, eem: no data: wine: 404",
        "wine, welm: no data: wine: 404",
    ]


def test_curves_in_words(tmp_path, cells):
    text = alternative_text(CURVES, drawn(tmp_path, CURVES, *cells))
    assert text == (
        "Mean GMEAN in percent against n_hidden. iris, EEM rbf: 55.0 at 5, 85.0 at 50; "
        "iris, WELM: 70.0 at 10, 85.0 at 50"
    )


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(ValueError, match="unknown kind of figure 'proces', did you mean 'process'"):
        make_figure({**PROCESS, "kind": "proces"}, [], [], [])
