"""Maximum entropy linear manifolds: divergences that are cheaper than all pairs, beside them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import ortho_group

from benchmarks.measure import alone, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn.manifold.exact import log_potential
from entrolearn.manifold.objective import ProjectedDivergence

# Pairs of classes, and the weight of the logarithm of their potential.
TERMS = ((0, 0, 1.0), (1, 1, 1.0), (0, 1, -2.0))


@dataclass(frozen=True, eq=False)
class Crossed:
    """Two blurred classes in opposite quadrants of a plane, among features of decreasing variance.

    No line separates them, and no principal axes show them.
    """

    X: np.ndarray
    y: np.ndarray
    V: np.ndarray  # (n_features, 2): near a basis of the plane, but not one, so that the gradient is not zero

    @classmethod
    def draw(cls, n_samples: int, n_features: int) -> "Crossed":
        rng = np.random.default_rng(0)
        latent = rng.standard_normal((n_samples, n_features))
        plane = [0, n_features // 2]
        product = latent[:, plane[0]] * latent[:, plane[1]]
        y = (product + 0.1 * rng.standard_normal(n_samples) > 0).astype(int)
        axes = ortho_group.rvs(n_features, random_state=0)
        size = np.logspace(0, -1.5, n_features)
        V = axes[:, plane] / size[plane] + 0.3 * rng.standard_normal((n_features, 2))
        return cls(latent * size @ axes.T, y, V)

    def divergence(self) -> ProjectedDivergence:
        """The objective of the projection, as a fit has it."""
        rows = [self.X[self.y == c] for c in (0, 1)]
        return ProjectedDivergence.of_classes(
            rows, 2, bandwidth_scale=1.0, covariance="ledoit_wolf", method="exact"
        )


# --- cheaper divergences ------------------------------------------------------------------------------

Evaluation = Callable[[np.ndarray], tuple[float, np.ndarray]]


def shortcuts(
    limits: Limits, sizes: Sequence[int] = (1000, 10_000, 100_000), n_features=20, draws=25
) -> Section:
    """The paper's suggestions for many rows (section 4) compared with all pairs: errors and time."""
    rows = [
        {"N": n, "by": name, **row}
        for n in sizes
        for name, row in alone(limits, beside_all_pairs, n, n_features, draws).items()
    ]
    notes = [
        f"Two classes of N rows together, {n_features} features, projected onto a plane. Faster: the seconds "
        "of all pairs over those of one evaluation of value and gradient.",
        "The bias in nats is that of the mean, the spread the standard deviation, over "
        f"{draws} evaluations; the gradient's error is the root of its mean square, in percent of the "
        "gradient.",
        "√N rows of each class, drawn anew in each evaluation, have the kernels of all rows. In a sum over "
        "their pairs those of a row with itself count √N times as much as in that of all rows; without "
        "self-pairs, each pair has the share that it has among all.",
    ]
    return Section("Cheaper divergences", pd.DataFrame(rows).set_index(["N", "by"]), notes)


def beside_all_pairs(n_samples: int, n_features: int, draws: int) -> dict[str, dict]:
    """Time and errors of all pairs and of each of :data:`CHEAPER`."""
    data = Crossed.draw(n_samples, n_features)
    divergence = data.divergence()
    spent = spend(partial(divergence, data.V))
    value, gradient = spent.value
    found = {"all pairs": {"ms": 1e3 * spent.seconds, "faster": 1.0, "value": value}}
    for name, prepare in CHEAPER.items():
        evaluate = prepare(divergence, np.random.default_rng(0))
        seconds = spend(partial(evaluate, data.V)).seconds
        values, gradients = zip(*(evaluate(data.V) for _ in range(draws)), strict=True)
        squares = [np.sum((each - gradient) ** 2) for each in gradients]
        found[name] = {
            "ms": 1e3 * seconds,
            "faster": spent.seconds / seconds,
            "value": np.mean(values),
            "bias": np.mean(values) - value,
            "spread": np.std(values),
            "gradient %": 100 * math.sqrt(np.mean(squares)) / np.linalg.norm(gradient),
        }
    return found


def binned(divergence: ProjectedDivergence, rng: np.random.Generator) -> Evaluation:
    """Binning, the method of this library."""
    return replace(divergence, method="binned")


def sampled(divergence: ProjectedDivergence, rng: np.random.Generator, *, self_pairs: bool) -> Evaluation:
    """√N rows of each class, drawn again for each evaluation, with the kernels of all rows."""
    n_rows = [len(rows) for rows in divergence.rows]

    def evaluate(V: np.ndarray) -> tuple[float, np.ndarray]:
        drawn = replace(divergence, rows=tuple(_some(rows, rng) for rows in divergence.rows))
        return drawn(V) if self_pairs else without_self_pairs(drawn, n_rows, V)

    return evaluate


def _some(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """√N rows, drawn without replacement from N."""
    return rows[rng.choice(len(rows), math.ceil(math.sqrt(len(rows))), replace=False)]


def without_self_pairs(
    drawn: ProjectedDivergence, n_rows: Sequence[int], V: np.ndarray
) -> tuple[float, np.ndarray]:
    """The divergence of all rows estimated from drawn rows, corrected for pairs of a row with itself.

    `drawn` is that of the drawn rows, with the kernels of all rows; `n_rows` counts all rows of each class.
    """
    points, kernels = [rows @ V for rows in drawn.rows], V.T @ drawn.kernels @ V
    value, gradient = 0.0, np.zeros_like(V)
    for a, b, weight in TERMS:
        if a == b:
            log, of_a, of_kernel = own_log_potential(points[a], 2 * kernels[a], n_rows[a])
            of_b = np.zeros_like(of_a)
        else:
            log, of_a, of_b, of_kernel = log_potential(
                points[a], points[b], kernels[a] + kernels[b], same=False
            )
        value += weight * log
        gradient += weight * (drawn.rows[a].T @ of_a + drawn.rows[b].T @ of_b)
        gradient += weight * 2 * (drawn.kernels[a] + drawn.kernels[b]) @ V @ of_kernel
    return value, gradient


def own_log_potential(
    points: np.ndarray, kernel: np.ndarray, n_rows: int
) -> tuple[float, np.ndarray, np.ndarray]:
    """Logarithm of an unbiased estimate of a class's potential from some of its points, and its gradient.

    Of the n² pairs of all rows, n are pairs of a row with itself; of the pairs of m drawn points, m of m².
    The estimate weights both types of pairs by their shares among all rows. The gradient is that of the
    points and that of the kernel.
    """
    m, k = points.shape
    log, of_p, of_q, of_kernel = log_potential(points, points, kernel, same=True)
    log_self = -0.5 * (k * math.log(2 * math.pi) + np.linalg.slogdet(kernel)[1])  # of a row with itself
    of_all = (1 - 1 / n_rows) * m / (m - 1)
    of_self = 1 / n_rows - (1 - 1 / n_rows) / (m - 1)
    estimate = of_all * math.exp(log - log_self) + of_self  # in units of a pair of a row with itself
    share = of_all * math.exp(log - log_self) / estimate
    of_log_self = -0.5 * np.linalg.inv(kernel)
    return (
        log_self + math.log(estimate),
        share * (of_p + of_q),
        share * of_kernel + (1 - share) * of_log_self,
    )


# Name -> function of the objective of all pairs and a generator, which returns the cheaper objective.
CHEAPER: dict[str, Callable[[ProjectedDivergence, np.random.Generator], Evaluation]] = {
    "binned": binned,
    "√N rows": partial(sampled, self_pairs=True),
    "√N rows, no self-pairs": partial(sampled, self_pairs=False),
}
