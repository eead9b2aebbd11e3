"""`Table`: features and labels as read from the source; `entrolab.data.prepare` interprets the labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

__all__ = ["Table", "as_table", "label_name", "numbered", "stacked"]


@dataclass(frozen=True, eq=False)
class Table:
    """Features and labels as read from the source; groups, weights and splits as of a `Dataset`."""

    X: np.ndarray | sparse.csr_array  # float64; NaN where a value is missing
    labels: np.ndarray  # numbers or strings
    feature_names: list[str]
    rows: list[int]  # the number of rows of each file
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    splits: np.ndarray | None = None


def numbered(n_features: int) -> list[str]:
    """Names for unnamed features: x1, x2, …"""
    return [f"x{column + 1}" for column in range(n_features)]


def as_table(X, labels) -> Table:
    """A `Table` of numeric features with default names."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    labels = np.ravel(labels)
    if len(labels) != len(X):
        raise ValueError(f"{len(X)} rows of features but {len(labels)} labels")
    return Table(X, labels, numbered(X.shape[1]), [len(X)])


def stacked(tables: Sequence[Table]) -> Table:
    """The rows of several tables with the same features, concatenated."""
    return Table(
        np.concatenate([table.X for table in tables]),
        np.concatenate([table.labels for table in tables]),
        tables[0].feature_names,
        [len(table.X) for table in tables],
    )


def label_name(value) -> str:
    """The name of a class, from its label.

    Examples
    --------
    >>> label_name(1.0), label_name(" yes"), label_name(True)
    ('1', 'yes', 'True')
    """
    if isinstance(value, (float, np.floating)):  # LIBSVM files contain 1.0 for class 1
        return str(int(value)) if value % 1 == 0 and abs(value) <= 2**53 else f"{value:.15g}"
    return str(value).strip()
