"""Distributions of maximum entropy against closed forms: a die of a given mean, densities of given moments.

See Jaynes, Information theory and statistical mechanics (1957).
"""

import math

import numpy as np

from entrolearn.maxent import MaximumEntropyDistribution

FACES = np.arange(1, 7)
WIDE = 60  # scales of a density on each side, beyond which nothing of it is left in double precision


def measure(rows, at, *, means: list[float], scales: list[float]):
    """Compute the distributions; each has an entropy, the exact one and the difference, in nats.

    The rows are "die_4.5" (its mean), and by scale the densities of given mean and variance ("normal_1"),
    mean on the positive numbers ("exponential_1") and mean absolute value ("laplace_1").
    """
    found = {}
    for mean in means:
        die = MaximumEntropyDistribution.on_points(FACES, [lambda y: y], [mean])
        found[f"die_{mean:g}"] = die.entropy, entropy_of_die(mean)
    on_interval = MaximumEntropyDistribution.on_interval
    for scale in scales:
        ends = -WIDE * scale, WIDE * scale
        normal = on_interval(*ends, [lambda y: y, np.square], [0.0, scale**2])
        found[f"normal_{scale:g}"] = normal.entropy, 0.5 * math.log(2 * math.pi * math.e * scale**2)
        exponential = on_interval(0.0, ends[1], [lambda y: y], [scale])
        found[f"exponential_{scale:g}"] = exponential.entropy, 1 + math.log(scale)
        laplace = on_interval(*ends, [np.abs], [scale], breaks=(0.0,))
        found[f"laplace_{scale:g}"] = laplace.entropy, 1 + math.log(2 * scale)
    for place, (value, exact) in found.items():
        numbers = {"value": value, "exact": exact, "difference": abs(value - exact)}
        for metric, number in numbers.items():
            yield {"reading": place, "metric": metric, "value": float(number)}


def entropy_of_die(mean):
    """The largest entropy of a die of a given mean, p(k) ∝ x^k of a positive root x of a polynomial."""
    roots = np.roots((FACES - mean)[::-1])
    x = max(root.real for root in roots if abs(root.imag) < 1e-9 and root.real > 0)
    p = x**FACES / (x**FACES).sum()
    return float(-(p * np.log(p)).sum())
