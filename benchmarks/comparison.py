"""Every peer on a data set: seconds to fit and to predict, memory, GMEAN."""

import logging
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from benchmarks.data import Split
from benchmarks.measure import alone, spend
from benchmarks.peers import REFERENCE, Peer
from benchmarks.report import Section
from entrolab.fit.limits import LimitError, Limits
from entrolearn.metrics import gmean_score

logger = logging.getLogger(__name__)

MANY_ROWS, UNITS = 50_000, (250, 1000)  # training sets of so many rows get the larger layer
MEASURED = ("fit_seconds", "predict_seconds", "mib", "gmean")


def compare(name: str, split: Split, peers: Sequence[Peer], repetitions: int, limits: Limits) -> Section:
    """The table of one data set: a row for each peer."""
    rows, features = split.X_train.shape
    n_hidden = UNITS[rows >= MANY_ROWS]
    timings = pd.DataFrame(time_all(name, split, peers, n_hidden, repetitions, limits))
    positive = np.bincount(split.y_train)[1] / rows
    notes = [
        f"{rows:,} rows of {features} features to fit, {100 * positive:.2g} % of them positive, "
        f"{len(split.y_test):,} to predict; {n_hidden} hidden units, landmarks or random features. All weigh "
        "the classes alike, and all Gaussian kernels have SVC's default gamma.",
        f"Medians of {repetitions} repetitions in turn, each in a process of its own with at most "
        f"{limits.seconds:g} s and {limits.gib:g} GiB; ± is half the range. Processor seconds on one thread; "
        "memory beyond that of the data.",
    ]
    return Section(f"Peers on {name}", summary(timings), notes)


def time_all(
    name: str, split: Split, peers: Sequence[Peer], n_hidden: int, repetitions: int, limits: Limits
) -> Iterator[dict]:
    """Measure the peers in turn, again and again; one that has failed is not asked again.

    Yields
    ------
    dict
        ``peer``, ``repetition``, those of :data:`MEASURED` or NaN, and a ``note``: why it failed, or that it
        did not converge.
    """
    failed = set()
    for repetition in range(repetitions):
        for peer in peers:
            if peer.name in failed or peer.n_hidden == n_hidden:  # the latter would be another twice
                continue
            logger.info("%s, %d of %d: %s", name, repetition + 1, repetitions, peer.name)
            try:
                measured, note = _time_peer(peer, split, n_hidden, repetition, limits)
            except (LimitError, RuntimeError) as error:
                failed.add(peer.name)
                measured, note = dict.fromkeys(MEASURED, np.nan), str(error)
            yield {"peer": peer.name, "repetition": repetition, **measured, "note": note}


def _time_peer(peer: Peer, split: Split, n_hidden: int, seed: int, limits: Limits) -> tuple[dict, str]:
    if absence := peer.absence():
        raise RuntimeError(absence)
    gamma = 1 / (split.X_train.shape[1] * split.X_train.var())  # "scale" of SVC
    machine, small = (peer.build(h, gamma, seed) for h in (peer.n_hidden or n_hidden, 10))
    return alone(limits, time_one, machine, small, split, peer.dtype)


def time_one(machine: BaseEstimator, small: BaseEstimator, split: Split, dtype) -> tuple[dict, str]:
    """Fit and predict, after a small machine has brought in the code that both need."""
    X, X_test = split.X_train.astype(dtype, copy=False), split.X_test.astype(dtype, copy=False)
    few = np.concatenate([np.flatnonzero(split.y_train == label)[:50] for label in np.unique(split.y_train)])
    small.fit(X[few], split.y_train[few]).predict(X_test[:100])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        fitted = spend(lambda: machine.fit(X, split.y_train))
    predicted = spend(lambda: machine.predict(X_test))
    gmean = gmean_score(split.y_test, predicted.value)
    note = next((str(each.message) for each in caught), "")
    return dict(zip(MEASURED, (fitted.seconds, predicted.seconds, fitted.mib, gmean), strict=True)), note


def summary(timings: pd.DataFrame) -> pd.DataFrame:
    """Medians and spreads by peer, in the order of their first appearance, and ratios to the reference's.

    Parameters
    ----------
    timings : DataFrame
        Rows of :func:`time_all`.
    """
    by_peer = timings.groupby("peer", sort=False)
    median = by_peer[list(MEASURED)].median()
    fit = by_peer["fit_seconds"]
    table = pd.DataFrame(
        {
            "fit s": median["fit_seconds"],
            "±": (fit.max() - fit.min()) / 2,
            "× EEM": median["fit_seconds"] / median["fit_seconds"].get(REFERENCE, np.nan),
            "predict s": median["predict_seconds"],
            "peak MiB": median["mib"],
            "GMEAN %": 100 * median["gmean"],
        }
    )
    # One that failed in a later repetition has no median that could stand beside the others'.
    table[fit.count() < by_peer.size()] = np.nan
    return table.assign(note=by_peer["note"].max())
