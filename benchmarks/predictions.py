"""Predictions of one row, a hundred and many, compared with their arithmetic and scikit-learn's."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.sparse import random_array
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import EEKMClassifier, EEMClassifier, ELMClassifier, RKELMClassifier

MACHINES: dict[str, Callable[[int, int], BaseEstimator]] = {
    "EEM, rbf": lambda h, seed: EEMClassifier(h, random_state=seed),
    "EEM, sigmoid": lambda h, seed: EEMClassifier(h, activation="sigmoid", random_state=seed),
    "ELM": lambda h, seed: ELMClassifier(h, alpha=1e-3, random_state=seed),
    "EEKM": lambda h, seed: EEKMClassifier(h, random_state=seed),
    "RKELM": lambda h, seed: RKELMClassifier(h, random_state=seed),
}
PEERS: dict[str, Callable[[int, int], BaseEstimator]] = {
    "RBFSampler + RidgeClassifier": lambda h, seed: make_pipeline(
        RBFSampler(n_components=h, random_state=seed), RidgeClassifier()
    ),
    "MLPClassifier": lambda h, seed: MLPClassifier((h,), max_iter=1, random_state=seed),
}
SPARSE_PEERS = ("RBFSampler + RidgeClassifier",)  # a perceptron with 100,000 features takes too long to fit


def races(n_hidden=1000, dense=(2000, 784), sparse=(2000, 100_000), density=0.001) -> Iterator[Race]:
    """Labels of some rows, compared with a product with equally many weights and its exponential."""
    for shape, share, peers in ((dense, None, PEERS), (sparse, density, SPARSE_PEERS)):
        for n_rows in (1, 100, shape[0]):
            for name, build in MACHINES.items():
                ways = {name: partial(predicted, build, n_hidden, shape, share, n_rows)}
                ways["arithmetic"] = partial(arithmetic, n_hidden, shape, share, n_rows)
                if name == "EEM, rbf":
                    ways |= {
                        peer: partial(predicted, PEERS[peer], n_hidden, shape, share, n_rows)
                        for peer in peers
                    }
                rows = f"{n_rows:,} {'CSR ' if share else ''}row{'s' * (n_rows > 1)}"
                yield Race(f"{rows} of {shape[1]:,}: {name}", ways)


def drawn(shape: tuple[int, int], density: float | None, seed: int):
    """Random rows, dense or CSR."""
    X = random_array(shape, density=density or 1.0, format="csr", rng=np.random.default_rng(seed))
    return X if density else X.toarray()


def predicted(build: Callable, n_hidden: int, shape, density, n_rows: int, seed: int) -> Spent:
    """Labels of the first rows, after a fit to all."""
    X = drawn(shape, density, seed)
    machine = build(n_hidden, seed).fit(X, np.arange(shape[0]) % 2)
    machine.predict(X[:n_rows])
    return replace(spend(lambda: machine.predict(X[:n_rows])), value=None)


def arithmetic(n_hidden: int, shape, density, n_rows: int, seed: int) -> Spent:
    """The products of the first rows with equally many weights, and their exponentials."""
    X = drawn(shape, density, seed)
    weights = np.random.default_rng(seed).random((shape[1], n_hidden))
    return replace(spend(lambda: np.exp(X[:n_rows] @ weights)), value=None)
