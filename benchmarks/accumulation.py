"""Errors of single-precision sums of products over very many rows, by method of summation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from benchmarks.data import uniform
from benchmarks.measure import measured
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.readouts import DenseCovariance, entropy_discriminant

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
BLOCK = 2**10  # rows per BLAS call
LARGE_BLOCK = 2**14  # on an accelerator
CHUNK = 2**18  # rows that are drawn at once
TEST_ROWS = 10_000
RIDGE = 1e-3  # of each class covariance
COLUMNS = ("covariance error", "log odds error", "decisions that differ %")


@dataclass
class Plain:
    """A running sum in single precision."""

    total: np.ndarray | float = 0.0

    def add(self, product: np.ndarray) -> None:
        """Add the product of a block."""
        self.total = self.total + product


@dataclass
class Compensated:
    """Kahan's running sum in single precision, which adds each rounding error to the next summand."""

    total: np.ndarray | float = 0.0
    lost: np.ndarray | float = 0.0

    def add(self, product: np.ndarray) -> None:
        """Add the product of a block."""
        mended = product - self.lost
        longer = self.total + mended
        self.lost = (longer - self.total) - mended
        self.total = longer


@dataclass
class Pairwise:
    """Pairwise summation in single precision: each number is rounded log2(n) times."""

    waiting: list = field(default_factory=list)  # partial sums with their numbers of summands, decreasing

    def add(self, product: np.ndarray) -> None:
        """Add the product of a block."""
        self.waiting.append((1, product))
        while len(self.waiting) > 1 and self.waiting[-1][0] == self.waiting[-2][0]:
            (n, last), (_, before) = self.waiting.pop(), self.waiting.pop()
            self.waiting.append((2 * n, before + last))

    @property
    def total(self) -> np.ndarray:
        """The sum so far."""
        return sum((product for _, product in reversed(self.waiting)), np.float32(0))


class Double(Plain):
    """A running sum in double precision, as in the machines."""

    def add(self, product: np.ndarray) -> None:
        """Add the product of a block."""
        super().add(product.astype(np.float64))


@dataclass(frozen=True)
class Way:
    """How products are summed over blocks, the rows per block, and the precision of the products."""

    sums: Callable
    block: int = BLOCK
    rounded: Callable[[np.ndarray], np.ndarray] = lambda Z: Z


def in_tf32(X: np.ndarray) -> np.ndarray:
    """Single-precision numbers rounded to the precision of TensorFloat-32 (ten explicit bits)."""
    bits = X.view(np.uint32)
    return ((bits + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32)


WAYS: dict[str, Way] = {
    "single, plain": Way(Plain),
    "single, pairwise": Way(Pairwise),
    "single, compensated": Way(Compensated),
    "double over blocks": Way(Double),
    f"double over blocks of {LARGE_BLOCK}": Way(Double, LARGE_BLOCK),
    "double over blocks, TF32 products": Way(Double, BLOCK, in_tf32),
}


def accumulation(limits: Limits, sizes: Sequence[int] = SIZES, n_features=8, n_hidden=32) -> Section:
    """Errors of covariances and of log odds, by number of rows and method of summation."""
    rows = []
    for n_samples in sizes:
        found = measured(limits, WAYS, errors, n_samples, n_features, n_hidden)
        for way in WAYS:
            values = found[way] if isinstance(found[way], tuple) else (np.nan,) * len(COLUMNS)
            rows.append({"N": n_samples, "sums": way, **dict(zip(COLUMNS, values, strict=True))})
    notes = [
        f"{n_hidden} sigmoid units of {n_features} features, two classes, rows in single precision less a "
        f"pilot mean, multiplied {BLOCK} at a time where it says no other. Against sums in double precision "
        "of the same rows: the largest error of a class covariance over its largest entry, the largest error "
        f"of the log odds of {TEST_ROWS:,} other rows over the largest of these, and the decisions that are "
        "not the same."
    ]
    return Section("Accumulation of products", pd.DataFrame(rows).set_index(["N", "sums"]), notes)


def errors(n_samples: int, n_features: int, n_hidden: int) -> dict[str, tuple[float, float, float]]:
    """The three errors of each way."""
    layer = RandomLayer.draw(
        n_features, n_hidden, "sigmoid", np.random.RandomState(0), below_one=True, dtype=np.float32
    )
    shift = layer(uniform(256, n_features, np.float32, seed=1)[0]).mean(axis=0)
    true = [Double(), Double()]
    summed = {name: [way.sums(), way.sums()] for name, way in WAYS.items()}
    for c, Z in _rows_and_ones(layer, shift, n_samples, n_features):
        double = Z.astype(np.float64)
        true[c].add(double.T @ double)
        for name, way in WAYS.items():
            Y = way.rounded(Z)
            for start in range(0, len(Y), way.block):
                block = Y[start : start + way.block]
                summed[name][c].add(block.T @ block)
    test = layer(uniform(TEST_ROWS, n_features, np.float32, seed=2)[0]).astype(np.float64) - shift
    reference = _gaussians([each.total for each in true])
    expected = _log_odds(reference, test)
    return {
        name: _compare(reference, expected, _gaussians([each.total for each in sums]), test)
        for name, sums in summed.items()
    }


def _rows_and_ones(layer, shift, n_samples: int, n_features: int):
    """Yield classes with their hidden rows and a column of ones, in chunks; the product contains all sums."""
    for chunk, start in enumerate(range(0, n_samples, CHUNK)):
        X, y = uniform(min(CHUNK, n_samples - start), n_features, np.float32, seed=3 + chunk)
        for c in (0, 1):
            H = layer(X[y == c]) - shift
            yield c, np.hstack([H, np.ones((len(H), 1), np.float32)])


def _gaussians(products: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of the classes from the products of their rows and ones."""
    products = [np.asarray(product, dtype=np.float64) for product in products]
    means = np.array([product[-1, :-1] / product[-1, -1] for product in products])
    covariances = [
        product[:-1, :-1] / product[-1, -1] - np.outer(mean, mean)
        for product, mean in zip(products, means, strict=True)
    ]
    return means, np.array(covariances)


def _log_odds(gaussians: tuple[np.ndarray, np.ndarray], test: np.ndarray) -> np.ndarray:
    """The log odds of hidden rows by an entropy machine with these Gaussians."""
    means, covariances = gaussians
    ridge = RIDGE * np.trace(covariances[0]) / len(covariances[0]) * np.eye(len(covariances[0]))
    readout = entropy_discriminant(means, [DenseCovariance(each + ridge) for each in covariances])
    log_joint = readout.gaussians(np.array([0.5, 0.5])).log_joint(test @ readout.coef)
    return log_joint[:, 1] - log_joint[:, 0]


def _compare(reference, expected: np.ndarray, found, test: np.ndarray) -> tuple[float, float, float]:
    scale = np.abs(reference[1]).max(axis=(1, 2), keepdims=True)
    covariance = float((np.abs(found[1] - reference[1]) / scale).max())
    log_odds = _log_odds(found, test)
    error = float(np.abs(log_odds - expected).max() / np.abs(expected).max())
    return covariance, error, float(100 * np.mean((log_odds > 0) != (expected > 0)))
