"""Agreement of clusters with classes that the clusterers do not see, and the seconds of clustering."""

from typing import Literal

import numpy as np
from scipy.sparse import issparse
from scipy.special import xlogy
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from entrolab.experiments.measuring import limited, mean_and_std, of_each_model, quickest
from entrolab.fit.learners import build, seed_from
from entrolab.io.limits import Limits

AGREEMENTS = {"ari": adjusted_rand_score, "ami": adjusted_mutual_info_score}
DIVERGENCE = "divergence"
LIMITS = Limits(600, 8)  # of all repeats of a model
USUAL = ["ari", "ami", "clusters", "seconds"]


def measure(
    rows,
    at,
    models,
    *,
    measures: list[Literal["ari", "ami", "clusters", "divergence", "seconds"]] = USUAL,
    repeats: int = 10,
    n_rows: int = 5000,
):
    """Cluster a data set with every model, `repeats` times if a model depends on its seed.

    Of a larger data set, a random sample of `n_rows` is clustered. There is a row per model and measure with
    the mean over the repeats and its standard deviation (NaN of one); the divergence of the classes is a
    footnote.
    """
    X, y = sample(rows.scaled, n_rows, seed_of(at, "rows"))
    seeds = [seed_of(at, f"run {run}") for run in range(1, repeats + 1)]
    shares, failed, note = None, [], ""
    if DIVERGENCE in measures:
        try:
            shares = DivergenceShare(X)
            note = f"the classes: {100 * shares(y):.1f} %"
        except ValueError as error:
            failed = [{"metric": DIVERGENCE, "status": "failed", "error": str(error)}]

    def of_model(name, model):
        labels = limited(LIMITS, clustered, model, X, seeds, parts=f"{len(seeds)} runs")
        return summary([measured(y, *one, measures, shares) for one in labels], note)

    return failed + of_each_model(of_model, models, at.progress)


def seed_of(at, what):
    """The seed of a repeat, or of the sample of rows; the same for all models."""
    return seed_from(at.seed, at.study, at.table, at.dataset, what)


def sample(data, n_rows, seed):
    """The rows and the classes of a data set, or of a random sample of it, in order."""
    if data.n_samples <= n_rows:
        return data.X, data.y
    drawn = np.sort(np.random.default_rng(seed).choice(data.n_samples, n_rows, replace=False))
    return data.X[drawn], data.y[drawn]


def clustered(model, X, seeds):
    """Yield the processor seconds of clustering and the labels of the rows, for each seed.

    A model that does not depend on its seed is run once.
    """
    for seed in seeds if draws(model) else seeds[:1]:
        seconds, labels = quickest(build(model, seed).fit_predict, X)
        yield seconds, np.asarray(labels)


def draws(model):
    """Whether any part of a model depends on the seed that it is built with."""
    one, other = (
        [value for name, value in build(model, seed).get_params().items() if name.endswith("random_state")]
        for seed in (0, 1)
    )
    return one != other


def measured(y, seconds, labels, measures, shares):
    """The measures of one run."""
    found = {"clusters": len(np.unique(labels[labels >= 0])), "seconds": seconds}
    found |= {name: score(y, labels) for name, score in AGREEMENTS.items() if name in measures}
    if shares is not None:
        found[DIVERGENCE] = 100 * shares(labels)
    return {name: float(found[name]) for name in measures if name in found}


def summary(runs, note):
    """Yield the rows of a model, the means of its runs; `note` is about the divergence."""
    for metric in runs[0]:
        found = mean_and_std([run[metric] for run in runs])
        yield {"metric": metric, **found, "error": note if metric == DIVERGENCE else ""}


class DivergenceShare:
    r"""The share of the divergence of rows from their mean that lies between groups.

    Rows are treated as distributions :math:`p_i` with mean m; groups have means :math:`m_c` and shares
    :math:`w_c` of the rows. As for every Bregman divergence, the parts within and between groups add up:

    .. math::
        \tfrac1n \sum_i D(p_i \| m) = \tfrac1n \sum_i D(p_i \| m_{c(i)}) + \sum_c w_c D(m_c \| m)

    The left side is the mutual information of row and column; the last term is that of group and column. See
    Banerjee, Merugu, Dhillon and Ghosh, Clustering with Bregman Divergences, JMLR 6 (2005), section 3.

    Examples
    --------
    >>> share = DivergenceShare(np.array([[1.0, 0], [2, 0], [0, 1], [1, 1]]))
    >>> share(np.array([0, 0, 1, 2])), share(np.array([0, 0, 0, 0]))
    (1.0, 0.0)
    """

    def __init__(self, X):
        X = np.asarray(X.toarray() if issparse(X) else X, dtype=float)
        if (X < 0).any() or not X.any(axis=1).all():
            raise ValueError(
                "found rows that are not distributions, with a negative value or only zeros; "
                "accepted: nonnegative rows"
            )
        self._rows = X / X.sum(axis=1, keepdims=True)
        self._of_mean = _negative_entropies(self._rows.mean(axis=0))
        self._whole = _negative_entropies(self._rows).mean() - self._of_mean

    def __call__(self, labels):
        """The share, 0 to 1, that lies between groups; 0 where all rows are equal."""
        groups, sizes = np.unique(labels, return_counts=True)
        means = np.array([self._rows[labels == group].mean(axis=0) for group in groups])
        between = sizes / sizes.sum() @ _negative_entropies(means) - self._of_mean
        return float(between / self._whole) if self._whole > 0 else 0.0


def _negative_entropies(p):
    return xlogy(p, p).sum(axis=-1)
