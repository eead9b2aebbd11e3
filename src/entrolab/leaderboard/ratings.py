"""Win rates, Elo ratings, normalised scores and the Pareto front of learners over data sets.

Scores are tables of data sets × learners without missing values; greater is better.

References
----------
R. A. Bradley and M. E. Terry (1952). Rank analysis of incomplete block designs. Biometrika 39, 324–345.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

MEAN_ELO = 1500.0
DIGITS = 9  # scores are rounded to so many decimals: equal means may differ as floats
_POINTS = 400 / np.log(10)  # Elo points per unit of log odds


def wins(scores: pd.DataFrame) -> pd.DataFrame:
    """The number of data sets on which each learner scores higher than each other one; a tie is half a win.

    The row's learner wins against the column's; the diagonal is half the number of data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from entrolab.leaderboard.ratings import wins
    >>> wins(pd.DataFrame({"a": [3, 2, 1], "b": [1, 2, 0]}))
         a    b
    a  1.5  2.5
    b  0.5  1.5
    """
    values = scores.to_numpy().round(DIGITS)
    ahead = values[:, :, None] - values[:, None, :]
    counted = (ahead > 0).sum(axis=0) + (ahead == 0).sum(axis=0) / 2
    return pd.DataFrame(counted, scores.columns, scores.columns)


def win_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """The fraction of data sets on which each learner beats each other one; a tie is half a win."""
    return wins(scores) / len(scores)


def elo(won: pd.DataFrame) -> pd.Series:
    """Elo ratings with mean 1500: the Bradley–Terry model fitted by maximum likelihood to :func:`wins`.

    One tie is added to each pair, so that the rating of a learner that always wins is finite. A lead of r
    points means a win with probability 1 / (1 + 10^(-r / 400)).

    Examples
    --------
    >>> from entrolab.leaderboard.ratings import elo, wins
    >>> import pandas as pd
    >>> ratings = elo(wins(pd.DataFrame({"a": [1, 1, 1, 1], "b": [0, 0, 0, 2]})))
    >>> float(round(ratings["a"] - ratings["b"], 3))  # 400 log10((3 + ½) / (1 + ½))
    147.191
    """
    first, second = np.triu_indices(len(won), k=1)
    if not len(first):
        return pd.Series(MEAN_ELO, won.index)
    matches = np.zeros((len(first), len(won)))
    matches[np.arange(len(first)), first] = 1
    matches[np.arange(len(first)), second] = -1
    counted = won.to_numpy()
    weights = np.r_[counted[first, second], counted[second, first]] + 0.5
    outcomes = np.repeat([1, 0], len(first))
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8, max_iter=1000)
    model.fit(np.tile(matches, (2, 1)), outcomes, sample_weight=weights)
    strengths = model.coef_[0]
    return pd.Series(MEAN_ELO + _POINTS * (strengths - strengths.mean()), won.index)


def normalised(scores: pd.DataFrame, constant: pd.Series) -> pd.DataFrame:
    """Scores scaled per data set: 0 for a constant prediction or worse, 1 for the best learner.

    Where no learner exceeds the score of the constant prediction, all learners get 0.
    """
    above = scores.sub(constant, axis=0).clip(lower=0)
    best = above.max(axis=1)
    return above.div(best.where(best > 0, 1), axis=0)


def pareto_front(score, seconds) -> np.ndarray:
    """Mask of the learners on the Pareto front of score and time.

    A learner is off the front if another one is at least as good in both and better in one of them. Greater
    scores and fewer seconds are better.

    Examples
    --------
    >>> from entrolab.leaderboard.ratings import pareto_front
    >>> pareto_front([0.9, 0.8, 0.7], [3, 1, 2]).tolist()
    [True, True, False]
    """
    score, seconds = np.asarray(score, dtype=float), np.asarray(seconds, dtype=float)
    as_good = (score >= score[:, None]) & (seconds <= seconds[:, None])
    better = (score > score[:, None]) | (seconds < seconds[:, None])
    return ~(as_good & better).any(axis=1)
