"""Scale a data set over all its rows."""

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
    targets=None,
    dtype: str = "float64",
) -> Dataset:
    """Scale the features of a data set to a precision `dtype`, and the target of a regression to `targets`.

    The methods: "minmax" scales each feature to `range` (a constant one becomes the lower bound), and
    "joint_minmax" all features by their common minimum and maximum, as for pixels; "maxabs" scales to at most
    1 in absolute value, "standard" to zero mean and unit variance. "maxabs" and "none" keep sparse data
    sparse. `DataError` is raised if large sparse data would become dense.
    """
    key = dataset.provenance.get("key", "data set")
    X = dataset.X if method in ZERO_STAYS_ZERO else _dense(key, dataset.X, method)
    scaled = _to_interval(X, *range) if method == JOINT else _by_feature(X, method, tuple(range))
    values = dataset.task == "regression" and targets is not None
    y = _to_interval(dataset.y, *targets) if values else dataset.y
    return replace(dataset, X=scaled.astype(dtype, copy=False), y=y)


def _by_feature(X, method: str, bounds: tuple[float, float]):
    if method == "minmax":
        # For values far from zero, scikit-learn's X * scale + offset misses the bounds by rounding.
        X = X - X.min(axis=0)
    scaled = SCALERS[method](bounds).fit_transform(X)
    return np.clip(scaled, *bounds) if method == "minmax" else scaled


def _to_interval(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Scale an array of any shape linearly by its minimum and maximum."""
    values = values - values.min()
    return np.clip(low + (high - low) * values / (values.max() or 1.0), low, high)


def _dense(key: str, X, method: str) -> np.ndarray:
    if not sparse.issparse(X):
        return X
    if np.prod(X.shape, dtype=float) > DENSE_LIMIT:
        size = f"{X.shape[0]} x {X.shape[1]}"
        raise DataError(f"{key}: {method} scaling would make the sparse {size} matrix dense; take 'maxabs'")
    return X.toarray()
