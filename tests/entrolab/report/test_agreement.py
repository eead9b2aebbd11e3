"""Ours against published: what is set side by side, drawn and said."""

from dataclasses import replace

import numpy as np
import pandas as pd
from reported_study import with_sections

from entrolab.report.agreement import agreement, compared
from entrolab.tables.making import COLUMNS

ROWS = [
    ("iris", "eem_rbf", "gmean", 80.0, 1.0, 80.5, 2.0, 0.5, "reproduced"),
    ("iris", "svm_rbf", "gmean", 70.0, 3.0, 90.0, 2.0, 20.0, "higher"),
    ("wine", "svm_rbf", "gmean", 70.0, 5.0, np.nan, np.nan, np.nan, "failed"),
    ("wine", "eem_rbf", "gmean", np.nan, np.nan, 60.0, 2.0, np.nan, "ours only"),
    ("wine", "eem_rbf", "mcc", 0.2, np.nan, 0.1, 0.1, -0.1, "lower"),
]
TABLE = pd.DataFrame([(*row, np.nan, "") for row in ROWS], columns=COLUMNS)


def of(results, table=TABLE, **entry):
    tables = {"table4": {"datasets": "real", "caption": "Scores"} | entry}
    study = with_sections(results.study, tables=tables, metrics=["gmean", "mcc"])
    return replace(results, study=study, tables={"table4": table})


def of_scores(results):
    return of(results, type="scores", metric=["gmean", "mcc"])


def of_times(results):
    return of(results, TABLE.assign(metric="fit_seconds"), type="times")


def test_numbers_are_compared_where_both_are_there_and_mean_the_same(results):
    points = compared(of_scores(results))
    assert points["measured"].tolist() == ["GMEAN, %", "GMEAN, %", "Matthews correlation"]
    assert points["ours"].tolist() == [80.5, 90.0, 0.1]
    assert compared(of_times(results)).empty


def test_picture_and_words_count_the_same(results, tmp_path):
    said = agreement(of_scores(results), tmp_path / "paper-agreement.svg")
    assert "1 higher, 1 reproduced" in said["alt"]
    assert "GMEAN, %: 2" in said["says"]  # the median of 1 and 3
    drawn = (tmp_path / "paper-agreement.svg").read_text()
    assert "GMEAN, %" in drawn
    assert "Matthews correlation" in drawn


def test_nothing_to_compare_is_no_picture(results, tmp_path):
    assert agreement(of_times(results), tmp_path / "none.svg") is None
    assert list(tmp_path.glob("none*")) == []
