"""Boards of made rows, written as the runner writes them."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

SETS = {
    f"set{k}": {"task": "binary", "rows": 500 * (k + 1), "features": 8 * k + 2, "rarest": 0.05 * k + 0.01}
    for k in range(8)
}
STRENGTHS = {"constant": None, "EEM": 0.9, "XGBoost": 0.8, "SVM": 0.7, "slow": 0.75}


@pytest.fixture(scope="session")
def rows() -> pd.DataFrame:
    """Two repeats of two folds of eight sets; `SVM` has no log loss, `slow` fails on the last two sets."""
    rng = np.random.default_rng(0)
    made = []
    for name, learner, repeat, fold in itertools.product(SETS, STRENGTHS, range(2), range(2)):
        row = {
            "set": name,
            "size": 1000,
            "learner": learner,
            "variant": "default",
            "repeat": repeat,
            "fold": fold,
        }
        strength = STRENGTHS[learner]
        if learner == "slow" and name in ("set6", "set7"):
            made.append({**row, "reason": "over the limit"})
            continue
        gmean = 0.0 if strength is None else strength + 0.02 * rng.standard_normal()
        found = {"gmean": gmean, "auc": 0.5 if strength is None else gmean, "fit_s": 0.5, "predict_s": 0.25}
        found["log_loss"] = 0.7 if strength is None else 1 - gmean
        if learner == "SVM":
            del found["log_loss"]
        made.append({**row, **found})
    return pd.DataFrame(made).assign(made="abc")


@pytest.fixture(scope="session")
def folder(rows, tmp_path_factory):
    """A folder with the board's file and its header."""
    board = tmp_path_factory.mktemp("board")
    rows.to_csv(board / "binary.csv", index=False)
    made = {"machine": "a machine, numpy 2, entrolearn 1a2b3c", "python": "3.11", "versions": {"numpy": "2"}}
    header = {"made": {"abc": made}, "protocol": {"configurations": 10}, "sets": SETS}
    (board / "header.json").write_text(json.dumps(header), encoding="utf-8")
    return board
