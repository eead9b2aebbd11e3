"""The scores of a board's rows by learner, and the lines of its table: mean ranks, Elo ratings, seconds.

References
----------
R. A. Bradley and M. E. Terry (1952). Rank analysis of incomplete block designs. Biometrika 39, 324–345.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.board.learners import LEARNERS
from benchmarks.board.protocol import FOLDS
from benchmarks.board.sets import n_rows
from entrolab.fit.metrics import METRICS
from entrolab.tables.ranking import LEAST_DATASETS, Ranking, rank_models

DRAW = ["set", "repeat", "fold"]
N_RESAMPLES = 200
INTERVAL = (2.5, 97.5)  # percentiles
MEAN_ELO = 1500.0
DIGITS = 9  # scores are rounded to so many decimals: equal means may differ as floats
LEAST_FINISHED = 0.9  # share of the data sets; learners that finished fewer are outside the ranks
_POINTS = 400 / np.log(10)  # Elo points per unit of log odds


@dataclass(frozen=True)
class Slice:
    """Scores of the learners for one metric, variant and number of rows.

    Scores are indexed by set, repeat and fold. Greater is better: losses are negated. A failed run has none.
    Draws that lack a run of any learner are left out.
    """

    metric: str
    scores: pd.DataFrame
    fit_s: pd.DataFrame  # processor seconds per 1,000 rows
    predict_s: pd.DataFrame

    @cached_property
    def finished(self) -> pd.DataFrame:
        """Whether a learner (column) has no failed run on a data set (row)."""
        return self.scores.notna().groupby(level="set", sort=False).all()

    @cached_property
    def ranked(self) -> pd.Index:
        """The learners that finished at least nine tenths of the data sets."""
        return self.finished.columns[self.finished.mean() >= LEAST_FINISHED]

    @cached_property
    def sets(self) -> pd.Index:
        """The data sets that all ranked learners finished."""
        return self.finished.index[self.finished[self.ranked].all(axis=1)]

    @cached_property
    def by_set(self) -> pd.DataFrame:
        """The mean score of each ranked learner on each of `sets`, rounded so that equal means are equal."""
        return self._means[self.ranked].loc[self.sets]

    def own(self, name: str) -> pd.DataFrame:
        """Like `by_set` for one more learner, on the data sets that it finished as well."""
        shared = self.sets[self.finished.loc[self.sets, name]]
        return self._means[self.ranked.union([name], sort=False)].loc[shared]

    @cached_property
    def _means(self) -> pd.DataFrame:
        return self.scores.groupby(level="set", sort=False).mean().round(DIGITS)

    @cached_property
    def ranking(self) -> Ranking | None:
        """Mean ranks over the data sets and tests of their differences; None with too few data sets."""
        return rank_models(self.by_set)


def slice_of(rows: pd.DataFrame, metric: str, variant: str, size: int) -> Slice | None:
    """The scores for one metric, variant and number of rows; None if there are none.

    `size` is the maximum number of rows drawn from a data set. Learners that lack the metric, such as log
    loss for one without probabilities, are left out, and without tuning those that need it.
    """
    untuned = variant in ("default", "threshold")
    unfit = [name for name, learner in LEARNERS.items() if untuned and learner.only_tuned]
    here = rows[(rows["size"] == size) & (rows["variant"] == variant) & ~rows["learner"].isin(unfit)]
    failed = here["reason"].notna()
    without = set(here["learner"]) - set(here.loc[here[metric].notna() | failed, "learner"])
    without |= set(here.loc[here[metric].isna() & ~failed, "learner"])
    here = here[~here["learner"].isin(without)]
    if here.empty:
        return None
    wide = here.pivot(index=DRAW, columns="learner", values=[metric, "fit_s", "predict_s", "size"])
    wide = wide[wide["size"].notna().all(axis=1)]
    if wide.empty:
        return None
    drawn = np.array([min(size, n_rows(name)) for name in wide.index.get_level_values("set")])
    seconds = {
        name: wide[name].astype(float).div(drawn / FOLDS / 1000, axis=0) for name in ("fit_s", "predict_s")
    }
    sign = 1 if METRICS[metric].greater_is_better else -1
    return Slice(metric, sign * wide[metric].astype(float), **seconds)


def wins(scores: np.ndarray) -> np.ndarray:
    """The number of data sets on which each learner scores higher than each other one; a tie is half a win.

    `scores` has a row for each data set. The row's learner wins against the column's; the diagonal is half
    the number of data sets.

    Examples
    --------
    >>> from benchmarks.board.standings import wins
    >>> wins(np.array([[3, 1], [2, 2], [1, 0]])).tolist()
    [[1.5, 2.5], [0.5, 1.5]]
    """
    ahead = scores[:, :, None] - scores[:, None, :]
    return (ahead > 0).sum(axis=0) + (ahead == 0).sum(axis=0) / 2


def elo(won: np.ndarray) -> np.ndarray:
    """Elo ratings with mean 1500: the Bradley–Terry model fitted by maximum likelihood to :func:`wins`.

    One tie is added to each pair, so that the rating of a learner that always wins is finite. A lead of r
    points means a win with probability 1 / (1 + 10^(-r / 400)).

    Examples
    --------
    >>> from benchmarks.board.standings import elo, wins
    >>> first, second = elo(wins(np.array([[1, 0], [1, 0], [1, 0], [1, 2]])))
    >>> float(round(first - second, 3))  # 400 log10((3 + ½) / (1 + ½))
    147.191
    """
    first, second = np.triu_indices(len(won), k=1)
    if not len(first):
        return np.full(len(won), MEAN_ELO)
    matches = np.zeros((len(first), len(won)))
    matches[np.arange(len(first)), first] = 1
    matches[np.arange(len(first)), second] = -1
    weights = np.r_[won[first, second], won[second, first]] + 0.5
    outcomes = np.repeat([1, 0], len(first))
    # Ratings are relative: without the column of the first learner the Hessian is regular.
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-8)
    model.fit(np.tile(matches[:, 1:], (2, 1)), outcomes, sample_weight=weights)
    strengths = np.r_[0.0, model.coef_[0]]
    return MEAN_ELO + _POINTS * (strengths - strengths.mean())


def pareto_front(score, seconds) -> np.ndarray:
    """Mask of the learners on the Pareto front of score and time.

    A learner is off the front if another one is at least as good in both and better in one of them. Greater
    scores and fewer seconds are better.

    Examples
    --------
    >>> from benchmarks.board.standings import pareto_front
    >>> pareto_front([0.9, 0.8, 0.7], [3, 1, 2]).tolist()
    [True, True, False]
    """
    score, seconds = np.asarray(score, dtype=float), np.asarray(seconds, dtype=float)
    as_good = (score >= score[:, None]) & (seconds <= seconds[:, None])
    better = (score > score[:, None]) | (seconds < seconds[:, None])
    return ~(as_good & better).any(axis=1)


def standings(of: Slice, n_resamples: int = N_RESAMPLES) -> pd.DataFrame:
    """The lines of a board's table by learner, the best mean rank first.

    The columns are ``rank`` (mean over data sets, ties averaged), ``elo`` with the ends of its interval
    ``elo_low`` and ``elo_high``, ``fit_s`` and ``predict_s`` (processor seconds per 1,000 rows, median over
    runs) and ``front`` (on the Pareto front of mean score and ``fit_s``).

    The intervals are percentiles of a bootstrap over data sets, 2.5 and 97.5 %; NaN with fewer than five data
    sets. The draws within a data set are not resampled: the mean of a data set already contains the variation
    between its draws, which would count twice.
    """
    by_set = of.by_set
    scores = by_set.to_numpy()
    rng = np.random.default_rng(0)
    draws = rng.integers(len(scores), size=(n_resamples, len(scores)))
    low = high = np.nan
    if len(scores) >= LEAST_DATASETS:
        low, high = np.percentile([elo(wins(scores[drawn])) for drawn in draws], INTERVAL, axis=0)
    fit_s, predict_s = (one.loc[of.sets, of.ranked].median() for one in (of.fit_s, of.predict_s))
    lines = pd.DataFrame(
        {
            "rank": by_set.rank(axis=1, ascending=False).mean(),
            "elo": elo(wins(scores)),
            "elo_low": low,
            "elo_high": high,
            "fit_s": fit_s,
            "predict_s": predict_s,
            "front": pareto_front(by_set.mean(), fit_s),
        },
        index=by_set.columns,
    )
    return lines.sort_values("rank", kind="stable")
