"""How clusters agree with classes, and what finding them takes."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from scipy.sparse import issparse
from scipy.special import xlogy
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from entrolab.experiments.clusterings import CLASSES, DIVERGENCE
from entrolab.fit.learners import build, seed_from
from entrolab.fit.limits import LimitError, Limits, within

AGREEMENTS = {"ari": adjusted_rand_score, "ami": adjusted_mutual_info_score}


def measure(load: Callable, spec: Mapping, progress: Callable[[int, int], None]) -> list[dict]:
    """Cluster a data set by every model, several times where a model draws at random.

    Parameters
    ----------
    spec : mapping
        ``models``: estimator, params and steps of each; the ``measures``; ``repeats`` with seeds of their
        own, the same for all models; at most so many ``rows``; ``seconds`` and ``gib`` that all runs of a
        model may take.

    Returns
    -------
    list of dict
        Per model and measure the mean over the runs (value) and its standard deviation (std, NaN of one
        run), and each run, reading "run 1" and so on; of the divergence also that between the classes
        themselves. A model of which a run fails, or that reaches a limit, is a row with the reason.
    """
    X, y = sample(load("scaled"), spec)
    rows, shares = _divergences(X, y) if DIVERGENCE in spec["measures"] else ([], None)
    seeds = [seed_of(spec, f"run {run}") for run in range(1, spec["repeats"] + 1)]
    for done, (name, model) in enumerate(spec["models"].items(), start=1):
        runs = []
        try:
            for labels, seconds in within(Limits(spec["seconds"], spec["gib"]), clustered, model, X, seeds):
                runs.append(_measured(y, labels, seconds, spec["measures"], shares))
        except (LimitError, RuntimeError) as error:
            before = f"after {len(runs)} of {spec['repeats']} runs: " if runs else ""
            rows.append({"model": name, "status": "failed", "error": f"{before}{error}"})
        else:
            rows += [{"model": name, **row} for row in _summary(runs)]
        progress(done, len(spec["models"]))
    return rows


def sample(data, spec: Mapping) -> tuple:
    """All rows of a data set and their classes, or as many as are asked for, drawn at random, in order."""
    if data.n_samples <= spec["rows"]:
        return data.X, data.y
    rng = np.random.default_rng(seed_of(spec, "rows"))
    drawn = np.sort(rng.choice(data.n_samples, spec["rows"], replace=False))
    return data.X[drawn], data.y[drawn]


def clustered(model: Mapping, X, seeds: Sequence[int]) -> Iterator[tuple[np.ndarray, float]]:
    """The clusters of the rows and the processor seconds they took, for each seed.

    A model that does not draw at random has one run.
    """
    for seed in seeds if draws(model) else seeds[:1]:
        clusterer = build(model, seed)
        began = time.process_time()
        labels = clusterer.fit_predict(X)
        yield np.asarray(labels), time.process_time() - began


def draws(model: Mapping) -> bool:
    """Whether the seed that a model is built with reaches any part of it."""
    one, other = (
        [value for name, value in build(model, seed).get_params().items() if name.endswith("random_state")]
        for seed in (0, 1)
    )
    return one != other


class DivergenceShare:
    r"""How much of the divergence of rows from their mean lies between groups of them.

    Rows are taken as distributions :math:`p_i`, with the mean m; groups have means :math:`m_c` and shares
    :math:`w_c` of the rows. As for every Bregman divergence, what is within and what is between add up:

    .. math::
        \tfrac1n \sum_i D(p_i \| m) = \tfrac1n \sum_i D(p_i \| m_{c(i)}) + \sum_c w_c D(m_c \| m)

    On the left is the mutual information of row and column, the last term is that of group and column.

    Parameters
    ----------
    X : {ndarray, CSR array}, shape (n_samples, n_features)
        Nonnegative, in each row something positive.

    References
    ----------
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
                "rows with a negative value or with zeros alone are no distributions; "
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
    """The rows on the divergence that no model decides, and its measure, where the data have one."""
    try:
        shares = DivergenceShare(X)
    except ValueError as error:
        return [{"metric": DIVERGENCE, "status": "failed", "error": str(error)}], None
    return [{"metric": DIVERGENCE, "reading": CLASSES, "value": 100 * shares(y)}], shares


def _measured(
    y: np.ndarray,
    labels: np.ndarray,
    seconds: float,
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
    for metric, found in values.items():
        std = float(np.std(found, ddof=1)) if len(found) > 1 else np.nan
        yield {"metric": metric, "value": float(np.mean(found)), "std": std}


def seed_of(spec: Mapping, what: str) -> int:
    """The seed of a run, or of the sample of rows; the same for all models."""
    return seed_from(spec["seed"], spec["study"], spec["table"], spec["dataset"], what)
