"""The lines of a leaderboard, with bootstrap intervals over data sets."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from entrolab.leaderboard.ratings import DIGITS, elo, normalised, pareto_front, win_rates, wins
from entrolab.leaderboard.rows import Slice
from entrolab.tables.ranking import LEAST_DATASETS

N_RESAMPLES = 200
INTERVAL = (2.5, 97.5)  # percentiles


def resampled(by_set: pd.DataFrame, n_resamples: int = N_RESAMPLES, seed: int = 0) -> Iterator[pd.DataFrame]:
    """Yield bootstrap samples of the data sets, each with as many data sets as `by_set`.

    Only data sets are resampled, not the draws within one: the mean of a data set already contains the
    variation between its draws, and resampling the draws would count it twice.
    """
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples):
        yield by_set.iloc[rng.integers(len(by_set), size=len(by_set))]


def standings(of: Slice, n_resamples: int = N_RESAMPLES) -> pd.DataFrame:
    """The lines of a leaderboard by learner, the best mean rank first.

    The columns are ``rank`` (mean over data sets, ties averaged), ``elo`` with ``elo_low`` and ``elo_high``,
    ``won`` (mean win rate against the others), ``normalised`` and ``score`` (means over data sets),
    ``behind`` (mean score of the first line minus this line's) with ``behind_low`` and ``behind_high``,
    ``fit_s`` and ``predict_s`` (processor seconds per 1,000 rows, median over runs, with failed runs as
    infinite), ``front`` (on the Pareto front of score and ``fit_s``) and ``failed`` (number of failed runs).
    The intervals are percentiles of a bootstrap over data sets, 2.5 and 97.5 %; NaN with fewer than five data
    sets.
    """
    by_set = of.by_set
    rates = win_rates(by_set)
    n_others = max(len(rates) - 1, 1)
    lines = pd.DataFrame(
        {
            "rank": by_set.round(DIGITS).rank(axis=1, ascending=False).mean(),
            "elo": elo(wins(by_set)),
            "won": (rates.sum(axis=1) - 0.5) / n_others,
            "normalised": normalised(by_set, of.constant_by_set).mean(),
            "score": by_set.mean(),
            "fit_s": of.fit_s.median(),
            "predict_s": of.predict_s.median(),
            "failed": of.failed,
        }
    ).sort_values("rank", kind="stable")
    leader = lines.index[0]
    elos, behind = [], []
    for drawn in resampled(by_set, n_resamples):
        elos.append(elo(wins(drawn)))
        means = drawn.mean()
        behind.append(means[leader] - means)
    lines["behind"] = lines.loc[leader, "score"] - lines["score"]
    for name, draws in (("elo", elos), ("behind", behind)):
        ends = np.percentile(pd.DataFrame(draws)[lines.index], INTERVAL, axis=0)
        low, high = ends if len(by_set) >= LEAST_DATASETS else np.full_like(ends, np.nan)
        lines[f"{name}_low"], lines[f"{name}_high"] = low, high
    lines["front"] = pareto_front(lines["score"], lines["fit_s"]) & np.isfinite(lines["fit_s"])
    return lines
