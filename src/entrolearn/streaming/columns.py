"""Select feature and target columns of data frames by name.

A frame is a data frame of pandas or polars, or a pyarrow table.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from entrolearn.suggest import did_you_mean

__all__ = ["cut", "features_of", "names_of", "numbers_only", "pick", "targets_of"]

#: Maximum number of names in an error message.
LISTED = 10


def names_of(frame) -> list:
    """The names of a frame's columns, in order."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def cut(frame, start: int, size: int):
    """Consecutive rows, as a view."""
    return frame.iloc[start : start + size] if hasattr(frame, "iloc") else frame.slice(start, size)


def features_of(frame, names: Sequence[str]):
    """Select columns, as a data frame that keeps their names, or as an array for pyarrow tables.

    pyarrow tables are converted because scikit-learn does not find the dtypes of their columns.
    """
    if hasattr(frame, "iloc"):
        return frame[list(names)]
    some = frame.select(list(names))
    return np.asarray(some) if hasattr(frame, "column_names") else some


def targets_of(frame, names: Sequence[str]) -> Any:
    """One or several columns as an array; None without names."""
    columns = [np.asarray(frame[name]) for name in names]
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def pick(names: Sequence, target, features, where: str) -> tuple[list, list]:
    """Determine the feature columns and the target columns.

    Parameters
    ----------
    names : sequence of str
        All columns.
    target : str, sequence of str or None
    features : sequence of str or None
        Default: all columns but the targets.
    where : str
        Name of the frame or file in error messages.

    Returns
    -------
    features, targets : list of str

    Raises
    ------
    ValueError
        If a column does not exist, no feature is left, or a target is also a feature.
    """
    targets = [] if target is None else [target] if isinstance(target, str) else list(target)
    if isinstance(features, str):
        features = [features]
    wanted = [name for name in names if name not in targets] if features is None else list(features)
    for what, asked in (("target", targets), ("features", wanted)):
        for name in asked:
            if name not in names:
                raise ValueError(
                    f"{what}={name!r} is not a column of {where}{did_you_mean(name, names)}; it has "
                    f"{listed(names)}."
                )
    if both := [name for name in targets if name in wanted]:
        raise ValueError(f"{both[0]!r} is the target and among the features; it can be one of them.")
    if not wanted:
        raise ValueError(f"{where} has no column for features; it has {listed(names)}.")
    return wanted, targets


def listed(names: Sequence) -> str:
    """The first names, and the number of the others."""
    names = [str(name) for name in names]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}" if names else "none"


def numbers_only(schema, features: Sequence[str]) -> None:
    """Raise if features are not numeric, according to a pyarrow schema.

    Raises
    ------
    ValueError
        With the names and types of the features.
    """
    from pyarrow import types  # pyarrow is installed if there is a schema

    accepted = (types.is_integer, types.is_floating, types.is_boolean)
    others = [name for name in features if not any(kind(schema.field(name).type) for kind in accepted)]
    if others:
        told = listed([f"{name} ({schema.field(name).type})" for name in others])
        raise ValueError(
            f"features are not numeric: {told}; accepted: integers, floats and booleans. Leave the others "
            "out with features=, or convert them to numbers."
        )
