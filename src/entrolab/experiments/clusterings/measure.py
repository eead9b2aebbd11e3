"""Measure the agreement of clusters with classes, and the seconds of clustering."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from scipy.sparse import issparse
from scipy.special import xlogy
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from entrolab.experiments.clusterings import CLASSES, DIVERGENCE
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import limited, mean_and_std, of_each_model, quickest
from entrolab.fit.learners import build, seed_from
from entrolab.fit.limits import Limits

AGREEMENTS = {"ari": adjusted_rand_score, "ami": adjusted_mutual_info_score}


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Cluster a data set with every model, several times if a model depends on its seed.

    `spec` has the ``models``: estimator, params and steps of each; the ``measures``; the number of
    ``repeats``, each with one seed for all models; the greatest number of ``rows``; ``seconds`` and ``gib``
    limits of all repeats of a model.

    There is a row per model and measure with the mean over the repeats and its standard deviation (NaN of
    one), and one per repeat, reading "run 1" and so on; of the divergence also that between the classes. A
    model that fails or reaches a limit is a row with the reason.
    """
    X, y = sample(load("scaled"), spec)
    rows, shares = _divergences(X, y) if DIVERGENCE in spec.measures else ([], None)
    seeds = [seed_of(spec, f"run {run}") for run in range(1, spec.repeats + 1)]
    limits = Limits(spec.seconds, spec.gib)

    def of_model(name: str, model: Mapping) -> Iterator[dict]:
        found = limited(limits, clustered, model, X, seeds, parts=f"{len(seeds)} runs")
        return _summary([_measured(y, *one, spec.measures, shares) for one in found])

    return rows + of_each_model(of_model, spec, progress)


def sample(data, spec: Measurement) -> tuple:
    """The rows and the classes of a data set, or of a random sample of the spec's size, in order."""
    if data.n_samples <= spec.rows:
        return data.X, data.y
    rng = np.random.default_rng(seed_of(spec, "rows"))
    drawn = np.sort(rng.choice(data.n_samples, spec.rows, replace=False))
    return data.X[drawn], data.y[drawn]


def clustered(model: Mapping, X, seeds: Sequence[int]) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the processor seconds of clustering and the labels of the rows, for each seed.

    A model that does not depend on its seed is run once.
    """
    for seed in seeds if draws(model) else seeds[:1]:
        seconds, labels = quickest(build(model, seed).fit_predict, X)
        yield seconds, np.asarray(labels)


def draws(model: Mapping) -> bool:
    """Whether any part of a model depends on the seed that it is built with."""
    one, other = (
        [value for name, value in build(model, seed).get_params().items() if name.endswith("random_state")]
        for seed in (0, 1)
    )
    return one != other


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

    def __call__(self, labels: np.ndarray) -> float:
        """The share, 0 to 1, that lies between groups; 0 where all rows are equal."""
        groups, sizes = np.unique(labels, return_counts=True)
        means = np.array([self._rows[labels == group].mean(axis=0) for group in groups])
        between = sizes / sizes.sum() @ _negative_entropies(means) - self._of_mean
        return float(between / self._whole) if self._whole > 0 else 0.0


def _negative_entropies(p: np.ndarray) -> np.ndarray:
    return xlogy(p, p).sum(axis=-1)


def _divergences(X, y: np.ndarray) -> tuple[list[dict], DivergenceShare | None]:
    """The row on the divergence of the classes, and its measure; a failed row and None without one."""
    try:
        shares = DivergenceShare(X)
    except ValueError as error:
        return [{"metric": DIVERGENCE, "status": "failed", "error": str(error)}], None
    return [{"metric": DIVERGENCE, "reading": CLASSES, "value": 100 * shares(y)}], shares


def _measured(
    y: np.ndarray,
    seconds: float,
    labels: np.ndarray,
    measures: Sequence[str],
    shares: DivergenceShare | None,
) -> dict[str, float]:
    """The measures of one run."""
    found = {"clusters": len(np.unique(labels[labels >= 0])), "seconds": seconds}
    found |= {name: score(y, labels) for name, score in AGREEMENTS.items() if name in measures}
    if shares is not None:
        found[DIVERGENCE] = 100 * shares(labels)
    return {name: float(found[name]) for name in measures if name in found}


def _summary(runs: Sequence[Mapping[str, float]]) -> Iterator[dict]:
    values = defaultdict(list)
    for number, run in enumerate(runs, start=1):
        for metric, value in run.items():
            values[metric].append(value)
            yield {"metric": metric, "reading": f"run {number}", "value": value}
    yield from ({"metric": metric, **mean_and_std(found)} for metric, found in values.items())


def seed_of(spec: Measurement, what: str) -> int:
    """The seed of a repeat, or of the sample of rows; the same for all models."""
    return seed_from(spec.seed, spec.study, spec.table, spec.dataset, what)
