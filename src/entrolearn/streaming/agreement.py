"""Comparison of estimators before their sums are added: parameters, features and hidden units must agree."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import issparse

from entrolearn.machines.additive import Additive, stored_sums
from entrolearn.machines.base import hidden_layer
from entrolearn.validation import is_numpy

__all__ = ["check_agreement", "check_learner", "check_sums", "terms"]

# Parameters that do not change the sums, or whose effect is compared through the hidden units.
NOT_COMPARED = {"keep_sums", "random_state", "feature_range", "landmarks", "n_landmarks"}
# Relative difference of two projections of the same array that were computed on different computers.
ROUNDING = 1e-12
REMEDIES = {
    "feature_range_": "agree on one box: streaming.bounds at each site, then streaming.merge_bounds",
    "_n_outputs": "give y of one shape to each",
    "_one_value": "give y of one shape to each",
    "units.weights": "draw them with the same random_state, a number",
    "units.biases": "draw them with the same random_state, a number",
    "units.landmarks": "give the same landmarks to each",
    "units.kernel_params": "give the width of the kernel as a number",
}


def check_learner(estimator) -> None:
    """Raise TypeError unless the estimator's fit is a sum over the rows.

    Raises
    ------
    TypeError
    """
    if not isinstance(estimator, Additive):
        raise TypeError(
            f"{type(estimator).__name__} has no sums over rows; accepted: EEMClassifier, EEKMClassifier, "
            "WELMClassifier, ELMClassifier, ELMRegressor, RKELMClassifier, RKELMRegressor."
        )


def check_sums(estimator) -> None:
    """Raise unless the estimator has sums to merge or write.

    Raises
    ------
    TypeError, ValueError
    """
    check_learner(estimator)
    stored_sums(estimator, "merge or save_sums")
    if not is_numpy(hidden_layer(estimator).where):
        raise ValueError(
            f"the sums of {type(estimator).__name__} are not NumPy arrays; accepted: NumPy arrays."
        )


def terms(estimator: Additive) -> dict:
    """Everything that must agree, by name, as JSON values; for an array its shape and a random projection."""
    found: dict[str, Any] = {"estimator": type(estimator).__name__}
    for name, value in estimator.get_params(deep=False).items():
        if name not in NOT_COMPARED:
            found[name] = _plain(value)
    names = getattr(estimator, "feature_names_in_", None)
    found["n_features_in_"] = int(estimator.n_features_in_)
    found["feature_names_in_"] = None if names is None else [str(name) for name in names]
    for name in ("feature_range_", "_n_outputs", "_one_value"):
        if hasattr(estimator, name):
            found[name] = _plain(getattr(estimator, name))
    layer = hidden_layer(estimator)
    for field in fields(layer):
        found[f"units.{field.name}"] = _plain(getattr(layer, field.name))
    return found


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
        return f"{value.__module__}.{value.__qualname__}"
    if not issparse(value):
        value = np.asarray(value)
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
