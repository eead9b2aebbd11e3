"""Scores over the grid of a run."""

import json
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from entrolab.figures.files import Source
from entrolab.fit.metrics import as_shown
from entrolab.text import one_line


def grid_of(run: Source, names: Sequence[str], metric: str) -> tuple[pd.DataFrame, pd.Series]:
    """The test scores of a run over all parameters of its grid, and the reasons for those missing.

    The scores have a row per repeat and fold, a column per point, ascending, in percent if the metric is a
    percentage; NaN where a fit failed, for which each point has a reason.
    """
    candidates = run.candidates()
    points = pd.DataFrame(list(candidates["params"].map(json.loads)), index=candidates.index)[list(names)]
    score = as_shown(candidates[f"test_{metric}"].where(candidates["success"]), metric)
    fits = candidates[["repeat", "fold", "error"]].assign(score=score).join(points)
    scores = fits.pivot(index=["repeat", "fold"], columns=list(names), values="score").sort_index(axis=1)
    failed = fits[fits["score"].isna()].groupby(list(names))["error"].agg(most_common)
    return scores, failed.reindex(scores.columns, fill_value="")


def most_common(errors: pd.Series) -> str:
    """The most frequent error of some fits, in one line."""
    return one_line(Counter(errors).most_common(1)[0][0])
