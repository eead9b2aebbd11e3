"""EEM's fit beside the machine's peak rate, and how its seconds and its memory grow with the data."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.data import uniform
from benchmarks.measure import Spent, alone, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import EEMClassifier

BASE = {"N": 20_000, "h": 500, "d": 54}  # what stays where the others vary
VARIED = {
    "N": (12_500, 25_000, 50_000, 100_000),
    "h": (250, 500, 1000, 2000),
    "d": (50, 200, 800, 3200),
}


def rate(limits: Limits, n_samples=100_000, n_features=54, n_hidden=1000, repetitions=3) -> Section:
    """The share of the rate of a matrix product (dgemm, sgemm) that a whole fit reaches."""
    rows = []
    for name, dtype in (("double", np.float64), ("single", np.float32)):
        X, y = uniform(n_samples, n_features, dtype)
        runs = [alone(limits, fit_and_product, X, y, n_hidden) for _ in range(repetitions)]
        fit, product = np.median(runs, axis=0)
        operations = n_samples * n_hidden**2 + 2 * n_samples * n_features * n_hidden
        fitting = operations / fit / 1e9
        rows.append(
            {
                "precision": name,
                "fit s": fit,
                "fit Gflop/s": fitting,
                "product Gflop/s": product,
                "share %": 100 * fitting / product,
            }
        )
    notes = [
        f"N = {n_samples:,}, d = {n_features}, h = {n_hidden}. A fit counts as N h² + 2 N d h operations; "
        "the product is of two matrices of order 2000."
    ]
    return Section("Share of the peak rate", pd.DataFrame(rows).set_index("precision"), notes)


def fit_and_product(X, y, n_hidden: int) -> tuple[float, float]:
    """Seconds of one fit; Gflop/s of a matrix product, the better of one before the fit and one after."""
    order = 2000
    square = np.random.default_rng(0).random((order, order), dtype=X.dtype)
    before = spend(lambda: square @ square)
    fit = spend(lambda: EEMClassifier(n_hidden, random_state=0).fit(X, y))
    after = spend(lambda: square @ square)
    return fit.seconds, 2 * order**3 / min(before.seconds, after.seconds) / 1e9


def growth(limits: Limits, base=BASE, varied=VARIED) -> Section:
    """Seconds of a fit while one of N, h and d varies."""
    rows = [{"varied": name, **base, name: size} for name, sizes in varied.items() for size in sizes]
    table = pd.DataFrame(rows)
    table["fit s"] = [alone(limits, one_fit, *uniform(row["N"], row["d"]), row["h"]).seconds for row in rows]
    by_varied = table.groupby("varied", sort=False)
    fitted = ", ".join(f"{name} {exponent(some):.2f}" for name, some in by_varied)
    last = ", ".join(f"{name} {exponent(some.tail(2)):.2f}" for name, some in by_varied)
    notes = [
        f"Exponents of the seconds, fitted: {fitted}; from the last step alone: {last}. Those of "
        "N h² + 2 N d h are 1 in N, below 2 in h and below 1 in d."
    ]
    return Section("Growth of the fit", table.set_index(["varied", *base]), notes)


def exponent(rows: pd.DataFrame) -> float:
    """The slope of the logarithm of the seconds against that of the size that varies, by least squares."""
    (name,) = rows["varied"].unique()
    slope, _ = np.polyfit(np.log(rows[name]), np.log(rows["fit s"]), 1)
    return float(slope)


def memory(
    limits: Limits, sizes: Sequence[int] = (25_000, 50_000, 100_000, 200_000), n_features=54, n_hidden=1000
) -> Section:
    """What a fit holds beside its data, as these grow."""
    rows = []
    for n_samples in sizes:
        row = {"N": n_samples, "X MiB": n_samples * n_features * 8 / 2**20}
        row["hidden layer MiB"] = n_samples * n_hidden * 8 / 2**20
        for name, dtype in (("fit MiB", np.float64), ("fit MiB, single precision", np.float32)):
            X, y = uniform(n_samples, n_features, dtype)
            row[name] = alone(limits, one_fit, X, y, n_hidden).mib
        rows.append(row)
    notes = [
        f"d = {n_features}, h = {n_hidden}. Peak memory of a fit beyond that of X and y; the hidden layer is "
        "what a learner would hold that computed it whole, in double precision."
    ]
    return Section("Memory", pd.DataFrame(rows).set_index("N"), notes)


def one_fit(X, y, n_hidden: int) -> Spent:
    """What one fit takes, after a small one has brought in the code."""
    EEMClassifier(10, random_state=0).fit(X[:100], y[:100])
    return replace(spend(lambda: EEMClassifier(n_hidden, random_state=0).fit(X, y)), value=None)
