"""Kernel densities in one and two dimensions: by interpolation, by all pairs, and by scikit-learn's trees."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.neighbors import KernelDensity

from benchmarks.measure import measured, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import KDEClassifier
from entrolearn.measures import kde_entropy, silverman_bandwidth

COLUMNS = ("binned s", "exact ×", "peer ×", "difference", "other labels")


def kernel_densities(limits: Limits, sizes: Sequence[int] = (2000, 20_000)) -> Section:
    """Seconds of an entropy and of a classifier's predictions, binned, and multiples of them."""
    rows = []
    for n in sizes:
        rows.append({"what": "kde_entropy", "N": n, "k": 1} | measured(limits, COLUMNS, entropy, n))
        for k in (1, 2):
            found = measured(limits, COLUMNS, classifier, n, k)
            rows.append({"what": "KDEClassifier", "N": n, "k": k} | found)
    table = pd.DataFrame(rows).set_index(["what", "N", "k"])
    notes = [
        "Processor seconds on one thread; × are multiples of ours. N rows of a Gaussian, or of two classes "
        "of as many training rows, one apart. Peer: scikit-learn's KernelDensity of the same width on a "
        "tree, its sums to one part in a million (rtol=1e-6), of the same rows.",
        "Difference: of the entropy, or the largest of any row's log odds, from that of all pairs.",
        *table.pop("note")[lambda notes: notes != ""],
    ]
    return Section("Kernel densities", table, notes)


def entropy(n: int) -> dict[str, float]:
    """Of one sample."""
    x = np.random.default_rng(0).normal(size=n)
    binned, exact = (spend(lambda m=m: kde_entropy(x, method=m)) for m in ("binned", "exact"))
    peer = spend(lambda: trees([x[:, None]], x[:, None]))
    return {
        "binned s": binned.seconds,
        "exact ×": exact.seconds / binned.seconds,
        "peer ×": peer.seconds / binned.seconds,
        "difference": abs(binned.value - exact.value),
        "other labels": math.nan,
    }


def classifier(n: int, k: int) -> dict[str, float]:
    """Of N rows, by two classes of N / 2 rows each."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X, Z = (rng.normal(size=(n, k)) + y[:, None] for _ in range(2))
    machines = [KDEClassifier(method=method).fit(X, y) for method in ("binned", "exact")]
    binned, exact = (spend(lambda m=machine: m.decision_function(Z)) for machine in machines)
    peer = spend(lambda: trees([X[y == c] for c in (0, 1)], Z))
    labels = [machine.predict(Z) for machine in machines]
    return {
        "binned s": binned.seconds,
        "exact ×": exact.seconds / binned.seconds,
        "peer ×": peer.seconds / binned.seconds,
        "difference": abs(binned.value - exact.value).max(),
        "other labels": np.count_nonzero(labels[0] != labels[1]),
    }


def trees(samples: Sequence[np.ndarray], Z: np.ndarray) -> list[np.ndarray]:
    """Log densities of the samples at Z, by scikit-learn."""
    return [
        KernelDensity(bandwidth=silverman_bandwidth(X[:, 0]), rtol=1e-6).fit(X).score_samples(Z)
        for X in samples
    ]
