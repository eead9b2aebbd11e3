"""Scale a data set over all its rows, or over those of its training part."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, StandardScaler

from entrolab.data.dataset import DataError, Dataset

# Most scalings make sparse data dense; they are refused for more numbers than this (1.6 GB when dense).
DENSE_LIMIT = 2e8
SCALERS = {
    "minmax": lambda bounds: MinMaxScaler(feature_range=bounds),
    "maxabs": lambda bounds: MaxAbsScaler(),
    "standard": lambda bounds: StandardScaler(),
    "none": lambda bounds: FunctionTransformer(accept_sparse=True),
}
ZERO_STAYS_ZERO = {"maxabs", "none"}
# One scale for all features: pixels have the same unit, and those at the edges should stay dark.
JOINT = "joint_minmax"


def scale(
    dataset: Dataset,
    method: str = "minmax",
    range=(0, 1),
    fit_on: str = "all",
    targets=None,
    dtype: str = "float64",
) -> Dataset:
    """Scale the features of a data set to a precision `dtype`, and the target of a regression to `targets`.

    The methods: "minmax" scales each feature to `range` (a constant one becomes the lower bound), and
    "joint_minmax" all features by their common minimum and maximum, as for pixels; "maxabs" scales to at most
    1 in absolute value, "standard" to zero mean and unit variance. "maxabs" and "none" keep sparse data
    sparse. With `fit_on` "train", the scale is fitted without an official test part, whose values may then
    lie outside `range`; in cross-validation, use a scaler in the model's own pipeline instead. `DataError` is
    raised if there is no test part, or if large sparse data would become dense.
    """
    key = dataset.provenance.get("key", "data set")
    rows = np.ones(dataset.n_samples, bool) if fit_on == "all" else dataset.part == 0
    if fit_on == "train" and rows.all():
        raise DataError(
            f"{key}: fit_on 'train' needs a test part; accepted: 'all', or a scaler in the model's steps"
        )
    X = dataset.X if method in ZERO_STAYS_ZERO else _dense(key, dataset.X, method)
    scaled = _to_interval(X, rows, *range) if method == JOINT else _by_feature(X, rows, method, tuple(range))
    values = dataset.task == "regression" and targets is not None
    y = _to_interval(dataset.y, rows, *targets) if values else dataset.y
    return replace(dataset, X=scaled.astype(dtype, copy=False), y=y)


def _by_feature(X, rows: np.ndarray, method: str, bounds: tuple[float, float]):
    if method == "minmax":
        # For values far from zero, scikit-learn's X * scale + offset misses the bounds by rounding.
        X = X - X[rows].min(axis=0)
    scaled = SCALERS[method](bounds).fit(X[rows]).transform(X)
    if method == "minmax":
        scaled[rows] = np.clip(scaled[rows], *bounds)
    return scaled


def _to_interval(values: np.ndarray, rows: np.ndarray, low: float, high: float) -> np.ndarray:
    """Scale an array of any shape linearly by the minimum and the maximum of `rows`."""
    values = values - values[rows].min()
    return low + (high - low) * values / (values[rows].max() or 1.0)


def _dense(key: str, X, method: str) -> np.ndarray:
    if not sparse.issparse(X):
        return X
    if np.prod(X.shape, dtype=float) > DENSE_LIMIT:
        size = f"{X.shape[0]} x {X.shape[1]}"
        raise DataError(f"{key}: {method} scaling would make the sparse {size} matrix dense; take 'maxabs'")
    return X.toarray()
