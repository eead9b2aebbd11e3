"""Effects of mixed precision on extreme entropy machines, on the dense data sets of the catalog."""

import logging
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.model_selection import train_test_split

from benchmarks.data import catalog, from_catalog
from benchmarks.measure import measured
from benchmarks.report import Section
from entrolab.data.dataset import DataUnavailable
from entrolab.fit.limits import Limits
from entrolearn import EEMClassifier

logger = logging.getLogger(__name__)

MAX_ROWS = 20_000
MAX_BYTES = 50_000_000  # maximum size of a data set's files
COLUMNS = ("rows", "features", "median error", "largest error", "other labels", "predicted", "computed in")


def precision(limits: Limits, sets: Iterable[str] | None = None, n_hidden=250, mirror=None) -> Section:
    """Errors of the log odds, and predictions that change, on unscaled features."""
    rows = []
    for name in classifications() if sets is None else sets:
        logger.info("%s", name)
        try:
            X, y = from_catalog(name, mirror)
        except DataUnavailable as absence:
            logger.info("%s: %s", name, absence)
            continue
        if not issparse(X):
            drawn = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
            rows.append({"data set": name} | measured(limits, COLUMNS, changed, X[drawn], y[drawn], n_hidden))
    table = pd.DataFrame(rows).set_index("data set")
    notes = [
        f'EEMClassifier({n_hidden}), precision="mixed" beside double precision: the same units, one half of '
        f"at most {MAX_ROWS:,} rows to fit and the other to predict, features as they come. Errors of the "
        "log odds are in nats (of more than two classes, of the differences from the first).",
        f"In all, {table['other labels'].sum():.0f} of {table['predicted'].sum():.0f} labels change, at most "
        f"{100 * (table['other labels'] / table['predicted']).max():.2g} % of a set's; the median over the "
        f"sets of the median error is {table['median error'].median():.2g}.",
    ]
    return Section("Mixed precision", table, notes)


def classifications() -> list[str]:
    """Classification data sets of the catalog, except those with files of large or unknown size."""
    return [
        name
        for name, entry in catalog().items()
        if entry["task"] != "regression"
        and sum(part.get("bytes", np.inf) for part in entry.get("files", ())) <= MAX_BYTES
    ]


def changed(X: np.ndarray, y: np.ndarray, n_hidden: int) -> dict:
    """The errors of one data set."""
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    double, mixed = (
        EEMClassifier(n_hidden, precision=precision, random_state=0).fit(X_train, y_train)
        for precision in ("input", "mixed")
    )
    error = np.abs(log_odds(mixed, X_test) - log_odds(double, X_test))
    return {
        "rows": len(y),
        "features": X.shape[1],
        "median error": float(np.median(error)),
        "largest error": float(error.max()),
        "other labels": int(np.count_nonzero(mixed.predict(X_test) != double.predict(X_test))),
        "predicted": len(X_test),
        "computed in": mixed.solver_info_["dtype"],
    }


def log_odds(machine: EEMClassifier, X: np.ndarray) -> np.ndarray:
    """Log odds of each row and each class except the first, against the first."""
    values = machine.decision_function(X)
    return values[:, None] if values.ndim == 1 else values[:, 1:] - values[:, :1]
