"""Merge models that several sites fitted to their own rows, and the bounds of their features."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import check_array

from entrolearn.machines.additive import (
    Additive,
    check_additive,
    solve,
    stored_sums,
    with_sums,
)
from entrolearn.machines.boxes import RandomUnits, Survey
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.sums import GroupSums
from entrolearn.streaming.sampling import sample_of
from entrolearn.streaming.sources import rows
from entrolearn.validation import is_numpy

__all__ = ["bounds", "check_agreement", "check_sums", "merge", "merge_bounds", "terms"]

IN_BOX = RandomUnits("streaming.bounds", 1, "data", RandomLayer.draw)
# Parameters that do not change the sums, or whose effect is compared through the hidden units.
NOT_COMPARED = {"store_sums", "random_state", "bounds", "n_landmarks"}
# Relative difference of two projections of the same array that were computed on different computers.
ROUNDING = 1e-12
# Arguments by which activations that are callables are compared, and the number of landmarks for kernels.
ACTIVATED = np.linspace(-8, 8, 33)
N_COMPARED = 30
REMEDIES = {
    "bounds_": "agree on one box: streaming.bounds at each site, then streaming.merge_bounds",
    "_n_outputs": "give y of one shape to each",
    "_one_value": "give y of one shape to each",
    "units.weights": "draw them with the same random_state, a number",
    "units.biases": "draw them with the same random_state, a number",
    "units.landmarks": "give the same landmarks to each",
    "units.kernel": "give one kernel to each",
    "units.activation": "give one activation to each",
    "units.kernel_params": "give the width of the kernel as a number",
}


def bounds(X) -> np.ndarray:
    """The bounds of a site's features without outliers, as for ``bounds="data"``.

    Parameters
    ----------
    X : Rows, what :func:`rows` takes, or a list of rows, each a list of numbers
        Rows of the site; read once, chunk by chunk.

    Returns
    -------
    ndarray of shape (2, n_features)
        Lower and upper bounds.

    Raises
    ------
    ValueError
        If there are no rows, or a chunk has values that are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import streaming
    >>> streaming.bounds(np.array([[0.0, 5.0], [1.0, 7.0], [2.0, 6.0]]))
    array([[0., 5.],
           [2., 7.]])
    """
    if isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple) and X[0]:
        X = check_array(X) if isinstance(X[0][0], Real) else X  # other lists hold chunks
    source = rows(X)
    sample, survey = sample_of(source.n_rows, IN_BOX.n_sampled, IN_BOX.sampler()), None
    for chunk, _ in source:
        chunk = check_array(chunk, accept_sparse="csr", dtype=[np.float64, np.float32])
        sample.offer(chunk)
        of_chunk = Survey.of_chunk(chunk, IN_BOX)
        survey = of_chunk if survey is None else survey.merge(of_chunk)
    if survey is None:
        raise ValueError("there are no rows to take bounds of.")
    return np.asarray(survey.with_sample(*sample.rows()).box)


def merge_bounds(boxes: Iterable) -> np.ndarray:
    """The bounds of all sites together, to be used as ``bounds`` at each site.

    Parameters
    ----------
    boxes : iterable of array-like of shape (2, n_features)
        The result of :func:`bounds` at each site.

    Returns
    -------
    ndarray of shape (2, n_features)

    Raises
    ------
    ValueError
        If there are no boxes, their shapes differ, or bounds are not finite or low > high.

    Examples
    --------
    >>> from entrolearn import streaming
    >>> streaming.merge_bounds([[[0.0, 5.0], [2.0, 7.0]], [[-1.0, 6.0], [1.0, 6.5]]])
    array([[-1.,  5.],
           [ 2.,  7.]])
    """
    boxes = [_checked_box(i, box) for i, box in enumerate(boxes)]
    if not boxes:
        raise ValueError("there are no boxes to merge; accepted: one or more, each what bounds returned.")
    for i, box in enumerate(boxes):
        if box.shape != boxes[0].shape:
            raise ValueError(f"box {i} has shape {box.shape}; accepted: {boxes[0].shape}, as box 0 has.")
    return np.stack([np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)])


def _checked_box(i: int, box) -> np.ndarray:
    accepted = "accepted: (2, n_features) of finite numbers"
    try:
        box = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"box {i} is no array of numbers; {accepted}.") from None
    if box.ndim != 2 or len(box) != 2:
        raise ValueError(f"box {i} has shape {box.shape}; {accepted}.")
    if not np.isfinite(box).all() or (box[0] > box[1]).any():
        raise ValueError(f"box {i} holds no finite bounds, low <= high; {accepted}.")
    return box


def merge(estimators: Iterable):
    """Merge estimators that were fitted to disjoint sets of rows.

    Up to rounding, the result equals one fit to all rows with the same hidden units. It does not depend on
    the order of the estimators or on intermediate merges. Only the sums over rows of the estimators are used.

    Parameters
    ----------
    estimators : iterable of estimators
        One class, one set of parameters and the same hidden units: one `random_state` (a number) and one
        `bounds` (see :func:`merge_bounds`), or the same landmarks. Each has its sums: fitted with
        ``store_sums=True``, by ``partial_fit``, or from :func:`load_sums`. Their classes may differ. Or
        Dask's delayed estimators, which are merged where they are, a few at a time.

    Returns
    -------
    estimator : object
        A new estimator, which can be updated by ``partial_fit`` and merged again; the given estimators are
        not changed. A classifier has the classes of all estimators, and can predict if each class has a row.

    Raises
    ------
    TypeError
        If an estimator does not support sums.
    ValueError
        If an estimator has no sums, or differs from the first one; the message names the difference.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier, streaming
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> box = streaming.merge_bounds([streaming.bounds(X[::2]), streaming.bounds(X[1::2])])
    >>> sites = [
    ...     EEMClassifier(50, bounds=box, store_sums=True, random_state=0).fit(X[i::2], y[i::2])
    ...     for i in (0, 1)
    ... ]
    >>> together = EEMClassifier(50, bounds=box, random_state=0).fit(X, y)
    >>> gap = abs(streaming.merge(sites).decision_function(X) - together.decision_function(X))
    >>> bool(gap.max() < 1e-9)
    True
    """
    estimators = list(estimators)
    if not estimators:
        raise ValueError("there are no estimators to merge; accepted: one or more that have their sums.")
    if any(hasattr(each, "__dask_graph__") for each in estimators):
        from entrolearn.streaming.distributed import merge_delayed  # imports Dask

        return solve(merge_delayed(merge_sums, estimators))
    return solve(merge_sums(estimators))


def merge_sums(estimators: Sequence[Additive]) -> Additive:
    """A copy of the first estimator with the classes of all and the total sums, not solved."""
    for estimator in estimators:
        check_sums(estimator)
    first = terms(estimators[0])
    for i, estimator in enumerate(estimators[1:], 1):
        check_agreement(first, terms(estimator), f"estimator {i}")
    classes = None
    if is_classifier(estimators[0]):
        kinds = {estimator.classes_.dtype.kind in "biuf" for estimator in estimators}
        if len(kinds) > 1:
            raise ValueError("some estimators have numbers for classes and others words; accepted: one kind.")
        classes = reduce(np.union1d, [estimator.classes_ for estimator in estimators])
    total = GroupSums.total([estimator._sums_over(estimator._stream, classes) for estimator in estimators])
    return with_sums(estimators[0], total, classes)


# --- agreement: parameters, features and hidden units must be the same --------------------------------------


def check_sums(estimator) -> None:
    """Raise unless the estimator has sums to merge or write.

    Raises
    ------
    TypeError, ValueError
    """
    check_additive(estimator)
    stored_sums(estimator, "merge or save_sums")
    if not is_numpy(estimator._layer.where):
        raise ValueError(
            f"the sums of {type(estimator).__name__} are not NumPy arrays; accepted: NumPy arrays."
        )


def terms(estimator: Additive) -> dict:
    """Everything that must agree, by name, as JSON values.

    For an array these are its shape and a random projection, for a callable those of some of its values.
    """
    found: dict[str, Any] = {"estimator": type(estimator).__name__}
    for name, value in estimator.get_params(deep=False).items():
        if name not in NOT_COMPARED:
            found[name] = _plain(value)
    names = getattr(estimator, "feature_names_in_", None)
    found["n_features_in_"] = int(estimator.n_features_in_)
    found["feature_names_in_"] = None if names is None else [str(name) for name in names]
    for name in ("bounds_", "_n_outputs", "_one_value"):
        if hasattr(estimator, name):
            found[name] = _plain(getattr(estimator, name))
    layer = estimator._layer
    for field in fields(layer):
        value = getattr(layer, field.name)
        found[f"units.{field.name}"] = _projected(_values(layer)) if callable(value) else _plain(value)
    return found


def _values(layer):
    """Values by which callables are compared: an activation's on a grid, a kernel's of some landmarks."""
    if isinstance(layer, RandomLayer):
        return layer.activation(np.tile(ACTIVATED[:, np.newaxis], layer.n_units))
    return layer.units(layer.landmarks[:N_COMPARED])


def check_agreement(mine: dict, others: dict, where: str) -> None:
    """Raise if terms differ; `where` names the other estimator.

    Raises
    ------
    ValueError
        The message names the first difference.
    """
    for name in mine | others:
        value, other = mine.get(name), others.get(name)
        if name not in mine or name not in others or not _equal(value, other):
            found = f" has {name}={other!r}, and {value!r} in the first"
            if name == "_n_outputs":
                found = f": y has {other!r} outputs, and {value!r} in the first"
            elif name == "_one_value":
                found = f": y has {1 if other else 2} dimensions, and {1 if value else 2} in the first"
            elif isinstance(value, dict) or isinstance(other, dict):
                found = f" has another {name}"
            remedy = REMEDIES.get(name, "only sums of equal settings and hidden units add up")
            raise ValueError(f"{where}{found}; {remedy}.")


def _plain(value):
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {
            str(name): _plain(each) for name, each in sorted(value.items(), key=lambda pair: str(pair[0]))
        }
    if callable(value):
        return "a function"  # its values are compared instead
    if not issparse(value):
        kind, value = type(value).__name__, np.asarray(value)
        if value.ndim == 0 and value.dtype.kind == "O":  # a parameter of a kernel that is a callable
            return f"a {kind}"
        if value.ndim == 0 or value.dtype.kind not in "biuf":
            return value.tolist()
    return _projected(value)


def _projected(array) -> dict:
    """Shape of an array A, w'Av for random w and v, and the sum of the absolute terms of w'Av."""
    rng = np.random.RandomState(0)
    right, absolute = array, abs(array)
    for length in reversed(array.shape):
        weights = rng.standard_normal(length)
        right, absolute = right @ weights, absolute @ abs(weights)
    return {"shape": list(array.shape), "projection": float(right), "size": float(absolute)}


def _equal(mine, others) -> bool:
    if isinstance(mine, dict) and isinstance(others, dict):
        if mine.keys() != others.keys():
            return False
        if mine.keys() == {"shape", "projection", "size"} and mine["shape"] == others["shape"]:
            gap = abs(mine["projection"] - others["projection"])
            return bool(gap <= ROUNDING * (mine["size"] + others["size"]))
        return all(_equal(value, others[name]) for name, value in mine.items())
    return mine == others
