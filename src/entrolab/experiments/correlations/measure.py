"""Measure the rank correlation of the divergence of two projected classes with one of its terms.

The classes of a data set are mapped by a random hidden layer and projected on a random linear operator b.
As Gaussians on the line with means m and variances S = b' Sigma b, their Cauchy-Schwarz divergence is::

    ln[ (S+ + S-) / 2 / sqrt(S+ S-) ]  +  (m+ - m-)^2 / (S+ + S-)

and EEM maximises only the second term. Spearman's rank correlation of divergence and second term is computed
over random layers and operators: layers × operators pairs of numbers, ranked together. (With one hidden unit,
both numbers are the same for every operator, so a correlation within a layer is undefined.)
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np
from scipy.stats import spearmanr

from entrolab.experiments.measurement import Measurement
from entrolab.fit.learners import seed_from
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.moments import ClassMoments, moments_by_group

# Sign of the logarithm in eq. (3), corrected and as published; the published constants do not change ranks.
FORMULAS = {"right": 1, "published": -1}


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Correlations by the table's own reading, with standard errors, and by other readings.

    `spec` has the ``sizes`` of the hidden layer, ``layers`` and ``operators`` to draw, the ``reading`` and
    other ``readings`` of the paper. There is a row per reading ("" for the table's own) and size.
    """
    own, readings = spec.reading, [spec.reading, *spec.readings]
    layers: dict[tuple[str, str], list] = {}
    for reading in readings:
        layers.setdefault((reading.data, reading.activation), []).append(reading)
    rows = []
    for number, ((which, activation), mine) in enumerate(layers.items()):
        asked = {_terms_of(reading) for reading in mine}
        drawn = _drawn(load(which), activation, asked, spec)
        terms = []
        for done, of_layer in enumerate(drawn, start=1):
            terms.append(of_layer)
            progress(number * spec.layers + done, len(layers) * spec.layers)
        for reading, size in itertools.product(mine, spec.sizes):
            logarithm, distance = np.moveaxis([one[*_terms_of(reading), size] for one in terms], 1, 0)
            rows.append(_row(logarithm, distance, reading, size, is_own=reading is own))
    return rows


def in_words(reading) -> str:
    """The description of a reading in a footnote.

    Examples
    --------
    >>> from entrolab.experiments.correlations.table import Reading
    >>> parts = {"activation": "rbf", "weights": "normal", "formula": "published", "data": "raw"}
    >>> in_words(Reading(**parts, centres="sums"))
    'rbf units, normal operators, eq. (3) as published, raw data, class sums'
    """
    formula = {"right": "eq. (3) put right", "published": "eq. (3) as published"}[reading.formula]
    centres = "class sums" if reading.centres == "sums" else ""
    drawn = f"{reading.activation} units, {reading.weights} operators"
    return ", ".join(filter(None, [drawn, formula, f"{reading.data} data", centres]))


def terms_of_divergence(
    moments: Iterable[ClassMoments], operators: np.ndarray, centres: str = "means"
) -> np.ndarray:
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


def rank_correlation(logarithm: np.ndarray, distance: np.ndarray, sign: int) -> float:
    """Spearman's correlation of ``distance`` with ``distance + sign * logarithm``, all entries together."""
    return float(spearmanr((distance + sign * logarithm).ravel(), distance.ravel()).statistic)


def jackknife_error(logarithm: np.ndarray, distance: np.ndarray, sign: int) -> float:
    """Standard error of :func:`rank_correlation` from leaving out one layer (row) at a time."""
    n = len(distance)
    left = [np.arange(n) != layer for layer in range(n)]
    values = [rank_correlation(logarithm[kept], distance[kept], sign) for kept in left]
    return float(np.sqrt((n - 1) * np.var(values)))


def _drawn(data, activation: str, asked: Collection[tuple[str, str]], spec: Measurement) -> Iterator[dict]:
    """Yield the terms of each random layer on random operators, by weights, centres and size."""
    sizes = sorted(spec.sizes)
    names = [spec.seed, spec.study, spec.table, spec.dataset]
    for number in range(spec.layers):
        rng = np.random.RandomState(seed_from(*names, number))
        layer = RandomLayer.draw(data.n_features, sizes[-1], activation, rng, below_one=activation != "rbf")
        moments = moments_by_group(layer, data.X, data.y, 2, sizes)
        terms = {}
        for name in {weights for weights, _ in asked}:
            rng = np.random.RandomState(seed_from(*names, number, name))
            # Smaller layers use the first units of the largest layer, and the first weights of operators.
            operators = getattr(rng, name)(size=(spec.operators, sizes[-1]))
            for size in sizes:
                leading = [one.restrict(size) for one in moments]
                for centres in (centres for weights, centres in asked if weights == name):
                    of_size = terms_of_divergence(leading, operators[:, :size], centres)
                    terms[name, centres, size] = of_size
        yield terms


def _terms_of(reading) -> tuple[str, str]:
    """The parts of a reading that the terms depend on, besides the layer."""
    return reading.weights, reading.centres


def _row(logarithm: np.ndarray, distance: np.ndarray, reading, size: int, *, is_own: bool) -> dict:
    row = {"metric": f"spearman_h{size}", "reading": "" if is_own else in_words(reading)}
    undefined = np.sum(~np.isfinite(logarithm + distance))
    if undefined:
        reason = f"{undefined} of {distance.size} projections have no variance"
        return {**row, "status": "failed", "error": reason}
    sign = FORMULAS[reading.formula]
    value = rank_correlation(logarithm, distance, sign)
    return {**row, "value": value, "std": jackknife_error(logarithm, distance, sign) if is_own else np.nan}
