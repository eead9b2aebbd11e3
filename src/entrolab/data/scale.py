"""Scale a data set over all its rows, or those of its training part."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, StandardScaler

from entrolab.data.dataset import DataError, Dataset

__all__ = ["SCALERS", "scale"]

# Most scalings fill the zeros of sparse data; beyond this many numbers (1.6 GB when dense) they are refused.
DENSE_LIMIT = 2e8
SCALERS = {
    "minmax": lambda bounds: MinMaxScaler(feature_range=bounds),
    "maxabs": lambda bounds: MaxAbsScaler(),
    "standard": lambda bounds: StandardScaler(),
    "none": lambda bounds: FunctionTransformer(accept_sparse=True),
}
ZERO_STAYS_ZERO = {"maxabs", "none"}
# One scale for all features: pixels have the same unit, and those at the margin stay dark.
JOINT = "joint_minmax"


def scale(
    dataset: Dataset,
    method: str = "minmax",
    range=(0, 1),
    fit_on: str = "all",
    targets=None,
    dtype: str = "float64",
) -> Dataset:
    """Scale each feature, and the target of a regression, as a checked study asks.

    Parameters
    ----------
    dataset : Dataset
    method : {"minmax", "joint_minmax", "maxabs", "standard", "none"}
        To `range`; to `range` by the least and the largest value of all features, such as pixels; to at most
        1 in absolute value; to zero mean and unit variance; not at all. "maxabs" and "none" keep sparse data
        sparse.
    range : pair of float
        For "minmax", of which a constant feature becomes the lower bound, and "joint_minmax".
    fit_on : {"all", "train"}
        The rows that set the scale. "train" leaves out an official test part, whose values may then lie
        outside `range`; in cross-validation, a scaler in the model's own pipeline does that per fold.
    targets : pair of float, optional
        What the same rows' values of a regression are scaled to; a constant one becomes the lower bound.
    dtype : {"float64", "float32"}
        The precision of the scaled features, which learners may keep to: single takes half the memory.

    Raises
    ------
    DataError
        If "train" is asked of a data set without test part, or large sparse data would become dense.
    """
    key = dataset.provenance.get("key", "data set")
    rows = np.ones(dataset.n_samples, bool) if fit_on == "all" else dataset.part == 0
    if fit_on == "train" and rows.all():
        raise DataError(
            f"{key}: fit_on 'train' needs a test part; take 'all', or scale in the model's pipeline"
        )
    X = dataset.X if method in ZERO_STAYS_ZERO else _dense(key, dataset.X, method)
    scaled = _to_interval(X, rows, *range) if method == JOINT else _by_feature(X, rows, method, tuple(range))
    values = dataset.task == "regression" and targets is not None
    y = _to_interval(dataset.y, rows, *targets) if values else dataset.y
    return replace(dataset, X=scaled.astype(dtype, copy=False), y=y)


def _by_feature(X, rows: np.ndarray, method: str, bounds: tuple[float, float]):
    if method == "minmax":
        # Far from zero, scikit-learn's X * scale + offset loses the ends to rounding.
        X = X - X[rows].min(axis=0)
    scaled = SCALERS[method](bounds).fit(X[rows]).transform(X)
    if method == "minmax":
        scaled[rows] = np.clip(scaled[rows], *bounds)
    return scaled


def _to_interval(values: np.ndarray, rows: np.ndarray, low: float, high: float) -> np.ndarray:
    """Numbers of whatever shape, by the least and the largest of some rows."""
    values = values - values[rows].min()
    return low + (high - low) * values / (values[rows].max() or 1.0)


def _dense(key: str, X, method: str) -> np.ndarray:
    if not sparse.issparse(X):
        return X
    if np.prod(X.shape, dtype=float) > DENSE_LIMIT:
        size = f"{X.shape[0]} x {X.shape[1]}"
        raise DataError(f"{key}: {method} scaling would make the sparse {size} matrix dense; take 'maxabs'")
    return X.toarray()
