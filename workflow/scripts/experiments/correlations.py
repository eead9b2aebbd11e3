"""Rank correlation of the divergence of two projected classes with one of its terms (EEM paper, Table 1).

The classes of a data set are mapped by a random hidden layer and projected on a random linear operator b.
As Gaussians on the line with means m and variances S = b' Sigma b, their Cauchy-Schwarz divergence is::

    ln[ (S+ + S-) / 2 / sqrt(S+ S-) ]  +  (m+ - m-)^2 / (S+ + S-)

and EEM maximises only the second term. Spearman's rank correlation of divergence and second term is computed
over random layers and operators: layers × operators pairs of numbers, ranked together. (With one hidden unit,
both numbers are the same for every operator, so a correlation within a layer is undefined.)
"""

import itertools
from typing import Literal

import numpy as np
from scipy.stats import spearmanr

from entrolab.fit.learners import seed_from
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.moments import moments_by_group

# Sign of the logarithm in eq. (3), corrected and as published; the published constants do not change ranks.
SIGNS = {"right": 1, "published": -1}
FORMULAS = {"right": "eq. (3) put right", "published": "eq. (3) as published"}
NO_DATASETS: list = []
NONE: dict = {}


def measure(
    rows,
    at,
    *,
    sizes: list[int],
    layers: int,
    operators: int,
    activation: Literal["sigmoid", "nsigmoid", "rbf", "sine", "hardlimit"],
    weights: Literal["normal", "uniform"],
    formula: Literal["right", "published"],
    data: Literal["scaled", "raw"],
    centres: Literal["means", "sums"] = "means",
    others: dict[str, list[str]] = NONE,
    others_on: list[str] = NO_DATASETS,
):
    """Correlations by the table's own reading of the paper, with standard errors, and by other readings.

    `sizes` are those of the hidden layer; `layers` and `operators` are drawn. A reading is an activation of
    the hidden units, weights of the operators, a formula, data, and centres of the classes. On the data sets
    `others_on`, all combinations of the `others` are measured too. There is a row per reading and size.
    """
    own = {
        "activation": activation,
        "weights": weights,
        "formula": formula,
        "data": data,
        "centres": centres,
    }
    readings = [own]
    if at.dataset in others_on:
        every = [
            {**own, **dict(zip(others, one, strict=True))} for one in itertools.product(*others.values())
        ]
        readings += [reading for reading in every if reading != own]
    by_layer: dict[tuple, list] = {}
    for reading in readings:
        by_layer.setdefault((reading["data"], reading["activation"]), []).append(reading)
    found = []
    names = [at.seed, at.study, at.table, at.dataset]
    for number, ((which, units), mine) in enumerate(by_layer.items()):
        terms = []
        asked = {(one["weights"], one["centres"]) for one in mine}
        for layer in range(layers):
            terms.append(drawn(getattr(rows, which), units, asked, sizes, operators, [*names, layer]))
            at.progress(number * layers + layer + 1, len(by_layer) * layers)
        for reading, size in itertools.product(mine, sizes):
            parts = [one[reading["weights"], reading["centres"], size] for one in terms]
            logarithm, distance = np.moveaxis(parts, 1, 0)
            found.append(row_of(logarithm, distance, reading, size, is_own=reading is own))
    return found


def drawn(data, activation, asked, sizes, n_operators, names):
    """The terms of a random layer on random operators, by weights, centres and size."""
    sizes = sorted(sizes)
    rng = np.random.RandomState(seed_from(*names))
    layer = RandomLayer.draw(data.n_features, sizes[-1], activation, rng, below_one=activation != "rbf")
    moments = moments_by_group(layer, data.X, data.y, 2, sizes)
    terms = {}
    for weights in {weights for weights, _ in asked}:
        rng = np.random.RandomState(seed_from(*names, weights))
        # Smaller layers use the first units of the largest layer, and the first weights of operators.
        operators = getattr(rng, weights)(size=(n_operators, sizes[-1]))
        for size in sizes:
            leading = [one.restrict(size) for one in moments]
            for centres in (centres for name, centres in asked if name == weights):
                terms[weights, centres, size] = terms_of_divergence(leading, operators[:, :size], centres)
    return terms


def terms_of_divergence(moments, operators, centres="means"):
    """The logarithm and the distance in the divergence of two classes on each operator (row of `operators`).

    `moments` are those of the classes in the hidden space; covariances are Ledoit and Wolf's, as in the
    paper. The distance is between the means of the classes or, if `centres` is "sums", between the sums of
    their rows. The terms are not finite where a class has no variance.
    """
    first, second = moments
    factors = (first.n, second.n) if centres == "sums" else (1, 1)
    between = operators @ (factors[1] * second.mean - factors[0] * first.mean)
    variances = [((operators @ one.ledoit_wolf()[0]) * operators).sum(axis=1) for one in (first, second)]
    with np.errstate(divide="ignore", invalid="ignore"):
        # In logarithms: the product of variances of saturated units would underflow.
        half_ratio = (np.log(variances[0]) - np.log(variances[1])) / 2
        logarithm = np.logaddexp(half_ratio, -half_ratio) - np.log(2)
        return np.array([logarithm, between**2 / (variances[0] + variances[1])])


def row_of(logarithm, distance, reading, size, *, is_own):
    """The row of a reading and a size of the layer; the table's own reading has a standard error."""
    row = {"metric": f"spearman_h{size}", "reading": "" if is_own else in_words(**reading)}
    undefined = np.sum(~np.isfinite(logarithm + distance))
    if undefined:
        reason = f"{undefined} of {distance.size} projections have no variance"
        return {**row, "status": "failed", "error": reason}
    sign = SIGNS[reading["formula"]]
    value = rank_correlation(logarithm, distance, sign)
    return {**row, "value": value, "std": jackknife_error(logarithm, distance, sign) if is_own else np.nan}


def rank_correlation(logarithm, distance, sign):
    """Spearman's correlation of ``distance`` with ``distance + sign * logarithm``, all entries together."""
    return float(spearmanr((distance + sign * logarithm).ravel(), distance.ravel()).statistic)


def jackknife_error(logarithm, distance, sign):
    """Standard error of :func:`rank_correlation` from leaving out one layer (row) at a time."""
    n = len(distance)
    left = [np.arange(n) != layer for layer in range(n)]
    values = [rank_correlation(logarithm[kept], distance[kept], sign) for kept in left]
    return float(np.sqrt((n - 1) * np.var(values)))


def in_words(activation, weights, formula, data, centres):
    """The description of a reading in a footnote.

    Examples
    --------
    >>> in_words("rbf", "normal", "published", "raw", "sums")
    'rbf units, normal operators, eq. (3) as published, raw data, class sums'
    """
    sums = ["class sums"] if centres == "sums" else []
    return ", ".join(
        [f"{activation} units", f"{weights} operators", FORMULAS[formula], f"{data} data", *sums]
    )
