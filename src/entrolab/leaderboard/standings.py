"""The lines of a leaderboard, with intervals by resampling data sets and, within each, its draws."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from entrolab.leaderboard.ratings import DIGITS, elo, normalised, pareto_front, win_rates, wins
from entrolab.leaderboard.rows import Slice

__all__ = ["N_RESAMPLES", "resampled", "standings"]

N_RESAMPLES = 200
INTERVAL = (2.5, 97.5)  # percentiles


def resampled(scores: pd.DataFrame, n_resamples: int = N_RESAMPLES, seed: int = 0) -> Iterator[pd.DataFrame]:
    """Yield mean scores of data sets drawn with replacement, each over repeats drawn with replacement.

    Both folds of a repeat are drawn together, because each one's training rows are the other's test rows.

    Parameters
    ----------
    scores : DataFrame of shape (n_draws, n_learners)
        Indexed by set, repeat and fold.
    n_resamples, seed : int

    Yields
    ------
    DataFrame of shape (n_datasets, n_learners)
    """
    of_repeats = scores.groupby(level=["set", "repeat"], sort=False).mean()
    values = of_repeats.to_numpy()
    places = list(of_repeats.groupby(level="set", sort=False).indices.values())
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples):
        sets = rng.integers(len(places), size=len(places))
        means = [values[rng.choice(places[one], len(places[one]))].mean(axis=0) for one in sets]
        yield pd.DataFrame(means, columns=scores.columns)


def standings(of: Slice, n_resamples: int = N_RESAMPLES) -> pd.DataFrame:
    """The lines of a leaderboard, the best mean rank first.

    Parameters
    ----------
    of : Slice
    n_resamples : int

    Returns
    -------
    DataFrame
        Indexed by learner: ``rank`` (the mean over data sets, ties averaged), ``elo`` with ``elo_low`` and
        ``elo_high``, ``won`` (mean win rate against the others), ``normalised`` and ``score`` (means over
        data sets), ``behind`` (the first line's mean score less this one's) with ``behind_low`` and
        ``behind_high``, ``fit_s`` and ``predict_s`` (processor seconds of 1,000 rows, the median over runs,
        failed ones counting as infinite), ``front`` (on the Pareto front of score and ``fit_s``) and
        ``failed``. Intervals cover 95 %.
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
    for drawn in resampled(of.scores, n_resamples):
        elos.append(elo(wins(drawn)))
        means = drawn.mean()
        behind.append(means[leader] - means)
    lines["behind"] = lines.loc[leader, "score"] - lines["score"]
    for name, draws in (("elo", elos), ("behind", behind)):
        low, high = np.percentile(pd.DataFrame(draws)[lines.index], INTERVAL, axis=0)
        lines[f"{name}_low"], lines[f"{name}_high"] = low, high
    lines["front"] = pareto_front(lines["score"], lines["fit_s"])
    return lines
