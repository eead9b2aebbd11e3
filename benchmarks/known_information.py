"""Distributions with known mutual information: in closed form, under invertible maps, or by an integral.

The tasks of the bmi package are drawn by :mod:`benchmarks.information_peers`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import digamma, entr, gammaln, ndtr
from scipy.stats import norm

from entrolearn.measures import mutual_information

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]


@dataclass(frozen=True)
class Task:
    """A distribution of X and Y, or of X, Y and Z."""

    kind: str  # the type of distribution, a row of the table
    name: str
    information: float  # mutual information in nats; conditional if there is a Z
    draw: Draw  # from a generator and a number of rows to X, Y and perhaps Z; labels are integers

    def rows(self, n_samples: int, seed: int) -> tuple[np.ndarray, ...]:
        """Rows of X, Y and perhaps Z: two-dimensional, except labels."""
        rng = np.random.default_rng([seed, n_samples, *self.name.encode()])
        return self.draw(rng, n_samples)


# --- Gaussian ---------------------------------------------------------------------------------------------


def gaussian(correlation: np.ndarray, d_x: int, *maps: Callable[[np.ndarray], np.ndarray]) -> Draw:
    """Gaussian variables with a correlation matrix, the first `d_x` columns X; X and Y each mapped."""
    root = np.linalg.cholesky(correlation)

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        rows = rng.standard_normal((n_samples, len(root))) @ root.T
        parts = rows[:, :d_x], rows[:, d_x:]
        return tuple(change(part) for change, part in zip(maps, parts, strict=True)) if maps else parts

    return draw


def of_gaussian(correlation: np.ndarray, d_x: int) -> float:
    """Mutual information of the first `d_x` columns and the others."""
    logs = [np.linalg.slogdet(each)[1] for each in (correlation[:d_x, :d_x], correlation[d_x:, d_x:])]
    return 0.5 * (sum(logs) - np.linalg.slogdet(correlation)[1])


def pairs(d: int, *correlations: float) -> np.ndarray:
    """Correlation matrix of d columns of X and d of Y, the i-th pair of which has the i-th correlation."""
    correlation = np.eye(2 * d)
    for i, rho in enumerate(correlations):
        correlation[i, d + i] = correlation[d + i, i] = rho
    return correlation


def equal(d: int, rho: float) -> np.ndarray:
    """Correlation matrix of 2d columns, all pairs of which have the same correlation."""
    return np.full((2 * d, 2 * d), rho) + (1 - rho) * np.eye(2 * d)


def half_cube(x: np.ndarray) -> np.ndarray:
    """Heavier tails."""
    return np.abs(x) ** 1.5 * np.sign(x)


def wiggly(x: np.ndarray) -> np.ndarray:
    """An increasing function with a slope that varies by a factor of ten."""
    return x + 0.4 * np.sin(2 * x)


def spiral(x: np.ndarray) -> np.ndarray:
    """The first two columns rotated by an angle equal to their distance from the origin."""
    angle = np.linalg.norm(x[:, :2], axis=1)
    turned = x.copy()
    turned[:, 0] = np.cos(angle) * x[:, 0] - np.sin(angle) * x[:, 1]
    turned[:, 1] = np.sin(angle) * x[:, 0] + np.cos(angle) * x[:, 1]
    return turned


def _gaussian_tasks() -> list[Task]:
    tasks = []
    for name, correlation in {
        **{f"1+1, ρ {rho}": pairs(1, rho) for rho in (0.0, 0.3, 0.6, 0.9)},
        **{f"{d}+{d}, two pairs of ρ 0.8": pairs(d, 0.8, 0.8) for d in (2, 3, 5, 10, 25)},
        **{f"{d}+{d}, all ρ 0.5": equal(d, 0.5) for d in (2, 5, 25)},
    }.items():
        d = len(correlation) // 2
        of = of_gaussian(correlation, d)
        tasks.append(Task("Gaussian", f"Gaussian {name}", of, gaussian(correlation, d)))
    one, three, five = pairs(1, 0.75), pairs(3, 0.8, 0.8), pairs(5, 0.8, 0.8)
    for name, correlation, maps in (
        ("uniform marginals", one, (ndtr, ndtr)),
        ("half-cube", one, (half_cube, half_cube)),
        ("exponential", one, (np.exp, half_cube)),
        ("wiggly", one, (wiggly, wiggly)),
        ("uniform marginals 3+3", three, (ndtr, ndtr)),
        ("half-cube 3+3", three, (half_cube, half_cube)),
        ("half-cube 5+5", five, (half_cube, half_cube)),
    ):
        d = len(correlation) // 2
        tasks.append(
            Task("monotonic maps", name, of_gaussian(correlation, d), gaussian(correlation, d, *maps))
        )
    for d, correlation in ((2, pairs(2, 0.8, 0.8)), (3, three), (5, five)):
        of = of_gaussian(correlation, d)
        tasks.append(Task("spirals", f"spiral {d}+{d}", of, gaussian(correlation, d, spiral, spiral)))
    return tasks


# --- Student ----------------------------------------------------------------------------------------------


def student(d: int, freedom: int, correlation: np.ndarray, change=None) -> Draw:
    """Student's t of d + d columns; X and Y mapped."""
    root = np.linalg.cholesky(correlation)

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        rows = rng.standard_normal((n_samples, 2 * d)) @ root.T
        rows *= np.sqrt(freedom / rng.chisquare(freedom, (n_samples, 1)))
        rows = rows if change is None else change(rows)
        return rows[:, :d], rows[:, d:]

    return draw


def of_student(d: int, freedom: int, correlation: np.ndarray) -> float:
    """Mutual information of the Gaussian, plus that of the common scale."""

    def entropy(k: int) -> float:
        half, both = freedom / 2, (freedom + k) / 2
        return gammaln(half) - gammaln(both) + both * (digamma(both) - digamma(half))

    return of_gaussian(correlation, d) + float(2 * entropy(d) - entropy(2 * d))


def _student_tasks() -> list[Task]:
    tasks = []
    for d, freedom, correlation, change in (
        (1, 1, np.eye(2), None),
        (1, 3, pairs(1, 0.6), None),
        (2, 2, np.eye(4), None),
        (2, 3, pairs(2, 0.8, 0.8), None),
        (5, 3, np.eye(10), None),
        (1, 1, np.eye(2), np.arcsinh),
        (2, 2, np.eye(4), np.arcsinh),
        (5, 3, np.eye(10), np.arcsinh),
    ):
        name = f"t, {freedom} degrees, {d}+{d}" + (", asinh" if change else "")
        kind = "Student, asinh" if change else "Student"
        draw = student(d, freedom, correlation, change)
        tasks.append(Task(kind, name, of_student(d, freedom, correlation), draw))
    return tasks


# --- noise and mixtures -----------------------------------------------------------------------------------


def uniform_noise(width: float) -> Draw:
    """X is uniform on [0, 1], and Y is X plus uniform noise on ±width."""

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        x = rng.uniform(size=(n_samples, 1))
        return x, x + rng.uniform(-width, width, size=(n_samples, 1))

    return draw


def of_uniform_noise(width: float) -> float:
    """Entropy of Y, whose density is a trapezium, minus that of the noise."""
    return width - math.log(2 * width) if width <= 0.5 else 1 / (4 * width)


def gaussian_noise(deviation: float) -> Task:
    """Y is X plus Gaussian noise."""
    rho = 1 / math.sqrt(1 + deviation**2)
    return Task("strong", f"noise of {deviation:g}", -0.5 * math.log1p(-(rho**2)), gaussian(pairs(1, rho), 1))


def mixture(means: np.ndarray, correlations: np.ndarray, deviation: float) -> tuple[float, Draw]:
    """Equally weighted Gaussians in the plane, with their mutual information by integration on a grid."""

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        part = rng.integers(len(means), size=n_samples)
        x, noise = rng.standard_normal((2, n_samples))
        rho = correlations[part]
        y = rho * x + np.sqrt(1 - rho**2) * noise
        return means[part, :1] + deviation * x[:, None], means[part, 1:] + deviation * y[:, None]

    grid = np.linspace(np.min(means) - 8 * deviation, np.max(means) + 8 * deviation, 1201)
    step = grid[1] - grid[0]
    density = np.zeros((grid.size, grid.size))
    for (mean_x, mean_y), rho in zip(means, correlations, strict=True):
        a, b = (grid[:, None] - mean_x) / deviation, (grid[None] - mean_y) / deviation
        log_density = -(a * a - 2 * rho * a * b + b * b) / (2 * (1 - rho**2))
        density += np.exp(log_density) / (2 * np.pi * deviation**2 * math.sqrt(1 - rho**2) * len(means))
    marginals = density.sum(axis=1) * step, density.sum(axis=0) * step
    entropies = [entr(each).sum() * step for each in marginals]
    return float(sum(entropies) - entr(density).sum() * step**2), draw


def _noise_and_mixture_tasks() -> list[Task]:
    tasks = [
        Task("uniform noise", f"uniform, noise of {width:g}", of_uniform_noise(width), uniform_noise(width))
        for width in (0.1, 0.3, 0.75)
    ]
    tasks += [gaussian_noise(deviation) for deviation in (0.03, 0.003, 0.0003)]
    tasks.append(Task("strong", "uniform, noise of 0.003", of_uniform_noise(0.003), uniform_noise(0.003)))
    for name, means, correlations, deviation in (
        ("two groups", [[-1.5, -1.5], [1.5, 1.5]], [0.6, 0.6], 1.0),
        ("cross", [[0, 0], [0, 0]], [0.9, -0.9], 1.0),
        ("four groups on a circle", [[1, 0], [-1, 0], [0, 1], [0, -1]], [0.0] * 4, 0.25),
    ):
        of, draw = mixture(np.array(means, dtype=float), np.array(correlations), deviation)
        tasks.append(Task("mixtures", name, of, draw))
    return tasks


# --- classes, mixed and discrete variables ----------------------------------------------------------------


def classes(means: np.ndarray, d: int) -> Task:
    """Equally likely classes, Gaussian with different means in the first of d columns."""

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        y = rng.integers(len(means), size=n_samples)
        x = rng.standard_normal((n_samples, d))
        x[:, 0] += means[y]
        return x, y

    ends = means.min() - 9, means.max() + 9
    entropy = quad(lambda x: entr(norm.pdf(x - means).mean()), *ends, limit=400, epsabs=1e-10)[0]
    of = entropy - 0.5 * math.log(2 * math.pi * math.e)
    return Task("classes", f"{len(means)} classes, {d} columns", of, draw)


def steps(m: int) -> Task:
    """A class c and a number uniform on [c, c + 2]: an example of Gao et al. (2017)."""

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        y = rng.integers(m, size=n_samples)
        return (y + rng.uniform(0, 2, size=n_samples))[:, None], y

    return Task("classes", f"{m} overlapping steps", math.log(m) - (m - 1) * math.log(2) / m, draw)


def half_discrete(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
    """One half Gaussian with correlation 0.9, the other signs that agree with probability 0.9."""
    x, noise = rng.standard_normal((2, n_samples))
    y = 0.9 * x + math.sqrt(1 - 0.81) * noise
    sign = rng.choice([-1.0, 1.0], n_samples)
    other = np.where(rng.uniform(size=n_samples) < 0.9, sign, -sign)
    discrete = rng.uniform(size=n_samples) < 0.5
    return np.where(discrete, sign, x)[:, None], np.where(discrete, other, y)[:, None]


def inflated_poisson(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
    """An exponential rate and its Poisson count, which is replaced by 0 with probability 0.15."""
    x = rng.exponential(size=n_samples)
    y = np.where(rng.uniform(size=n_samples) < 0.15, 0, rng.poisson(x))
    return x[:, None], y[:, None].astype(float)


def of_inflated_poisson() -> float:
    """Entropy of the zero-inflated geometric count minus its conditional entropy, an integral over rates."""
    lost, k = 0.15, np.arange(200)

    def entropy_given(rate: float) -> float:
        chance = (1 - lost) * np.exp(k * math.log(rate) - rate - gammaln(k + 1))
        chance[0] += lost
        return float(entr(chance).sum()) * math.exp(-rate)

    chance = (1 - lost) * 0.5 ** (k + 1)
    chance[0] += lost
    return float(entr(chance).sum()) - quad(entropy_given, 0, 60, limit=400, epsabs=1e-10)[0]


def table(name: str, P: np.ndarray) -> Task:
    """Two discrete variables with given joint probabilities."""

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        cell = rng.choice(P.size, size=n_samples, p=P.ravel())
        return np.divmod(cell, P.shape[1])

    return Task("discrete", name, mutual_information(P, base=math.e), draw)


def _discrete_tasks() -> list[Task]:
    rng = np.random.default_rng(0)
    of_signs = math.log(2) - float(entr([0.1, 0.9]).sum())
    diagonal = 0.8 * np.eye(10) / 10 + 0.2 / 100
    return [
        classes(np.array([0.0, 1.0]), 1),
        classes(np.array([0.0, 2.0, 4.0]), 1),
        classes(np.array([0.0, 2.0, 4.0]), 5),
        steps(5),
        Task(
            "mixed",
            "half Gaussian, half signs",
            math.log(2) + 0.5 * (-0.5 * math.log(1 - 0.81)) + 0.5 * of_signs,
            half_discrete,
        ),
        Task("mixed", "inflated Poisson", of_inflated_poisson(), inflated_poisson),
        table("channel of two signs", np.array([[0.45, 0.05], [0.05, 0.45]])),
        table("ten values, noise", diagonal),
        table("independent, 10 × 10", np.full((10, 10), 0.01)),
        table("random, 20 × 20", rng.dirichlet(np.full(400, 0.3)).reshape(20, 20)),
        table("independent, 50 × 50", np.full((50, 50), 1 / 2500)),
    ]


# --- given a third variable -------------------------------------------------------------------------------


def conditional(name: str, d_z: int, coupling: float, change=None) -> Task:
    """X and Y depend on the sum of Z's columns; given Z, Y depends on X if `coupling` is not 0."""

    def draw(rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, ...]:
        z = rng.standard_normal((n_samples, d_z))
        common = z.sum(axis=1, keepdims=True) / math.sqrt(d_z)
        of_x, of_y = rng.standard_normal((2, n_samples, 1))
        found = common + of_x, common + coupling * of_x + of_y, z
        return found if change is None else tuple(change(each) for each in found)

    return Task("conditional", name, 0.5 * math.log1p(coupling**2), draw)


def _conditional_tasks() -> list[Task]:
    return [
        conditional("chain, one Z", 1, 0.0),
        conditional("chain, three Z", 3, 0.0),
        conditional("coupled, one Z", 1, 1.0),
        conditional("coupled, three Z", 3, 1.0),
        conditional("coupled, half-cube", 1, 1.0, half_cube),
    ]


def tasks() -> list[Task]:
    """All tasks."""
    return [
        *_gaussian_tasks(),
        *_student_tasks(),
        *_noise_and_mixture_tasks(),
        *_discrete_tasks(),
        *_conditional_tasks(),
    ]
