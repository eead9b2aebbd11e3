"""EEM's fit compared with the processor's rate of matrix products, and its memory with the hidden layer's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.data import uniform
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import EEMClassifier

PRODUCT_ORDER = 2000


def rate(n_samples=100_000, n_features=54, n_hidden=1000) -> Iterator[Race]:
    """A whole fit, and the time of its N h² + 2 N d h operations at the rate of a matrix product."""
    for name, dtype in (("double", np.float64), ("single", np.float32)):
        ways = {
            way: partial(work, n_samples, n_features, n_hidden, dtype)
            for way, work in (("EEM", fit), ("products (dgemm, sgemm)", products))
        }
        yield Race(f"fit, {n_samples:,} × {n_features}, {n_hidden} units, {name} precision", ways)


def fit(n_samples: int, n_features: int, n_hidden: int, dtype, seed: int) -> Spent:
    """Cost of a fit, after a small fit has loaded the code."""
    X, y = uniform(n_samples, n_features, dtype, seed=seed)
    EEMClassifier(10, random_state=0).fit(X[:100], y[:100])
    return replace(spend(lambda: EEMClassifier(n_hidden, random_state=seed).fit(X, y)), value=None)


def products(n_samples: int, n_features: int, n_hidden: int, dtype, seed: int) -> Spent:
    """Seconds of the operations of a fit at the rate of a product of two square matrices."""
    square = np.random.default_rng(seed).random((PRODUCT_ORDER, PRODUCT_ORDER), dtype=dtype)
    spent = spend(lambda: square @ square)
    operations = n_samples * n_hidden**2 + 2 * n_samples * n_features * n_hidden
    return Spent(spent.seconds * operations / (2 * PRODUCT_ORDER**3), np.nan, None)


def memory(
    sizes: Sequence[int] = (25_000, 50_000, 100_000, 200_000), n_features=54, n_hidden=1000
) -> Iterator[Race]:
    """Memory of a fit without its data, compared with that of the hidden layer in double precision."""
    for n_samples in sizes:
        for name, dtype in (("double", np.float64), ("single", np.float32)):
            yield Race(
                f"fit, {n_samples:,} × {n_features}, {n_hidden} units, {name} precision",
                {
                    "EEM": partial(fit, n_samples, n_features, n_hidden, dtype),
                    "the hidden layer, held whole": partial(layer, n_samples, n_hidden),
                },
                unit="MiB",
            )


def layer(n_samples: int, n_hidden: int, seed: int) -> Spent:
    """MiB of the hidden layer of all rows, computed rather than measured."""
    return Spent(np.nan, n_samples * n_hidden * 8 / 2**20, None)
