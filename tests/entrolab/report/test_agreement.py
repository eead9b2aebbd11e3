"""Ours against published: what is set side by side, drawn and said."""

from dataclasses import replace

import numpy as np
import pandas as pd

from entrolab.report.agreement import agreement, compared
from entrolab.tables.making import COLUMNS

ROWS = [
    ("iris", "eem_rbf", "gmean", 80.0, 1.0, 80.5, 2.0, 0.5, "reproduced"),
    ("iris", "svm_rbf", "gmean", 70.0, 3.0, 90.0, 2.0, 20.0, "higher"),
    ("wine", "svm_rbf", "gmean", 70.0, 5.0, np.nan, np.nan, np.nan, "failed"),
    ("wine", "eem_rbf", "gmean", np.nan, np.nan, 60.0, 2.0, np.nan, "ours only"),
    ("wine", "eem_rbf", "rmse", 0.2, np.nan, 0.1, 0.1, -0.1, "lower"),
]
TABLE = pd.DataFrame([(*row, np.nan, "") for row in ROWS], columns=COLUMNS)


def of(results, kind="scores"):
    entry = results.study.tables["table4"].model_copy(update={"type": kind})
    study = results.study.model_copy(update={"tables": {"table4": entry}})
    return replace(results, study=study, tables={"table4": TABLE})


def test_numbers_are_compared_where_both_are_there_and_mean_the_same(results):
    points = compared(of(results))
    assert points["measured"].tolist() == ["GMEAN, %", "GMEAN, %", "RMSE"]
    assert points["ours"].tolist() == [80.5, 90.0, 0.1]
    assert compared(of(results, "times")).empty


def test_picture_and_words_count_the_same(results, tmp_path):
    said = agreement(of(results), tmp_path / "paper-agreement.svg")
    assert (
        "GMEAN, %: 2 numbers, 1 reproduced, 1 higher, 0 lower; furthest: Table 4, iris, svm_rbf, "
        in said["alt"]
    )
    assert "published 70, ours 90" in said["alt"]
    assert "GMEAN, %: 2" in said["says"]  # the median of 1 and 3
    drawn = (tmp_path / "paper-agreement.svg").read_text()
    assert "GMEAN, %" in drawn
    assert "RMSE" in drawn


def test_nothing_to_compare_is_no_picture(results, tmp_path):
    assert agreement(of(results, "times"), tmp_path / "none.svg") is None
    assert list(tmp_path.glob("none*")) == []
