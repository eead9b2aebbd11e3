"""The rows of a board: the scores of every learner on every draw, and the score of a failed run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.fit.metrics import METRICS

CONSTANT = "constant"
FOLDS = 2  # each half of the drawn rows is once the training and once the test part
DRAW = ["set", "repeat", "fold"]
TYPES = {"set": "string", "learner": "string", "variant": "string", "reason": "string", "made": "string"}


@dataclass(frozen=True)
class Slice:
    """Scores of the learners for one metric, variant and number of rows.

    Scores are indexed by set, repeat and fold. Greater is better: losses are negated. A failed run has the
    score of the constant prediction. Draws that lack a run of any learner are left out.
    """

    metric: str
    scores: pd.DataFrame
    constant: pd.Series  # scores of the constant prediction
    fit_s: pd.DataFrame  # processor seconds per 1,000 rows, infinite where the run failed
    predict_s: pd.DataFrame
    failed: pd.Series  # number of runs

    @property
    def by_set(self) -> pd.DataFrame:
        """The mean score of each learner on each data set."""
        return self.scores.groupby(level="set", sort=False).mean()

    @property
    def constant_by_set(self) -> pd.Series:
        """The mean score of the constant prediction on each data set."""
        return self.constant.groupby(level="set", sort=False).mean()

    def of_sets(self, names) -> "Slice":
        """The slice restricted to some data sets."""
        kept = self.scores.index.get_level_values("set").isin(list(names))
        parts = (self.scores[kept], self.constant[kept], self.fit_s[kept], self.predict_s[kept])
        return Slice(self.metric, *parts, np.isinf(parts[2]).sum())


def read_board(file: str | Path) -> tuple[pd.DataFrame, dict]:
    """The rows of a board, one per run, and the header (``header.json``) from the same folder."""
    file = Path(file)
    header = json.loads((file.parent / "header.json").read_text(encoding="utf-8"))
    return pd.read_csv(file, dtype=TYPES), header


def slice_of(
    rows: pd.DataFrame, facts: Mapping[str, Mapping], metric: str, variant: str, size: int
) -> Slice | None:
    """The scores for one metric, variant and number of rows; None if there are none.

    Learners that lack the metric, such as log loss for one without probabilities, are left out. `facts` has
    the number of ``rows`` of each data set; `size` is the maximum number of rows drawn from one.
    """
    here = rows[rows["size"] == size]
    constant = here[(here["learner"] == CONSTANT) & (here["variant"] == "default")].set_index(DRAW)[metric]
    here = here[(here["variant"] == variant) & (here["learner"] != CONSTANT)]
    failed = here["reason"].notna()
    without = set(here["learner"]) - set(here.loc[here[metric].notna() | failed, "learner"])
    without |= set(here.loc[here[metric].isna() & ~failed, "learner"])
    here = here[~here["learner"].isin(without)]
    if here.empty or constant.empty:
        return None
    wide = here.pivot(index=DRAW, columns="learner", values=[metric, "fit_s", "predict_s", "size"])
    complete = wide["size"].notna().all(axis=1) & wide.index.isin(constant.index)
    wide = wide[complete]
    if wide.empty:
        return None
    constant = constant.loc[wide.index]
    values = wide[metric].astype(float)
    lost = values.isna()
    values = values.apply(lambda column: column.fillna(constant))
    drawn = np.array([min(size, facts[name]["rows"]) for name in wide.index.get_level_values("set")])
    seconds = {
        name: wide[name].astype(float).div(drawn / FOLDS / 1000, axis=0).mask(lost, np.inf)
        for name in ("fit_s", "predict_s")
    }
    sign = 1 if METRICS[metric].greater_is_better else -1
    return Slice(metric, sign * values, sign * constant, failed=lost.sum(), **seconds)
